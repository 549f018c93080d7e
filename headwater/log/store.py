"""The durable log of one source: one process appends, another reads and trims.

    writer = LogWriter(folder, notation="lsn")
    part = writer.write("orders", events)
    writer.append([part], first=100, last=100, committed_at=None)

    LogReader(folder).read(after=None, limit=1000)      # a Delivery

The order is what makes it durable: segment files and folder are forced to disk, then one transaction of the
manifest names them, and only then may the caller tell the server.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.errors import StateError
from headwater.fault_points import pass_by
from headwater.log.events import SEQ, SMALL_ROWS, Delivery, Events
from headwater.log.letters import DEAD_LETTERS, is_letters, letters_file, table_of
from headwater.log.losses import Loss
from headwater.log.manifest import Append, LoggedTable, Manifest, Part
from headwater.log.positions import Position
from headwater.log.segments import Segment, SegmentStream, sync, write_segment
from headwater.log.shards import declared_name
from headwater.storage.place import files_of, is_of_later_turn, own_mark

SNAPSHOT_ROWS = 500_000
LOCK_SECONDS = 2.0

_LETTERS = "letters "
"""Under this and the name of a table the manifest remembers that rows of it were put aside."""


class LogWriter:
    """The one who appends. A second writer on the same folder is refused."""

    def __init__(self, folder: Path, *, notation: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = self._folder = files_of(folder)
        self._lock = _lock(folder)
        try:
            self.manifest = Manifest(folder)
        except StateError:
            os.close(self._lock)
            raise
        self.manifest.remember("notation", notation)
        self._files = self.manifest.number("files") or 0
        self._mark = own_mark(folder)
        self.seq = self.manifest.number("seq") or 0
        """The last sequence number given to an event; whoever gives one out raises it."""
        self._remove_leftovers(folder)

    @property
    def last(self) -> int | None:
        """The position up to which the log is durable, None if nothing was appended yet."""
        return self.manifest.number("last")

    def write(self, table: str, events: pa.Table) -> Segment:
        """Write a part of an append that is not durable yet; `table` may be the name of a table's letters."""
        of, file = table_of(table), self._next_file()
        return write_segment(
            self._folder, file if of == table else letters_file(file), table=of, events=events
        )

    def has_letters(self, table: str) -> bool:
        """True if rows of a table were put aside since it was read."""
        return self.manifest.recall(_LETTERS + table) == "yes"

    def snapshot(self, table: str) -> SegmentStream:
        """A stream into which the first rows of a table go."""
        return SegmentStream(self._folder, self._next_stem(), table=table, rows_per_file=SNAPSHOT_ROWS)

    def stem(self) -> str:
        """A name for files that another process writes for us; even one that outlives us writes no file of our heir's."""
        return f"{self._next_stem()}-{token_hex(4)}"

    def put_snapshot(self, table: LoggedTable, segments: Sequence[Segment]) -> None:
        """Take up a table with its first rows; they become readable with the append that reaches them."""
        named = {segment.file for segment in segments}
        parts = [part for part in self.manifest.parts() if part.table == table.name]
        with self.manifest.transaction():
            self.manifest.drop_table(table.name)
            self.manifest.drop_parts(table.name)
            self.manifest.put_table(table)
            self.manifest.put_segments(segments, None)
            self.manifest.remember(_LETTERS + table.name, "")
            self._note_letters(segments)
            self._keep_counters()
        _unlink(self._folder, [s.file for part in parts for s in part.segments if s.file not in named])

    def put_part(self, part: Part) -> None:
        """Keep a part of a table's first rows; its segments are forced to disk already."""
        with self.manifest.transaction():
            self.manifest.put_part(part)
            self._keep_counters()

    def forget_parts(self, table: str) -> None:
        """Drop the parts of a table's first rows that are not whole."""
        files = [s.file for part in self.manifest.parts() if part.table == table for s in part.segments]
        with self.manifest.transaction():
            self.manifest.drop_parts(table)
        _unlink(self._folder, files)

    def forget(self, table: str) -> None:
        """Drop a table and what is unread of it."""
        with self.manifest.transaction():
            files = self.manifest.drop_table(table)
        _unlink(self._folder, files)

    def append(
        self,
        parts: Sequence[Segment],
        *,
        first: int,
        last: int,
        committed_at: float | None,
        facts: Mapping[str, str] | None = None,
        losses: Sequence[Loss] = (),
    ) -> bool:
        """Make whole transactions durable, and facts about them with it; False if the log has them already."""
        known = self.last
        if known is not None and last <= known:
            _unlink(self._folder, [part.file for part in parts])
            return False
        sync(self._folder, [part.file for part in parts])
        pass_by("log written")
        rows = sum(part.rows for part in parts)
        with self.manifest.transaction():
            entered = self.manifest.put_append(Append(0, first, last, rows, committed_at), time.time())
            self.manifest.put_segments(parts, entered)
            self.manifest.adopt(entered, last)
            self.manifest.put_losses(losses, last)
            self._note_letters(parts)
            for key, value in (facts or {}).items():
                self.manifest.remember(key, value)
            self._keep_counters()
        pass_by("log appended")
        return True

    def discard(self, parts: Sequence[Segment]) -> None:
        """Remove parts of an append that does not come."""
        _unlink(self._folder, [part.file for part in parts])

    def close(self) -> None:
        """Free the files and the lock."""
        self.manifest.close()
        os.close(self._lock)

    def _next_file(self) -> str:
        return f"{self._next_stem()}.parquet"

    def _next_stem(self) -> str:
        self._files += 1
        return f"{self._files:012d}{self._mark}"

    def _note_letters(self, segments: Sequence[Segment]) -> None:
        for table in {segment.table for segment in segments if is_letters(segment.file)}:
            self.manifest.remember(_LETTERS + table, "yes")

    def _keep_counters(self) -> None:
        self.manifest.remember("files", str(self._files))
        self.manifest.remember("seq", str(self.seq))

    def _remove_leftovers(self, desk: Path) -> None:
        """Remove files of appends and snapshots that never were completed."""
        named = self.manifest.files()
        found = [path.name for path in self._folder.glob("*.parquet") if path.name not in named]
        _unlink(self._folder, [name for name in found if not is_of_later_turn(desk, name)])


