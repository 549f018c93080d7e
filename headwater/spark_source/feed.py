"""The capture of one table and its log, in the one process in which Spark plans the batches of a query."""

from __future__ import annotations

from pathlib import Path

from headwater.errors import StateError
from headwater.log.manifest import FILE, Manifest
from headwater.log.positions import Position
from headwater.log.ranges import ANEW, LogRanges, Piece
from headwater.log.shards import logged_as
from headwater.schema import Schema
from headwater.spark_source.columns import ddl
from headwater.spark_source.declared import Declared

MARK = "read by spark"
"""Under this the log remembers what it is of."""

TOLD = "told to spark"
"""Under this it remembers how far the last query was told that there is something when it began."""

PIECE_ROWS = 100_000
"""About so many events are read by one task: a task costs more than a small file."""

WAIT_SECONDS = 0.2
"""How long Spark is kept waiting for something new; it would only ask again."""

CATCH_UP_SECONDS = 60.0
"""How long a query that begins waits for what is already committed."""

TIDY_CALLS = 1000
"""After so many questions with the same answer places without events are forgotten."""


class Feed:
    """See the module. The capture runs until `close`, or until this process ends."""

    def __init__(self, declared: Declared, schema: Schema, folder: Path) -> None:
        key = declared.type.resolving_key(declared.options)
        self._source = declared.open(Schema(schema.columns, key), folder)
        self._log = LogRanges(self._source.folder)
        self._told: int | None = None
        self._calls = 0
        try:
            self._check(declared, schema)
            trimmed = self._log.trimmed
            self._source.start(Position(trimmed, self._log.notation) if trimmed else None)
            self._log.manifest.remember(MARK, declared.mark)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """What tells the log from every other."""
        return self._log.name

    @property
    def notation(self) -> str:
        """How positions are written."""
        return self._log.notation

    def first(self) -> int:
        """Where a query begins that has read nothing."""
        if self._log.trimmed:
            raise StateError(
                "the log no longer has its beginning",
                detail=f"Another query read it, or this one with another checkpoint, up to"
                f" {self._log.shown(self._log.trimmed)}.",
                hint="Give each query a 'state' of its own. To read from the beginning, take an empty one.",
            )
        return 0

    def latest(self) -> int:
        """Where whole transactions end now; waits a moment if that is no news."""
        if self._told is None:
            self._catch_up()
            # A query that only wants what is there asks once: what an earlier one was told, this one has.
            self._log.check_whole(self._log.manifest.number(TOLD) or 0)
            self._told = self._log.end
            self._log.manifest.remember(TOLD, str(self._told))
            return self._told
        told = self._told
        self._log.check_whole(told)
        newer = self._source.until(lambda _: end if (end := self._log.end) > told else None, WAIT_SECONDS)
        self._calls += 1
        if self._calls % TIDY_CALLS == 0:
            self._log.tidy()
        self._told = newer or told
        return self._told

    def pieces(self, log: str, after: int, upto: int) -> list[Piece]:
        """The files between two places of the log of that name."""
        if log != self.name:
            raise StateError(
                "the checkpoint of the query belongs to another log",
                detail="The folder of option 'state' is new, or that of another query.",
                hint=ANEW,
            )
        return self._log.pieces(after, upto, rows=PIECE_ROWS)

    def commit(self, position: int) -> None:
        """Forget what Spark has done."""
        self._log.trim(position)

    def close(self) -> None:
        """Stop the capture; the log and what is at the server stay."""
        self._source.close()
        self._log.close()

    def _catch_up(self) -> None:
        """Wait for what is committed by now: a query that only wants this much asks once."""
        target = self._source.now().value
        self._source.until(lambda _: True if self._log.last >= target else None, CATCH_UP_SECONDS)

    def _check(self, declared: Declared, schema: Schema) -> None:
        """The log is of this table and has these columns, or is new."""
        known = self._log.manifest.recall(MARK)
        if known is not None and known != declared.mark:
            raise StateError(
                "the log in the folder of option 'state' is of another table",
                detail=f"It lies in {self._source.folder}.",
                hint="Give each table a 'state' of its own.",
            )
        logged = logged_as(self._log.manifest.tables(), declared.table)
        if logged is not None and logged.schema.columns != schema.columns:
            raise StateError(
                f"the log of table '{declared.table}' has other columns",
                detail="To read them differently would mean to read the table again.",
                hint=f"Leave the schema away, or give the one that the log has: {ddl(logged.schema)}.",
            )


def logged_columns(declared: Declared) -> Schema | None:
    """The columns that a table has in its log, if there is one: they stay, whatever the server adds."""
    if declared.state is None:
        return None
    folder = declared.open(Schema(()), declared.state).folder
    if not (folder / FILE).exists():
        return None
    manifest = Manifest(folder)
    try:
        if manifest.recall(MARK) != declared.mark:
            return None
        logged = logged_as(manifest.tables(), declared.table)
    finally:
        manifest.close()
    return None if logged is None else Schema(logged.schema.columns)
