"""Recompute: run the query as it stands and compare with what is stored, so that only differences go on."""

from __future__ import annotations

from sqlglot import exp

from headwater.incremental.block import Block
from headwater.incremental.change_plan import (
    ChangePlan,
    Input,
    Statement,
    Strategy,
    Version,
    change_view,
)
from headwater.incremental.weights import consolidated, union_all, view, weight
from headwater.plan.walk import relations_of, rename, table_name
from headwater.schema import WEIGHT


def anew(block: Block, first: ChangePlan) -> ChangePlan:
    """The plan that fills a block from nothing, compared with what the block has: the same change by another way."""
    own = f"{block.name}__old"
    last = first.statements[-1]
    columns = [exp.column(name) for name in block.columns]
    come = exp.select(*columns, weight()).from_(last.query.copy().subquery("f"))
    gone = exp.select(*[c.copy() for c in columns], exp.alias_(exp.Neg(this=weight()), WEIGHT)).from_(
        view(own)
    )
    whole = consolidated(union_all([come, gone]), block.columns)
    inputs = (*last.inputs, Input(own, block.name, Version.OLD, block.columns))
    statements = (*first.statements[:-1], Statement(last.target, whole, inputs))
    return ChangePlan(Strategy.RECOMPUTE, statements, sums=first.sums, starts_over=True)


def maintain(block: Block, *, first: bool) -> ChangePlan:
    """The change plan of an opaque block; the first time there is nothing to compare with."""
    assert block.opaque is not None
    query = block.opaque.query.copy()
    inputs = [Input(f"{r}__now", r, Version.NOW) for r in block.opaque.relations]
    views = {relation.lower(): f"{relation}__now" for relation in block.opaque.relations}
    for table in relations_of(query):
        rename(table, views[table_name(table).lower()])
    columns = [exp.column(name) for name in block.columns]
    come = exp.select(*columns, exp.alias_(exp.Literal.number(1), WEIGHT)).from_(query.subquery("q"))
    parts: list[exp.Query] = [come]
    if not first:
        own = f"{block.name}__old"
        inputs.append(Input(own, block.name, Version.OLD, block.columns))
        gone = exp.Neg(this=weight())
        parts.append(exp.select(*[c.copy() for c in columns], exp.alias_(gone, WEIGHT)).from_(view(own)))
    whole = consolidated(union_all(parts), block.columns)
    statement = Statement(change_view(block.name), whole, tuple(inputs))
    return ChangePlan(Strategy.RECOMPUTE, (statement,), reason=block.opaque.reason or "")
