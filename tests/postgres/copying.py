"""First rows of tables on their way into a log, without a capture around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.log.events import POSITION, SEQ
from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.sources.base import Report, SourceTable
from headwater.sources.postgres.catalog import find_table
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import config_of
from headwater.sources.postgres.connect import Address
from headwater.sources.postgres.first_rows import FirstRowsOf, read_first_rows
from tests.postgres.world import Database, World


@dataclass
class Copying:
    """First rows of tables on their way into a log."""

    pairs: list[Pair]
    address: Address
    log: LogWriter
    snapshot: str
    end_moment: Callable[[], None]
    """Ends the transaction that has exported the moment."""
    heard: Callable[[Report], None] = lambda report: None
    reports: list[Report] = field(default_factory=list)
    segments: dict[str, tuple[Segment, ...]] = field(default_factory=dict)

    def run(self) -> None:
        """Read all of them."""
        rows = FirstRowsOf(self.pairs, self.address, self.log, self._report)
        read_first_rows(rows, self.snapshot, position=77, finished=self._finished)

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """What came of a table; positions and the order of its numbers are checked."""
        files = [pq.ParquetFile(self.log.folder / part.file).read() for part in self.segments[table]]
        found = pa.concat_tables(files)
        numbers = found.column(SEQ).to_pylist()
        assert numbers == sorted(set(numbers)), "numbers grow from file to file"
        assert max(numbers, default=0) <= self.log.seq
        assert set(found.column(POSITION).to_pylist()) <= {77}
        names = next(pair for pair in self.pairs if pair.declared.name == table).declared.schema.names
        return list(zip(*(found.column(name).to_pylist() for name in names), strict=True))

    def _report(self, report: Report) -> None:
        self.reports.append(report)
        self.heard(report)

    def _finished(self, pair: Pair, segments: tuple[Segment, ...]) -> None:
        assert pair.declared.name not in self.segments, "a table is finished once"
        self.segments[pair.declared.name] = segments


@contextmanager
def copying(database: Database, world: World, *tables: SourceTable) -> Iterator[Copying]:
    """Tables, as of now."""
    config = config_of(tables, world.context, after=None)
    log = LogWriter(config.folder, notation="lsn")
    with database.client() as client, client.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT pg_export_snapshot()")
        name = cursor.fetchone()[0]
        pairs = [Pair(t, find_table(cursor, t.remote_schema, t.remote_table)) for t in config.tables]
        yield Copying(pairs, config.address, log, name, client.rollback)
    log.close()


def fill(database: Database, rows: int = 20_000) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int, word text)")
    database.run("INSERT INTO t SELECT i, mod(i, 7), 'w' || i FROM generate_series(1, %s) i", rows)


T = ("t", "id int, n int, word string", "id")
