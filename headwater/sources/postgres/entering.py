"""Tables on their way into the log, with their first rows where these are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.sources.postgres.catalog import PARTITIONED
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureTable
from headwater.sources.postgres.connect import Address
from headwater.sources.postgres.count import Progress
from headwater.sources.postgres.earlier import Earlier
from headwater.sources.postgres.entered import logged_table
from headwater.sources.postgres.first_rows import FirstRowsOf, read_first_rows
from headwater.sources.postgres.labels import remember_labels
from headwater.sources.postgres.messages import logged_messages
from headwater.sources.postgres.options import INITIAL
from headwater.sources.postgres.partitions import remember_partitions


def put(log: LogWriter, pair: Pair, position: int | None, segments: Sequence[Segment]) -> None:
    """Take up a table with its first rows, and what has to be known of it later."""
    # Before the table itself: of one that is there and has none an older version would have read the rows.
    if pair.found.kind == PARTITIONED:
        remember_partitions(log, pair.declared.name, pair.found.partitions)
    remember_labels(log, pair.declared.name, pair.found.labels)
    log.put_snapshot(logged_table(pair, position), segments)


@dataclass
class Entering:
    """Tables that are taken up at a position."""

    log: LogWriter
    address: Address
    position: int
    progress: Progress
    entered: list[str] = field(default_factory=list)

    def copy(self, pairs: tuple[Pair, ...], snapshot: str, earlier: Earlier) -> None:
        """Copy the tables. What replaces a table of the log does so only after all of them came through."""
        known = self.log.manifest.tables()
        later: list[tuple[Pair, tuple[Segment, ...]]] = []

        def finished(pair: Pair, segments: tuple[Segment, ...]) -> None:
            if pair.declared.name in known:
                later.append((pair, segments))
            else:
                put(self.log, pair, self.position, segments)
                self.entered.append(pair.declared.name)

        wanted = [pair for pair in pairs if pair.declared.startup == INITIAL]
        for pair in pairs:
            if pair not in wanted:
                finished(pair, ())
        if wanted:
            rows = FirstRowsOf(wanted, self.address, self.log, self.progress, earlier)
            read_first_rows(rows, snapshot, position=self.position, finished=finished)
        for pair, segments in later:
            put(self.log, pair, self.position, segments)

    def enter(self, tables: tuple[CaptureTable, ...]) -> None:
        """Take up tables that have no first rows."""
        known = self.log.manifest.tables()
        for table in tables:
            self.log.put_snapshot(logged_messages(table, self.position), [])
            self.entered += [] if table.name in known else [table.name]

    def undo(self) -> None:
        """Forget the tables that were entered."""
        for name in self.entered:
            self.log.forget(name)
