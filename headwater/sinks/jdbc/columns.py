"""The columns of a sink table found among those of the table at the server, or why they are not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from headwater.errors import SinkError
from headwater.nearest import nearest
from headwater.schema import Column
from headwater.sinks.base import SinkTable


class ColumnThere(Protocol):
    """A column at the server: its name, and its type in full."""

    @property
    def name(self) -> str:
        """Its name there."""

    @property
    def shown(self) -> str:
        """Its type for a message."""


C = TypeVar("C", bound=ColumnThere)


@dataclass(frozen=True)
class FoundColumn(Generic[C]):
    """A column as the server describes it, with what an insert must know."""

    column: C
    required: bool
    computed: bool


@dataclass(frozen=True)
class Types(Generic[C]):
    """What one server knows of types: which column takes a Spark type, and what a new column becomes."""

    server: str
    fits: Callable[[str, C], bool]
    made: Callable[[str], str]


def choose(
    table: SinkTable, there: str, *, columns: Sequence[FoundColumn[C]], types: Types[C]
) -> tuple[C, ...]:
    """The columns of the server's table in the order of the sink table's own; `there` is its name."""
    chosen = tuple(_column(table, there, declared, columns=columns, types=types) for declared in table.schema)
    for found in columns:
        if found.required and found.column not in chosen:
            raise SinkError(
                f"column '{found.column.name}' of table '{there}' must have a value and gets none",
                detail=f"It is NOT NULL without a default, and sink table '{table.name}' has no such column.",
                hint="Declare it in the sink table, give it a default, or make it nullable.",
                place=table.place,
            )
    return chosen


def _column(
    table: SinkTable, there: str, declared: Column, *, columns: Sequence[FoundColumn[C]], types: Types[C]
) -> C:
    name, kind = declared.name, declared.type
    same = [c for c in columns if c.column.name == name]
    match = same or [c for c in columns if c.column.name.lower() == name.lower()]
    if len(match) != 1:
        names = [c.column.name for c in columns]
        near = nearest(name, names)
        raise SinkError(
            f"column '{name}' of sink table '{table.name}' is not in table '{there}'",
            detail=f"Its columns are {', '.join(names)}.",
            hint=f"Did you mean '{near}'?" if near else "Add it there, or remove it here.",
            place=table.place,
        )
    (chosen,) = match
    if chosen.computed:
        raise SinkError(
            f"column '{name}' of table '{there}' is made by {types.server} and cannot be written",
            detail="It is a generated column or an identity GENERATED ALWAYS.",
            hint=f"Remove it from sink table '{table.name}'.",
            place=table.place,
        )
    if not types.fits(kind, chosen.column):
        raise SinkError(
            f"column '{name}' of sink table '{table.name}' does not fit table '{there}'",
            detail=f"It is {kind} here and {chosen.column.shown} there.",
            hint=f"Declare it as the table has it, or alter the table to {types.made(kind)}.",
            place=table.place,
        )
    return chosen.column


@dataclass(frozen=True)
class UniqueIndex:
    """A unique index: the columns in it, and whether it is over more or less than plain columns."""

    columns: frozenset[str]
    is_plain: bool = True

    def can_refuse(self, written: frozenset[str], key: frozenset[str]) -> bool:
        """True if a row can be refused because of a row with another key.

        Rows of different keys differ in an index that has the whole key, and what is not written never moves.
        """
        if not self.is_plain:
            return True
        return bool(self.columns & written) and not key <= self.columns


def check_not_cascading(table: SinkTable, there: str, referring: Sequence[str]) -> None:
    """Refuse a table whose rows are replaced while others go when they do."""
    if referring:
        raise SinkError(
            f"table '{there}' of sink table '{table.name}' has a second unique index, and rows that go with its own",
            detail=f"Because of the index its rows are deleted and inserted anew when they change; "
            f"{', '.join(referring)} would lose rows by that.",
            hint="Remove the ON DELETE rule of the foreign key, or the index that is not the sink's key.",
            place=table.place,
        )
