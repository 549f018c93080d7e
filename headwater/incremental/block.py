"""The form in which plans are maintained: blocks of joins, filters and projections below at most one aggregate.

A block is one stored relation. A plan with an aggregate inside an aggregate becomes several blocks; the inner
ones are hidden relations with a State of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.incremental.tree import Tree
from headwater.plan.nodes import Item, Opaque, Scan

HIDDEN_KEY = "__hw_key"
"""Columns whose names begin so hold keys of a group that the query does not show, as they are or as text."""


@dataclass(frozen=True)
class Core:
    """Scans joined, filtered and projected: `SELECT items FROM scans WHERE all conditions`."""

    scans: tuple[Scan, ...]
    conditions: tuple[exp.Expr, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Group:
    """Keys (names of core items) and measures (aggregate calls over core items)."""

    keys: tuple[str, ...]
    measures: tuple[Item, ...]


@dataclass(frozen=True)
class First:
    """The first rows of a scan in an order; `order` is in terms of the scan's columns."""

    scan: Scan
    order: tuple[exp.Expr, ...]
    limit: int
    offset: int


@dataclass(frozen=True)
class Block:
    """One stored relation and how its rows come about.

    `UNION ALL` of the cores, or a tree that is run on slices; then, if there is a group, the aggregate, the
    conditions (HAVING) and the items over its keys and measures. An opaque block is a query that is run as it stands.
    """

    name: str
    columns: tuple[str, ...]
    cores: tuple[Core, ...] = ()
    group: Group | None = None
    conditions: tuple[exp.Expr, ...] = ()
    items: tuple[Item, ...] = ()
    opaque: Opaque | None = None
    tree: Tree | None = None
    first: First | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The relations it reads, each once."""
        if self.opaque is not None:
            return self.opaque.relations
        if self.first is not None:
            return (self.first.scan.relation,)
        if self.tree is not None:
            return tuple(dict.fromkeys(scan.relation for scan in self.tree.scans))
        return tuple(dict.fromkeys(scan.relation for core in self.cores for scan in core.scans))
