"""The table behind CHANGES(t): what happened to each row of a relation.

Nobody delivers it: the run-time adds to it what it sees. To everyone else it is a table like others.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.schema import Schema
from headwater.sources.base import SourceType
from headwater.sources.silent import SilentSource, forget_nothing


@dataclass(frozen=True)
class HistoryOptions:
    """Whose history it is, and how much of it is kept."""

    relation: str = ""
    seconds: float | None = None
    """How long a change is kept after it was committed; for ever if None."""
    rows: int | None = None
    """How many changes are kept; all if None."""


HISTORY = SourceType(
    options=HistoryOptions,
    describe=lambda options: Schema(()),
    group=lambda options: "history",
    open=SilentSource,
    forget=forget_nothing,
    append_only=True,
)
