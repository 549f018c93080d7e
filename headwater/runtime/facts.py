"""What happened, for everyone who looks on: terminal, console, notebook, metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from headwater.changes.change_set import ChangeSet
from headwater.log.positions import Cut
from headwater.sources.base import Report


@dataclass(frozen=True)
class BatchDone:
    """One batch, durably done: where it ends, what it changed, what each stop of the way cost in seconds."""

    batch_id: int
    cut: Cut
    rows_read: int
    changes: Mapping[str, ChangeSet]
    """The changes of every view, insert and live query that changed."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    committed_at: float | None = None
    """When the last transaction in it was committed at the source, in seconds since 1970."""
    done_at: float = 0.0
    moved: Mapping[str, int] = field(default_factory=dict)
    """How many rows came or went, by table and stored relation."""
    is_repeat: bool = False
    """True if it was begun before, and broke off after its end was written down."""

    @property
    def lag(self) -> float | None:
        """Seconds from the last commit at the source to this batch being visible."""
        return None if self.committed_at is None else max(0.0, self.done_at - self.committed_at)


class Silent:
    """Hears everything and says nothing."""

    def report(self, report: Report) -> None:
        """Nobody looks on."""

    def batch(self, done: BatchDone) -> None:
        """Nobody looks on."""


class Listener(Protocol):
    """Someone who looks on. Both calls must be quick: the wheel waits for them."""

    def report(self, report: Report) -> None:
        """Something that takes a while has come further."""

    def batch(self, done: BatchDone) -> None:
        """A batch is done."""
