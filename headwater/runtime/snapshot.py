"""What is true at one cut, for readers: they hold its files, and the wheel goes on turning.

Readers are in other threads than the pipeline. What they see is put in place all at once, after progress has it; the
files of it stay until the last of them is done, and nobody waits for anybody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.log.positions import Cut
from headwater.tables import held
from headwater.tables.state import State


@dataclass(frozen=True)
class Snapshot:
    """The States of all tables and views at the last batch that is durably done."""

    cut: Cut
    batch_id: int
    states: Mapping[str, State]
    waiting: Collection[str] = ()
    """The relations that are not whole yet: what their States have is no answer."""
    stopped: Mapping[str, HeadwaterError] = field(default_factory=dict)
    """The results that go on no more: what their States have was true at an earlier cut."""
    reached_at: float | None = None
    """When readers could first see this cut, in seconds since 1970; None if that was before the process began."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of all States."""
        return tuple(path for state in self.states.values() for path in state.paths)


class Snapshots:
    """The newest snapshot of a pipeline, and everyone who reads one."""

    def __init__(self, first: Snapshot) -> None:
        self._now = first
        self._lock = threading.Lock()

    def publish(self, snapshot: Snapshot) -> None:
        """From now on readers see this one; only then may files go that it does not name."""
        with self._lock:
            # Files that were merged are put in the place of others at the same cut: it is as old as it was.
            is_same = (snapshot.cut, snapshot.batch_id) == (self._now.cut, self._now.batch_id)
            self._now = replace(snapshot, reached_at=self._now.reached_at if is_same else time.time())

    @contextmanager
    def held(self) -> Iterator[Snapshot]:
        """The newest snapshot, whose files stay inside the block."""
        with self._lock:
            snapshot = self._now
            held.hold(snapshot.paths)
        try:
            yield snapshot
        finally:
            held.let_go(snapshot.paths)
