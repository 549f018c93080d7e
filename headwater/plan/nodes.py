"""The nodes of a plan. Each is its fields and nothing else.

Below a Project, columns are written `alias.name`; a Project, Aggregate, Union or Opaque yields bare names, and an
Alias above it qualifies them again.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


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


@dataclass(frozen=True)
class Join:
    """Pairs of rows for which a condition is true; no condition: all pairs."""

    left: Plan
    right: Plan
    condition: exp.Expr | None


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
class Opaque:
    """A query that is run as it stands, because no rule maintains it; `reason` says which part."""

    query: exp.Query
    columns: tuple[str, ...]
    relations: tuple[str, ...]
    reason: str


Plan = Scan | Filter | Join | Project | Aggregate | Distinct | Union | Alias | Opaque


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """The plans right below a node."""
    match plan:
        case Scan() | Opaque():
            return ()
        case Join(left, right):
            return (left, right)
        case Union(parts):
            return parts
        case _:
            return (plan.input,)


def output(plan: Plan) -> tuple[str, ...]:
    """The names of the columns a plan yields."""
    match plan:
        case Scan() | Opaque():
            return plan.columns
        case Project(_, items):
            return tuple(item.name for item in items)
        case Aggregate(_, keys, measures):
            return tuple(item.name for item in keys + measures)
        case Union(parts):
            return output(parts[0])
        case Join(left, right):
            return output(left) + output(right)
        case _:
            return output(plan.input)


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
