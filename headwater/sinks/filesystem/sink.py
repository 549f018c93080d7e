"""Connector 'filesystem': one table and one path for each sink, every batch written exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.by_key import by_table
from headwater.sinks.filesystem.disk import Patience, refused
from headwater.sinks.filesystem.folder import BatchFolder
from headwater.sinks.filesystem.growing import GrowingFile
from headwater.sinks.filesystem.notes import Notes
from headwater.sinks.filesystem.options import FilesystemOptions, group_of
from headwater.sinks.filesystem.snapshot import SnapshotFile
from headwater.sinks.filesystem.target import Target, target_of


class Keeper(Protocol):
    """What lies at the path; each call may be made again after one that failed."""

    def begin(self) -> None:
        """Make what is not there yet."""

    def recover(self) -> None:
        """Bring what is there back to the last batch that is noted, or on to one that is whole."""

    def write(self, changes: ChangeSet, batch_id: int) -> None:
        """Write a batch and note it."""


class FilesystemSink:
    """Writes each batch into its file, then notes that it is there."""

    def __init__(self, target: Target, keeper: Keeper, *, notes: Notes, patience: Patience) -> None:
        self._target, self._keeper, self._notes = target, keeper, notes
        self._patience = patience

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Write a batch; goes on by itself when a disk that was full has room again."""
        last = self.last_batch()
        if last is not None and batch_id <= last:
            return
        table = self._target.table
        found = by_table(changes).get(table.name, ChangeSet(table.name, table.schema))
        tried: list[int] = []

        def attempt() -> None:
            if tried:
                # A note that could not be brought to the disk whole may be there all the same.
                self._notes.take_up()
                self._notes.put()
            tried.append(batch_id)
            if self.last_batch() != batch_id:
                self._keeper.write(found, batch_id)

        try:
            self._notes.check_own()
            self._patience.until_room(attempt)
        except OSError as problem:
            raise refused(problem, table, self._target.shown) from problem

    def last_batch(self) -> int | None:
        """The last batch of this pipeline that the note names."""
        return self._notes.now.batch_id

    def close(self) -> None:
        """Nothing is held between two batches."""


def open_sink(tables: Sequence[SinkTable], context: SinkContext) -> FilesystemSink:
    """Check the path, make what is missing, and bring what is there back to the last whole batch."""
    first, *others = tables
    for other in others:
        raise SinkError(
            f"sink tables '{first.name}' and '{other.name}' have the same path",
            detail=f"'path' is '{first.options.path}'.",
            hint="Give each its own, or declare one table and INSERT INTO it several times.",
            place=other.place,
        )
    target = target_of(first)
    notes = Notes(target, context.pipeline)
    keeper = _keeper(target, notes)
    try:
        _check_kind(target)
        (target.path if target.is_folder else target.path.parent).mkdir(parents=True, exist_ok=True)
        if notes.take_up():
            keeper.recover()
        else:
            _check_new(target, notes)
            keeper.begin()
    except OSError as problem:
        raise refused(problem, first, target.shown) from problem
    return FilesystemSink(target, keeper, notes=notes, patience=Patience(target.shown, context.waits))


def _keeper(target: Target, notes: Notes) -> Keeper:
    if target.is_folder:
        return BatchFolder(target, notes)
    return SnapshotFile(target, notes) if target.mode == "snapshot" else GrowingFile(target, notes)


def _check_kind(target: Target) -> None:
    path = target.path
    fits = path.is_dir() if target.is_folder else path.is_file()
    if path.exists() and not fits:
        raise SinkError(
            f"'{target.shown}' of sink table '{target.table.name}' is not a {_kind(target)}",
            hint="Name another path" + (", or one without / at its end." if target.is_folder else "."),
            place=target.table.place,
        )


def _kind(target: Target) -> str:
    return "folder" if target.is_folder else "file"


def _check_new(target: Target, notes: Notes) -> None:
    """What somebody else wrote is neither lengthened nor replaced."""
    if not target.is_folder and target.path.exists() and target.path.stat().st_size:
        raise SinkError(
            f"'{target.shown}' is there already, and no note of who wrote it",
            detail=f"It has {target.path.stat().st_size} bytes, and there is no {notes.shown} beside it.",
            hint="Name another path, or move the file away.",
            place=target.table.place,
        )


def _check(table: SinkTable) -> None:
    options: FilesystemOptions = table.options
    # Whether the query only inserts is not known yet: what depends on it is checked when the sink is opened.
    chosen = options.mode or "append"
    target_of(replace(table, append_only=chosen == "append"))


FILESYSTEM = SinkType(
    options=FilesystemOptions,
    group=group_of,
    open=open_sink,
    check=_check,
    takes_back=lambda table: table.options.mode in ("snapshot", "changes"),
    empty="remove its file and the note beside it, .NAME.headwater, or its folder",
)
