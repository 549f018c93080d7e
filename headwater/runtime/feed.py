"""The feed: the changes of the views in recent batches, kept beside the State for whoever follows them from outside.

A batch is written before progress has it and told only afterwards, so whoever was told of one finds it again after a
crash, and nobody hears of one that never was. What is kept is bounded; older batches are let go.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.errors import StateError
from headwater.log.positions import Cut
from headwater.runtime.feed_file import SUFFIX, Entry, entry_in, read_changes, write_entry
from headwater.runtime.step import Step
from headwater.tables import held
from headwater.tables.state import State, sync_folder

FOLDER = "feed"

MOST_BATCHES = 1_000
"""So many batches are kept at most."""

MOST_BYTES = 256 << 20
"""So much is kept at most; a batch that has more changes than this is not kept at all."""


class Gone(StateError):
    """The changes after a cut are not kept any more, or never were here."""


@dataclass(frozen=True)
class Told:
    """What one batch did to a view: begin with nothing if it is anew, then apply the changes."""

    batch_id: int
    mark: str
    """What to name to hear what comes after this batch."""
    is_anew: bool
    changes: ChangeSet | None
    """None if the batch did nothing to the view."""
    at: float | None = None
    """When the batch was done, in seconds since 1970."""


class Feed:
    """The feed of one pipeline: the wheel writes, any number of threads read."""

    def __init__(self, folder: Path, batch_id: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock = threading.Lock()
        self._last = batch_id
        self._entries = self._found()

    @property
    def last(self) -> int:
        """The last batch that is done."""
        return self._last

    def write(self, batch_id: int, cut: Cut, changes: Mapping[str, ChangeSet], anew: Collection[str]) -> None:
        """Keep a batch, of which nobody hears before `publish`."""
        if sum(map(_size, changes.values())) > MOST_BYTES:
            return
        entry = write_entry(self._folder, batch_id, _text(cut), changes=changes, anew=anew)
        sync_folder(self._folder)
        with self._lock:
            self._entries[batch_id] = entry

    def publish(self, batch_id: int) -> None:
        """A batch is durably done: from now on it is told, and what is too old or too much goes."""
        with self._lock:
            self._last = batch_id
            if batch_id not in self._entries:
                gone, self._entries = [*self._entries.values()], {}
            else:
                gone = self._trimmed()
        for entry in gone:
            _remove(entry)

    def mark(self, batch_id: int, cut: Cut) -> str:
        """What to name to hear what comes after a batch; the cut may have moved on since without a change."""
        with self._lock:
            entry = self._entries.get(batch_id)
        return f"{batch_id}@{entry.cut if entry is not None else _text(cut)}"

    def after(self, said: str) -> int:
        """The batch that a mark, or the text of a cut, names; raises Gone if what came after it is not kept."""
        said = said.replace(" ", ",")
        head, _, cut = said.rpartition("@")
        with self._lock:
            if head.isdecimal() and len(head) <= 18:
                batch_id = int(head)
            else:
                named = [entry.batch_id for entry in self._told() if entry.cut == said]
                batch_id = max(named, default=-1)
            kept = self._entries.get(batch_id)
        if batch_id < 0:
            raise _gone(f'no batch that is kept ends at the cut "{said}"')
        if batch_id > self._last:
            raise _gone(f"batch {batch_id} is not done here; the last one is {self._last}")
        if kept is not None and head and kept.cut != cut:
            raise _gone(f"batch {batch_id} ends at the cut {kept.cut} here, not at {cut}")
        self._check(batch_id)
        return batch_id

    @contextmanager
    def next(self, relation: str, after: int) -> Iterator[Told | None]:
        """The first batch after another and what it did to a view, readable inside the block; None if none is done."""
        if after >= self._last:
            yield None
            return
        self._check(after)
        with self._lock:
            entry = self._entries.get(after + 1)
            if entry is None:
                raise _gone(f"what came after batch {after} is not kept any more")
            held.hold(entry.paths)
        try:
            changes, is_anew = read_changes(entry, relation)
            mark = f"{entry.batch_id}@{entry.cut}"
            yield Told(entry.batch_id, mark, is_anew, changes, entry.written_at)
        finally:
            held.let_go(entry.paths)

    def _check(self, after: int) -> None:
        with self._lock:
            first = min(self._entries, default=self._last + 1)
        if after < first - 1:
            raise _gone(
                f"what came after batch {after} is not kept any more; kept is what came after {first - 1}"
            )

    def _told(self) -> list[Entry]:
        return [entry for entry in self._entries.values() if entry.batch_id <= self._last]

    def _trimmed(self) -> list[Entry]:
        """Take out what is too much, the oldest first."""
        gone = []
        total = sum(entry.bytes for entry in self._entries.values())
        for batch_id in sorted(self._entries):
            if len(self._entries) <= MOST_BATCHES and total <= MOST_BYTES:
                break
            gone.append(self._entries.pop(batch_id))
            total -= gone[-1].bytes
        return gone

    def _found(self) -> dict[int, Entry]:
        """The batches up to the last one that is done, as far back as none is missing; all other files go."""
        kept: dict[int, Entry] = {}
        batch_id = self._last
        while (path := self._folder / f"{batch_id:012d}{SUFFIX}").exists():
            entry = entry_in(path)
            if entry is None:
                break
            kept[batch_id] = entry
            batch_id -= 1
        named = {path for entry in kept.values() for path in entry.paths}
        for path in self._folder.iterdir():
            if path not in named:
                held.remove(path)
        return dict(sorted(kept.items()))


def changes_of_views(
    step: Step, fill: Collection[str], replaced: Mapping[str, State]
) -> tuple[dict[str, ChangeSet], set[str]]:
    """What a step did to each view that changed, and the views that begin anew with it: with all their rows.

    A view that is computed again goes on if its rows can be compared with those it had.
    """
    changes, anew = dict[str, ChangeSet](), set[str]()
    for name in (result.name for result in step.program.results.values() if result.kind == "view"):
        schema = step.program.views[name].schema
        before = replaced.get(name)
        if name in fill and (before is None or before.schema.columns != schema.columns):
            anew.add(name)
            changes[name] = step.changes.get(name, ChangeSet(name, schema))
            if before is not None and before.runs:
                now = step.new[name]
                changes[name] = ChangeSet(name, schema, (Files(now.paths, now.rows),) if now.runs else ())
        elif name in step.changes:
            changes[name] = step.changes[name]
    return changes, anew


def _gone(why: str) -> Gone:
    return Gone(
        "the changes after that cut are not kept here",
        detail=f"{why[0].upper()}{why[1:]}.",
        hint="Begin anew: ask without a cut, and take the rows there are first.",
    )


def _text(cut: Cut) -> str:
    """A cut without spaces, so that it can stand in an address."""
    return str(cut).replace(" ", ",")


def _size(changes: ChangeSet) -> int:
    """About how much of the disk it takes."""
    rows = sum(part.table.nbytes for part in changes.parts if isinstance(part, Rows))
    files = [path for part in changes.parts if isinstance(part, Files) for path in part.paths]
    return int(rows) + sum(path.stat().st_size for path in files)


def _remove(entry: Entry) -> None:
    for path in entry.paths:
        held.remove(path)