class LogReader:
    """The one who reads, and trims what is done."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = files_of(folder)
        self.manifest = Manifest(folder)
        self._turn = threading.Lock()

    @property
    def last(self) -> Position | None:
        """The position up to which the log is durable."""
        last = self.manifest.number("last")
        return None if last is None else self._position(last)

    def read(self, after: Position | None, limit: int, *, upto: Position | None = None) -> Delivery | None:
        """Whole appends after a position, about `limit` rows; None if there are none.

        With `upto` everything up to that position, whatever `limit` says, and None before the log is there.

        A delivery never ends between a reader's position and a table's snapshot: before that the table
        would seem to be empty. It ends before an append by which something is lost, so that all that was made from it is
        true up to there.
        """
        with self._turn:
            begin = -1 if after is None else after.value
            taken = self._taken(begin, limit, upto)
            return self._delivery(taken, begin) if taken else None

    def whole_at(self) -> Position:
        """The position from which on every table has its snapshot."""
        return self._position(self.manifest.snapshot_floor())

    def _taken(self, after: int, limit: int, upto: Position | None) -> list[Append]:
        floor = self.manifest.snapshot_floor() if upto is None else upto.value
        taken: list[Append] = []
        rows = 0
        losing = {position for position, _ in self.manifest.losses(after)}
        for append in self.manifest.appends_after(after):
            full = (
                rows + append.rows > limit or append.last in losing if upto is None else append.last > floor
            )
            if taken and full and taken[-1].last >= floor:
                break
            taken.append(append)
            rows += append.rows
        return taken if taken and taken[-1].last >= floor else []

    def _delivery(self, taken: Sequence[Append], after: int) -> Delivery:
        by_table: dict[str, list[Segment]] = {}
        for segment in self.manifest.segments_of(taken[0].id, taken[-1].id):
            name = DEAD_LETTERS if is_letters(segment.file) else declared_name(segment.table)
            by_table.setdefault(name, []).append(segment)
        tables = {name: self._events(segments) for name, segments in by_table.items()}
        end = taken[-1].last
        lost = tuple(
            replace(loss, table=declared_name(loss.table))
            for position, loss in self.manifest.losses(after)
            if position <= end
        )
        # What moves the position alone has no time of its own.
        times = [append.committed_at for append in taken if append.committed_at is not None]
        return Delivery(self._position(end), tables, times[-1] if times else None, losses=lost)

    def trim(self, position: Position) -> None:
        """Forget everything up to a position."""
        with self._turn:
            _unlink(self._folder, self.manifest.trim(position.value))

    def close(self) -> None:
        """Free the files."""
        with self._turn:
            self.manifest.close()

    def _events(self, segments: Sequence[Segment]) -> Events:
        count = sum(segment.rows for segment in segments)
        whole = all(segment.whole for segment in segments)
        paths = tuple(self._folder / segment.file for segment in segments)
        if count > SMALL_ROWS:
            return Events(count, files=paths, whole_rows=whole)
        read = [pq.ParquetFile(path).read() for path in paths]
        rows = pa.concat_tables(read, promote_options="default")
        if len({segment.table for segment in segments}) > 1:
            rows = rows.sort_by(SEQ)
        return Events(count, rows=rows.combine_chunks(), whole_rows=whole)

    def _position(self, value: int) -> Position:
        return Position(value, self.manifest.recall("notation") or "number")


def _lock(folder: Path) -> int:
    """Hold the log; a writer that is just dying gets a moment to go."""
    opened = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return opened
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(opened)
                raise StateError(
                    "the log is in use",
                    detail=f"Another process writes to {folder}.",
                    hint="Stop the other run of this pipeline, or give this one another state folder.",
                ) from None
            time.sleep(0.05)


def _unlink(folder: Path, files: Sequence[str]) -> None:
    for file in files:
        (folder / file).unlink(missing_ok=True)
