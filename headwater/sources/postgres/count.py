"""How far first rows are: rows, about how many there are, how fast they come, how long that will still take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headwater.log.segments import Segment
from headwater.log.shards import shown_name
from headwater.sources.base import Report
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.ranges import Plan, Range

Progress = Callable[[Report], None]
"""Hears how far the first rows of a table are."""

Finished = Callable[[Pair, tuple[Segment, ...]], None]
"""Hears of each table whose first rows are durable, and the segments they are in, in order."""


@dataclass
class _Counted:
    """How far one table is."""

    pair: Pair
    left: int
    """Ranges that are still to be read."""
    pages: int
    rows: int = 0
    kept: int = 0
    """Rows that were there before."""
    read_pages: int = 0
    read_rows: int = 0
    """The rows of ranges that were read to their end."""
    begun: float | None = None
    before: tuple[Segment, ...] = ()
    after: tuple[Segment, ...] = ()
    segments: dict[Range, tuple[Segment, ...]] = field(default_factory=dict)

    def report(self) -> Report:
        """Rows so far, about how many there are, how fast they come and how long that will still take."""
        total = self._total()
        spent = 0.0 if self.begun is None else time.monotonic() - self.begun
        rate = self.rows / spent if spent > 0 and self.rows else None
        left = None if rate is None or total is None else (total - self.kept - self.rows) / rate
        return Report(
            "snapshot", shown_name(self.pair.declared.name), self.kept + self.rows, total, rate, left
        )

    def ordered(self) -> tuple[Segment, ...]:
        """All segments, in the order of their rows' numbers."""
        ranges = sorted(self.segments, key=lambda part: part.seq)
        return (*self.before, *(one for part in ranges for one in self.segments[part]), *self.after)

    def _total(self) -> int | None:
        if not self.left:
            return self.kept + self.rows
        total = self.pair.found.estimate
        if self.read_rows and self.read_pages:
            # What was read tells more than what the server counted some day.
            total = self.kept + round(self.read_rows / self.read_pages * self.pages)
        return None if total is None else max(total, self.kept + self.rows)


class Count:
    """Counts rows, and hands over a table when its last range is read."""

    def __init__(self, pairs: Sequence[Pair], plan: Plan, progress: Progress, finished: Finished) -> None:
        self._progress, self._finished = progress, finished
        self._tables: dict[str, _Counted] = {}
        for pair in pairs:
            parts = [part for part in plan.ranges if part.table == pair.declared.name]
            self._tables[pair.declared.name] = _Counted(pair, len(parts), sum(part.pages for part in parts))

    def take(self, table: str, rows: int, before: tuple[Segment, ...], after: tuple[Segment, ...]) -> None:
        """So many rows were read before, and are in segments that stand before and after what is read now."""
        counted = self._tables[table]
        counted.kept, counted.before, counted.after = rows, before, after

    def begin(self) -> None:
        """Nothing is read yet; a table of which nothing is left to read is whole."""
        for table in self._tables.values():
            if not table.left:
                self._finished(table.pair, table.ordered())

    def began(self, part: Range) -> None:
        """Someone begins to read a range."""
        table = self._tables[part.table]
        if table.begun is None:
            table.begun = time.monotonic()
            self._progress(table.report())

    def wrote(self, part: Range, rows: int) -> None:
        """So many rows more of a range are written."""
        table = self._tables[part.table]
        table.rows += rows
        self._progress(table.report())

    def done(self, part: Range, segments: tuple[Segment, ...]) -> None:
        """A range is read, and its rows are durable."""
        table = self._tables[part.table]
        table.segments[part] = segments
        table.left -= 1
        table.read_pages += part.pages
        table.read_rows += sum(segment.rows for segment in segments)
        if not table.left:
            self._progress(table.report())
            self._finished(table.pair, table.ordered())
