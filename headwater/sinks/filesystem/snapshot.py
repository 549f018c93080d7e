"""One file that always holds exactly what is true: written anew for each batch and moved into its place.

1. The new file is written beside the old one.    a crash here: it is thrown away
2. The note says that it is coming.               a crash here: it is moved into its place
3. The new file takes the place of the old one.   a crash here: it is there, the note is mended
4. The note says that it is there.
"""

from __future__ import annotations

from pathlib import Path

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.sinks.filesystem.disk import put, sync_folder
from headwater.sinks.filesystem.notes import Coming, Notes
from headwater.sinks.filesystem.rewrite import Rewrite
from headwater.sinks.filesystem.target import Target


class SnapshotFile:
    """The file and its note."""

    def __init__(self, target: Target, notes: Notes) -> None:
        self._target, self._notes = target, notes
        self._path = target.path
        self._new = self._beside("new")

    def begin(self) -> None:
        """Make a file without rows."""
        self._notes.put()
        put(self._path, lambda file: self._target.layout.writer(file).end(), beside=self._new)
        self._notes.put(length=self._path.stat().st_size)

    def recover(self) -> None:
        """Finish a batch whose file is whole, and throw away what is not."""
        self._beside("pass-0").unlink(missing_ok=True)
        self._beside("pass-1").unlink(missing_ok=True)
        self._beside("added").unlink(missing_ok=True)
        now = self._notes.now
        if now.length is None:
            self.begin()
        elif now.coming is not None:
            self._move(now.coming)
        else:
            self._new.unlink(missing_ok=True)
        self._check_length()

    def write(self, changes: ChangeSet, batch_id: int) -> None:
        """Write the file as it is after the batch."""
        self.recover()
        if self._notes.now.batch_id is not None and batch_id <= self._notes.now.batch_id:
            return
        if changes.count == 0:
            self._notes.put(batch_id=batch_id)
            return
        Rewrite(self._target, self._path, beside=self._beside).write(changes, self._new)
        sync_folder(self._path.parent)
        coming = Coming(batch_id, self._new.stat().st_size)
        self._notes.put(coming=coming)
        self._move(coming)

    def _move(self, coming: Coming) -> None:
        # The new file was whole before the note named it: if it is not there, it has its name already.
        if self._new.exists():
            self._new.replace(self._path)
            sync_folder(self._path.parent)
        self._notes.put(batch_id=coming.batch_id, length=coming.length, coming=None)

    def _beside(self, what: str) -> Path:
        return self._path.with_name(f".{self._path.name}.headwater-{what}")

    def _check_length(self) -> None:
        there = self._path.stat().st_size if self._path.exists() else None
        if there == self._notes.now.length:
            return
        raise SinkError(
            f"'{self._target.shown}' is not as this pipeline left it",
            detail=f"It had {self._notes.now.length} bytes with batch {self._notes.now.batch_id}, and "
            + ("it is gone." if there is None else f"it has {there}."),
            hint="Bring the file back. Or remove it and its note, and start the pipeline anew: headwater drop.",
            place=self._target.table.place,
        )
