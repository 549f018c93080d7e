"""What queries are made of: kinds of values, columns, terms, sources, queries; and the dice that choose.

Queries are made as text, as people write them: reading them is on trial, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Kind(Enum):
    """What a column holds; the value is the type a table declares for it."""

    INT = "int"
    BIGINT = "bigint"
    STRING = "string"
    DECIMAL = "decimal(10,2)"
    DOUBLE = "double"
    DATE = "date"
    BOOLEAN = "boolean"
    ARRAY = "array"

    @property
    def spark(self) -> str:
        """The type in SQL."""
        return self.value


NUMBERS = (Kind.INT, Kind.BIGINT, Kind.DECIMAL, Kind.DOUBLE)


class Grade(IntEnum):
    """How far a floating value can be trusted, whoever computed it in whatever order.

    EXACT values have exact sums. WILD ones are the same to the last bit, their sums are not. ROUGH ones are the same
    to nine digits: they can be shown, and nothing may depend on them.
    """

    EXACT = 0
    WILD = 1
    ROUGH = 2


@dataclass(frozen=True)
class Column:
    """A column of a table or a query."""

    name: str
    kind: Kind
    grade: Grade = Grade.EXACT

    @property
    def is_plain(self) -> bool:
        """True if it can be compared, ordered and grouped by."""
        return self.grade < Grade.ROUGH and self.kind is not Kind.ARRAY


@dataclass(frozen=True)
class Term(Column):
    """An expression, and what is known of its values; its name is its text."""

    @property
    def sql(self) -> str:
        """Its text."""
        return self.name


@dataclass(frozen=True)
class Source:
    """Something in a FROM clause: its text, its alias, its columns, and about how many rows it has."""

    sql: str
    alias: str
    columns: tuple[Column, ...]
    rows: int

    @property
    def terms(self) -> list[Term]:
        """Its columns by their full names."""
        return [Term(f"{self.alias}.{c.name}", c.kind, c.grade) for c in self.columns]


@dataclass(frozen=True)
class Query:
    """A whole query: its text, its output, and about how many rows it has."""

    sql: str
    columns: tuple[Column, ...]
    rows: int


@dataclass
class Dice:
    """Chance, with a memory: what was used least comes next."""

    random: Random
    query: Callable[[Dice, int], Query]
    """Makes a query of a given depth: what is nested can be anything."""
    relations: dict[str, Source] = field(default_factory=dict)
    """What can be read by name: tables, and the views made so far."""
    used: Counter[str] = field(default_factory=Counter)
    """How often each operator is in the queries that were kept."""
    using: Counter[str] = field(default_factory=Counter)
    """How often each operator is in the query that is being made."""
    aliases: int = 0

    def chance(self, share: float) -> bool:
        """True so often."""
        return self.random.random() < share

    def one(self, choices: Sequence[T]) -> T:
        """One of several, all alike."""
        return self.random.choice(choices)

    def some(self, choices: Sequence[T], most: int, *, least: int = 1) -> list[T]:
        """A few of several, in their order."""
        count = min(len(choices), self.random.randint(least, most))
        places = sorted(self.random.sample(range(len(choices)), count))
        return [choices[place] for place in places]

    def rare(self, names: Iterable[str]) -> str:
        """One of these operators, the seldom used ones first; it counts as used."""
        known = list(names)
        chosen = self.random.choices(known, [self.hunger(name) for name in known])[0]
        return self.note(chosen)

    def rare_of(self, makers: dict[str, Callable[..., T]]) -> Callable[..., T]:
        """The maker of one of these operators, the seldom used ones first."""
        return makers[self.rare(makers)]

    def hunger(self, *names: str) -> float:
        """How much one of these operators is wanted."""
        return max(1.0 / (1 + self.used[name] + self.using[name]) ** 6 for name in names)

    def note(self, name: str) -> str:
        """An operator is in the query that is being made."""
        self.using[name] += 1
        return name

    def alias(self, letter: str) -> str:
        """A name that nothing else in the query has."""
        self.aliases += 1
        return f"{letter}{self.aliases}"


def as_source(query: Query, alias: str) -> Source:
    """A query as a derived table."""
    return Source(f"({query.sql}) AS {alias}", alias, query.columns, query.rows)


def selected(terms: Iterable[Term]) -> tuple[str, tuple[Column, ...]]:
    """A select list that calls the terms c0, c1 and so on, and the columns it makes."""
    given = list(terms)
    columns = [Column(f"c{i}", term.kind, term.grade) for i, term in enumerate(given)]
    return ", ".join(f"{t.sql} AS {c.name}" for t, c in zip(given, columns, strict=True)), tuple(columns)


def plain(terms: Iterable[Term]) -> list[Term]:
    """The terms that can be compared, ordered and grouped by."""
    return [term for term in terms if term.is_plain]


def of_kind(terms: Iterable[Term], *kinds: Kind) -> list[Term]:
    """The terms of some kinds."""
    return [term for term in terms if term.kind in kinds]
