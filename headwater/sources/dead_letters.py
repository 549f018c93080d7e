"""The table `headwater.dead_letters`: messages that could not be read, put aside by choice.

Nobody delivers it: the run-time adds what it could not decode. To everyone else it is a table like others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.log.events import Delivery
from headwater.log.positions import Position
from headwater.schema import Column, Schema
from headwater.sources.base import SourceContext, SourceTable, SourceType

TABLE = "headwater.dead_letters"

SCHEMA = Schema(
    (
        Column("table_name", "string"),
        Column("topic", "string"),
        Column("partition", "int"),
        Column("offset", "bigint"),
        Column("key", "binary"),
        Column("value", "binary"),
        Column("error", "string"),
    )
)


@dataclass(frozen=True)
class DeadLetterOptions:
    """It has none."""


class DeadLetterSource:
    """A source that never says anything."""

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


def _forget(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Nothing was made anywhere."""


DEAD_LETTERS = SourceType(
    options=DeadLetterOptions,
    describe=lambda options: SCHEMA,
    group=lambda options: "headwater",
    open=DeadLetterSource,
    forget=_forget,
    append_only=True,
)
