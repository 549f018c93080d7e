"""What a client's statement can be."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.server.postgres.reading import Relation


@dataclass(frozen=True)
class Behind:
    """A statement for the Postgres behind."""


@dataclass(frozen=True)
class Query:
    """A query over relations, by their full names."""

    tree: exp.Query
    relations: tuple[Relation, ...]


@dataclass(frozen=True)
class Declare:
    """A cursor over a query."""

    name: str
    query: Query
    is_held: bool
    """True if it outlives its transaction."""


@dataclass(frozen=True)
class Fetch:
    """The next rows of a cursor; None: all that are left."""

    name: str
    count: int | None


@dataclass(frozen=True)
class Prepare:
    """A query under a name, by a statement."""

    name: str
    query: Query


@dataclass(frozen=True)
class Run:
    """A query that was prepared by a statement, and what its parameters are."""

    name: str
    given: tuple[exp.Expression, ...]


@dataclass(frozen=True)
class Close:
    """A cursor, or a query that was prepared by a statement, is not wanted any more."""

    name: str
    is_cursor: bool


Statement = Behind | Query | Declare | Fetch | Prepare | Run | Close

BEHIND = Behind()
