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
from headwater.incremental.weights import consolidated, union_all, weight
from headwater.schema import WEIGHT


def maintain(block: Block, *, first: bool) -> ChangePlan:
    """The change plan of an opaque block; the first time there is nothing to compare with."""
    assert block.opaque is not None
    query = block.opaque.query.copy()
    inputs = [Input(f"{r}__now", r, Version.NOW) for r in block.opaque.relations]
    renamed = {relation.lower(): f"{relation}__now" for relation in block.opaque.relations}
    with_names = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    for table in list(query.find_all(exp.Table)):
        name = ".".join(part.name for part in table.parts).lower()
        if name in renamed and name not in with_names:
            alias = table.alias_or_name
            table.replace(exp.alias_(exp.to_table(renamed[name]), alias, table=True))
    columns = [exp.column(name) for name in block.columns]
    come = exp.select(*columns, exp.alias_(exp.Literal.number(1), WEIGHT)).from_(query.subquery("q"))
    parts: list[exp.Query] = [come]
    if not first:
        own = f"{block.name}__old"
        inputs.append(Input(own, block.name, Version.OLD, block.columns))
        gone = exp.Neg(this=weight())
        parts.append(exp.select(*[c.copy() for c in columns], exp.alias_(gone, WEIGHT)).from_(own))
    whole = consolidated(union_all(parts), block.columns)
    statement = Statement(change_view(block.name), whole, tuple(inputs))
    return ChangePlan(Strategy.RECOMPUTE, (statement,), reason=block.opaque.reason)
