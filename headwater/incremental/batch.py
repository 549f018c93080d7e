"""A block as the plain query it stands for: what Spark types it by, and what EXPLAIN shows."""

from __future__ import annotations

from sqlglot import exp

from headwater.incremental.block import Block, Core
from headwater.incremental.rules import top
from headwater.incremental.tree_sql import query_of_plan
from headwater.incremental.weights import union_all
from headwater.plan.nodes import Scan


def query_of_core(core: Core) -> exp.Select:
    """`SELECT items FROM scans WHERE conditions`, over the relations by their own names."""
    tables = [
        exp.alias_(exp.Table(this=exp.to_identifier(s.relation, quoted=True)), s.alias, table=True)
        for s in core.scans
    ]
    chosen = [exp.alias_(i.expression.copy(), i.name) for i in core.items]
    query = exp.select(*(chosen or [exp.alias_(exp.Literal.number(1), "one")])).from_(tables[0])
    for table in tables[1:]:
        query = query.join(table, join_type="cross")
    return query.where(*[c.copy() for c in core.conditions]) if core.conditions else query


def rows_of(block: Block) -> exp.Query:
    """The rows of all cores, or of the tree, below any aggregate."""
    if block.tree is not None:
        return query_of_plan(block.tree.plan, declared)
    return union_all([query_of_core(core) for core in block.cores])


def declared(scan: Scan) -> exp.Expr:
    """A relation by its own name."""
    return exp.Table(this=exp.to_identifier(scan.relation, quoted=True))


def query_of(block: Block) -> exp.Query:
    """The whole block as one query without weights."""
    if block.opaque is not None:
        return block.opaque.query.copy()
    if block.first is not None:
        return top.query_of(block, declared(block.first.scan))
    rows = rows_of(block)
    if block.group is None:
        return rows
    grouped = exp.select(
        *[exp.column(key) for key in block.group.keys],
        *[exp.alias_(m.expression.copy(), m.name) for m in block.group.measures],
    ).from_(rows.subquery("c"))
    if block.group.keys:
        grouped = grouped.group_by(*[exp.column(key) for key in block.group.keys])
    chosen = [exp.alias_(item.expression.copy(), item.name) for item in block.items]
    query = exp.select(*chosen).from_(grouped.subquery("g"))
    return query.where(*[c.copy() for c in block.conditions]) if block.conditions else query
