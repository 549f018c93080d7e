"""How a plan is local, and what is known of where its columns come from: the words of `locality`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from headwater.plan.nodes import Item

Name = tuple[str, str]
"""A column by qualifier and name; of a scan, by alias and name."""

Columns = Mapping[Name, frozenset[Name]]
"""Columns of scans, for columns that can be named."""


@dataclass(frozen=True)
class Origin:
    """The columns of scans that a column is a plain copy of; each of its values is one of theirs."""

    columns: frozenset[Name]
    type: str
    may_miss: bool = False
    """True if an outer join may put NULL in its place."""
    spreads: bool = False
    """True if a row below has a say in rows whose value is another: those of its window."""


@dataclass(frozen=True)
class Way:
    """One way in which a plan is local: the column of each scan of the class, and what shows it above."""

    cover: Mapping[str, str]
    type: str
    at: frozenset[Name]


@dataclass(frozen=True)
class Link:
    """A row of a scan makes a difference to rows of another one only if a condition is true of the two."""

    start: str
    end: str
    condition: exp.Expr


@dataclass(frozen=True)
class Edge:
    """Of a scan only rows are needed whose column `to` has a value of the column `by`."""

    by: Name
    to: Name


@dataclass(frozen=True)
class Locality:
    """What is known of a plan: its ways, links and edges, and where its columns come from."""

    ways: tuple[Way, ...]
    links: tuple[Link, ...] = ()
    edges: tuple[Edge, ...] = ()
    origins: Mapping[Name, Origin] = field(default_factory=dict)
    narrowing: Columns = field(default_factory=dict)
    """Columns by which the rows below may be narrowed down without a change to the rows that are left."""


def renamed(known: Locality, names: Mapping[Name, Name]) -> Locality:
    """The same seen from above, where columns go by other names; those without one are not seen."""
    ways = (replace(way, at=frozenset(names[n] for n in way.at if n in names)) for way in known.ways)
    return replace(
        known,
        ways=best(ways),
        origins={names[n]: o for n, o in known.origins.items() if n in names},
        narrowing={names[n]: o for n, o in known.narrowing.items() if n in names},
    )


def projected(known: Locality, items: Iterable[Item]) -> Locality:
    """The same seen from above a projection."""
    ways = []
    copies = [(item.name, plain(item.expression)) for item in items]
    for way in known.ways:
        ways.append(replace(way, at=frozenset(("", name) for name, column in copies if column in way.at)))
    return replace(
        known,
        ways=best(ways),
        origins={("", n): known.origins[c] for n, c in copies if c is not None and c in known.origins},
        narrowing={("", n): known.narrowing[c] for n, c in copies if c is not None and c in known.narrowing},
    )


def best(ways: Iterable[Way]) -> tuple[Way, ...]:
    """Of ways that show the same, the one that covers the most."""
    kept: dict[frozenset[Name], Way] = {}
    for way in ways:
        known = kept.get(way.at)
        if known is None or len(way.cover) > len(known.cover):
            kept[way.at] = way
    return tuple(kept.values())


def widest(ways: Iterable[Way]) -> Way:
    """The way that covers the most scans."""
    return max(ways, key=lambda way: len(way.cover))


def plain(expression: exp.Expr) -> Name | None:
    """The column that an expression is, None if it is more than that."""
    column = expression.unnest()
    return (column.table, column.name) if isinstance(column, exp.Column) else None
