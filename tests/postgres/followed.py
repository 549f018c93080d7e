"""What the tests of the Spark data source share: a reader over a table, and a query of which every batch is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tests.postgres.world import Database, wait_for

WAIT_SECONDS = 120.0


def options(database: Database, table: str, **more: str) -> dict[str, str]:
    """What a reader is told of a table."""
    return {
        "connector": "postgres-cdc",
        "hostname": "127.0.0.1",
        "port": str(database.port),
        "username": "postgres",
        "password": "postgres",
        "database-name": database.name,
        "table-name": table,
        **more,
    }


def reader(spark: SparkSession, database: Database, table: str, **more: str) -> DataFrame:
    """The stream of a table's changes."""
    return spark.readStream.format("headwater").options(**options(database, table, **more)).load()


def brief(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    """Changes as short tuples: what was done, the row before, the row after."""
    return [
        (
            row.op,
            None if row.before is None else tuple(row.before),
            None if row.after is None else tuple(row.after),
        )
        for row in rows
    ]


def holder(file: Path) -> tuple[int, int]:
    """The one process that has a file open, and its parent."""
    found = {
        int(link.parts[2])
        for link in Path("/proc").glob("[0-9]*/fd/*")
        if link.is_symlink() and _leads_to(link, file)
    }
    (pid,) = found
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return pid, int(fields[1])


def _leads_to(link: Path, file: Path) -> bool:
    # A process may end while it is looked at.
    try:
        return link.readlink() == file
    except OSError:
        return False


class Followed:
    """A query over a stream; what its batches hold, in order. A batch that is repeated must be as it was."""

    def __init__(self, frame: DataFrame, checkpoint: Path) -> None:
        self._frame, self._checkpoint = frame, checkpoint
        self._batches: dict[int, list[Row]] = {}
        self._query: StreamingQuery | None = None
        self.repeats = 0
        self.fails = False
        """Whether the sink breaks after it has seen a batch."""

    @property
    def batches(self) -> list[list[Row]]:
        """The batches in order, without those that hold nothing."""
        return [rows for _, rows in sorted(self._batches.items()) if rows]

    @property
    def rows(self) -> list[Row]:
        """All rows in order."""
        return [row for batch in self.batches for row in batch]

    def start(self) -> None:
        """Begin, or go on from the checkpoint."""
        self._query = self._begin()

    def run_available(self) -> None:
        """Take all there is, and end."""
        self._query = self._begin(availableNow=True)
        self.join()

    def join(self) -> None:
        """Wait for the end; what the query failed of is raised."""
        assert self._query is not None
        assert self._query.awaitTermination(int(WAIT_SECONDS))

    def wait(self, count: int) -> None:
        """Return when so many rows are there."""
        query = self._query
        assert query is not None

        def there() -> bool:
            if not query.isActive:
                query.awaitTermination()
            return len(self.rows) >= count

        wait_for(there, seconds=WAIT_SECONDS)

    def wait_for_commit(self) -> None:
        """Return when Spark has noted that it is done with every batch: before that it may give the last one again."""
        wait_for(
            lambda: (self._checkpoint / "commits" / str(max(self._batches))).exists(), seconds=WAIT_SECONDS
        )

    def stop(self) -> None:
        """End the query, if it runs."""
        if self._query is not None:
            self._query.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _begin(self, **trigger: Any) -> StreamingQuery:
        writer = self._frame.writeStream.foreachBatch(self._take)
        writer = writer.option("checkpointLocation", str(self._checkpoint))
        return (writer.trigger(**trigger) if trigger else writer).start()

    def _take(self, frame: DataFrame, batch: int) -> None:
        found = sorted(frame.collect(), key=lambda row: row.sequence)
        known = self._batches.setdefault(batch, found)
        self.repeats += known is not found
        assert known == found, f"batch {batch} was repeated and is another"
        if self.fails:
            raise OSError("the sink is broken")
