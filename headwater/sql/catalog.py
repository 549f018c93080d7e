"""The relations a query may name: declared tables and views, by name without regard to case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from headwater.errors import Place, SqlError
from headwater.nearest import nearest
from headwater.schema import Schema


@dataclass(frozen=True)
class Computed:
    """A computed column of a table: never stored, written out wherever the table is read."""

    name: str
    expression: exp.Expr
    index: int


@dataclass(frozen=True)
class Relation:
    """A table or view: its stored columns, and what is computed from them when it is read."""

    name: str
    kind: Literal["table", "view"]
    schema: Schema
    computed: tuple[Computed, ...] = ()
    virtual: tuple[str, ...] = ()
    """Stored columns that are only read: an INSERT does not see them."""
    moments: tuple[str, ...] = ()
    """Columns that are PROCTIME(): they hold nothing, and stand only after FOR SYSTEM_TIME AS OF."""

    @property
    def written(self) -> Schema:
        """The columns that an INSERT fills."""
        return Schema(tuple(c for c in self.schema if c.name not in self.virtual), self.schema.key)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns a query sees, in the order of the declaration."""
        names = list(self.schema.names)
        for column in self.computed:
            names.insert(column.index, column.name)
        return tuple(names)


@dataclass
class Catalog:
    """What is declared so far; grows statement by statement."""

    _relations: dict[str, Relation] = field(default_factory=dict)

    def add(self, relation: Relation, place: Place | None) -> None:
        """Declare a relation; a name can be taken once."""
        if relation.name.lower() in self._relations:
            raise SqlError(
                f'"{relation.name}" is declared twice',
                hint="Give one of the two another name, or DROP the first.",
                place=place,
            )
        self._relations[relation.name.lower()] = relation

    def drop(self, name: str) -> None:
        """Forget a relation."""
        del self._relations[name.lower()]

    def find(self, name: str) -> Relation | None:
        """The relation of that name, None if there is none."""
        return self._relations.get(name.lower())

    def get(self, name: str, place: Place | None) -> Relation:
        """The relation of that name, or an error that names the nearest."""
        found = self.find(name)
        if found is not None:
            return found
        known = [relation.name for relation in self]
        near = nearest(name, known, cutoff=0.5)
        listed = f"The tables and views are {', '.join(known)}." if known else "Nothing is declared yet."
        raise SqlError(
            f'table "{name}" does not exist',
            detail=listed,
            hint=f'Did you mean "{near}"?' if near else "Declare it with CREATE TABLE or CREATE VIEW first.",
            place=place,
        )

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._relations.values())
