"""A source that never says anything: its tables are filled by the run-time."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.log.events import Delivery
from headwater.log.positions import Position
from headwater.sources.base import SourceContext, SourceTable


class SilentSource:
    """See the module."""

    def __init__(self, tables: Sequence[SourceTable], context: SourceContext) -> None:
        """Nothing is opened."""

    def start(self, after: Position | None) -> Position | None:
        """There is nothing to wait for."""
        return None

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """Position 0, and then nothing ever."""
        return Delivery(Position(0), {}) if after is None else None

    def now(self) -> Position:
        """Always the same."""
        return Position(0)

    def commit(self, position: Position) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing is held."""


def forget_nothing(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Nothing was made anywhere."""
