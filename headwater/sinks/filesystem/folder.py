"""A folder with one file a batch, `batch-000000000012.parquet`: each is whole as soon as it has its name."""

from __future__ import annotations

from typing import BinaryIO

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.sinks.filesystem.disk import put
from headwater.sinks.filesystem.layout import filling
from headwater.sinks.filesystem.notes import Notes
from headwater.sinks.filesystem.rows import rows_of
from headwater.sinks.filesystem.target import Target

ENDINGS = {"csv": ".csv", "json": ".json", "parquet": ".parquet", "raw": ".txt"}


class BatchFolder:
    """The folder and its note; files of others in it stay as they are."""

    def __init__(self, target: Target, notes: Notes) -> None:
        self._target, self._notes = target, notes
        self._path = target.path

    def begin(self) -> None:
        """Refuse a folder with batches of which nobody knows whose they are."""
        found = next(self._path.glob("batch-*"), None)
        if found is not None:
            raise SinkError(
                f"'{self._target.shown}' holds batches, and no note of who wrote them",
                detail=f"There is {found.name}, and no {self._notes.shown}.",
                hint="Name another folder, or remove these files.",
                place=self._target.table.place,
            )
        self._notes.put()

    def recover(self) -> None:
        """Remove files that a crash left half written."""
        for path in self._path.glob(".batch-*.tmp"):
            path.unlink()

    def write(self, changes: ChangeSet, batch_id: int) -> None:
        """Write the file of a batch, in place of one that a crash left without a note; then note the batch."""
        rows = rows_of(self._target, changes)
        first = next((batch for batch in rows if batch.num_rows), None)

        def fill(file: BinaryIO) -> None:
            assert first is not None
            with filling(self._target.layout, file) as writer:
                writer.write(first)
                for batch in rows:
                    writer.write(batch)

        if first is not None:
            name = f"batch-{batch_id:012d}{ENDINGS[self._target.table.options.format]}"
            put(self._path / name, fill, beside=self._path / f".{name}.tmp")
        self._notes.put(batch_id=batch_id)
