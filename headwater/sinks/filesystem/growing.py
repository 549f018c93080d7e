"""One text file that grows: a batch's lines are added when all of them are there, for `tail -f` to follow.

The note says how long the file is with the last batch; whatever a crash left behind that is cut off.
"""

from __future__ import annotations

import tempfile
from typing import IO

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.sinks.filesystem.disk import sync_folder, synced
from headwater.sinks.filesystem.layout import TextLayout
from headwater.sinks.filesystem.notes import Notes
from headwater.sinks.filesystem.rows import rows_of
from headwater.sinks.filesystem.target import Target

HELD_BYTES = 32 * 1024 * 1024
"""So much of a batch waits in memory until it is whole; more waits in a file without a name."""


class GrowingFile:
    """The file and its note."""

    def __init__(self, target: Target, notes: Notes) -> None:
        self._target, self._notes = target, notes
        self._path = target.path

    def begin(self) -> None:
        """Make an empty file."""
        self._notes.put(length=0)
        self._path.touch()
        sync_folder(self._path.parent)

    def recover(self) -> None:
        """Cut the file back to the last batch."""
        length = self._length()
        there = self._path.stat().st_size if self._path.exists() else -1
        if there < 0 and length == 0:
            self._path.touch()
        elif there < length:
            raise self._shorter(length)
        elif there > length:
            with self._path.open("r+b") as file:
                file.truncate(length)
                synced(file)

    def write(self, changes: ChangeSet, batch_id: int) -> None:
        """Add the lines of a batch, then note it."""
        layout = self._target.layout
        assert isinstance(layout, TextLayout)
        self.recover()
        length = self._length()
        with tempfile.SpooledTemporaryFile(HELD_BYTES, dir=str(self._path.parent)) as held:
            if length == 0:
                held.write(layout.first)
            for rows in rows_of(self._target, changes):
                held.write(layout.joined(rows))
            added = held.tell()
            held.seek(0)
            if added:
                self._add(held)
        self._notes.put(batch_id=batch_id, length=length + added)

    def _add(self, held: IO[bytes]) -> None:
        # Without a buffer, whose pieces `tail -f` would see one by one.
        with self._path.open("ab", buffering=0) as file:
            while block := held.read(HELD_BYTES):
                rest = memoryview(block)
                while rest:
                    rest = rest[file.write(rest) :]
            synced(file)

    def _length(self) -> int:
        return self._notes.now.length or 0

    def _shorter(self, length: int) -> SinkError:
        there = f"it has {self._path.stat().st_size}" if self._path.exists() else "it is gone"
        return SinkError(
            f"'{self._target.shown}' is shorter than this pipeline left it",
            detail=f"It had {length} bytes with batch {self._notes.now.batch_id}, and {there}.",
            hint=f"Bring the file back. Or remove the note {self._notes.shown} beside it too: then the file begins "
            "anew, with the next batch.",
            place=self._target.table.place,
        )
