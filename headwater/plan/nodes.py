"""The nodes of a plan. Each is its fields and nothing else.

Below a Project, columns are written `alias.name`; a Project, Aggregate, Union or Opaque yields bare names, and an
Alias above it qualifies them again. A Window keeps the columns below it and adds bare ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from sqlglot import exp

from headwater.plan.reasons import Reason


@dataclass(frozen=True)
class Item:
    """An expression with a name: `SUM(o.total) AS total`."""

    name: str
    expression: exp.Expr


@dataclass(frozen=True)
class Scan:
    """All rows of a table or a stored view."""

    relation: str
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Filter:
    """The rows for which a condition is true."""

    input: Plan
    condition: exp.Expr


class JoinKind(StrEnum):
    """Which rows a join yields besides, or instead of, the pairs; a RIGHT JOIN is a LEFT JOIN turned around."""

    INNER = "inner"
    LEFT = "left"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"


@dataclass(frozen=True)
class Join:
    """Pairs of rows for which a condition is true; no condition: all pairs."""

    left: Plan
    right: Plan
    condition: exp.Expr | None
    kind: JoinKind = JoinKind.INNER


@dataclass(frozen=True)
class Project:
    """One expression a column."""

    input: Plan
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Aggregate:
    """One row a group; without keys, exactly one row. Each measure is one aggregate call."""

    input: Plan
    keys: tuple[Item, ...]
    measures: tuple[Item, ...]


@dataclass(frozen=True)
class Distinct:
    """Each row once."""

    input: Plan


@dataclass(frozen=True)
class Union:
    """All rows of all inputs (UNION ALL), columns by place, names from the first."""

    inputs: tuple[Plan, ...]


@dataclass(frozen=True)
class Alias:
    """Names a derived table, so that its columns are `alias.name`."""

    input: Plan
    alias: str


@dataclass(frozen=True)
class Renamed:
    """The columns of a stored relation, called as they were where it was computed: qualifier and name each."""

    input: Plan
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Opaque:
    """A query that is run as it stands, because no rule maintains it; `reason` says why.

    One without relations gives rows that never change, and needs no reason.
    """

    query: exp.Query
    columns: tuple[str, ...]
    relations: tuple[str, ...]
    reason: Reason | None


@dataclass(frozen=True)
class SetOperation:
    """INTERSECT or EXCEPT; with `copies`, of each row as many copies as the two sides have in common, or not."""

    left: Plan
    right: Plan
    is_except: bool
    copies: bool


@dataclass(frozen=True)
class Window:
    """The rows of the input, each with one value more for each window function."""

    input: Plan
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Generate:
    """Each row with every row that a generator (EXPLODE, STACK) makes from it, as columns of `alias`."""

    input: Plan
    call: exp.Expr
    alias: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Top:
    """The first rows in an order that decides between all rows that differ."""

    input: Plan
    order: tuple[exp.Expr, ...]
    limit: int
    offset: int


Plan = (
    Scan
    | Filter
    | Join
    | Project
    | Aggregate
    | Distinct
    | Union
    | SetOperation
    | Window
    | Generate
    | Top
    | Alias
    | Renamed
    | Opaque
)


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """The plans right below a node."""
    match plan:
        case Scan() | Opaque():
            return ()
        case Join(left, right) | SetOperation(left, right):
            return (left, right)
        case Union(parts):
            return parts
        case _:
            return (plan.input,)


def with_inputs(plan: Plan, below: tuple[Plan, ...]) -> Plan:
    """The same node above other plans."""
    match plan:
        case Scan() | Opaque():
            return plan
        case Join() | SetOperation():
            return replace(plan, left=below[0], right=below[1])
        case Union():
            return Union(below)
        case _:
            return replace(plan, input=below[0])


def columns(plan: Plan) -> tuple[tuple[str, str], ...]:
    """The columns that can be named above a node: qualifier and name."""
    match plan:
        case Scan(_, alias):
            return tuple((alias, name) for name in plan.columns)
        case Alias(below, alias):
            return tuple((alias, name) for _, name in columns(below))
        case Renamed(_, names):
            return names
        case Filter(below) | Top(below):
            return columns(below)
        case Join(left, right, _, kind):
            return columns(left) + (() if kind in (JoinKind.SEMI, JoinKind.ANTI) else columns(right))
        case Window(below, items):
            return columns(below) + tuple(("", item.name) for item in items)
        case Generate(below, _, alias):
            return columns(below) + tuple((alias, name) for name in plan.columns)
        case _:
            return tuple(("", name) for name in output(plan))


def output(plan: Plan) -> tuple[str, ...]:
    """The names of the columns a plan yields."""
    match plan:
        case Opaque():
            return plan.columns
        case Project(_, items):
            return tuple(item.name for item in items)
        case Aggregate(_, keys, measures):
            return tuple(item.name for item in keys + measures)
        case Union(parts):
            return output(parts[0])
        case SetOperation(left):
            return output(left)
        case Distinct(below):
            return output(below)
        case _:
            return tuple(name for _, name in columns(plan))


def relations(plan: Plan) -> tuple[str, ...]:
    """The relations a plan reads, each once, in order of appearance."""
    match plan:
        case Scan(relation):
            return (relation,)
        case Opaque():
            return plan.relations
        case _:
            found = [name for part in inputs(plan) for name in relations(part)]
            return tuple(dict.fromkeys(found))
