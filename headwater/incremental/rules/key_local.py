"""Aggregates without an inverse (MIN, MAX, any other): the touched groups are computed anew, before and after.

The first statement finds the keys the change touches. The second reads only the rows of these groups, as they were
and as they are, aggregates both and emits the difference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from headwater.incremental.block import Block, Core
from headwater.incremental.change_plan import (
    ChangePlan,
    Input,
    Restriction,
    Statement,
    Strategy,
    Version,
    change_view,
)
from headwater.incremental.rules import linear
from headwater.incremental.rules.aggregate import finished
from headwater.incremental.rules.join import Keys, Term, all_terms, term
from headwater.incremental.weights import bag, consolidated, union_all, view
from headwater.schema import WEIGHT


def maintain(block: Block, changed: Collection[str], keys: Keys) -> ChangePlan:
    """The change plan for a step in which `changed` changed."""
    assert block.group is not None
    touched = f"{block.name}__touched"
    rows, inputs = all_terms(linear.change_terms(block, changed, keys))
    names: list[exp.Expr] = [exp.column(k) for k in block.group.keys]
    names = names or [exp.alias_(exp.Literal.number(1), "one")]
    finding = Statement(touched, exp.select(*names).distinct().from_(rows.subquery("c")), inputs)
    was, old_inputs = _groups(block, _restricted(block, changed, Version.OLD, touched), touched, weight=-1)
    now, new_inputs = _groups(block, _restricted(block, changed, Version.NEW, touched), touched, weight=1)
    own = Input(touched, touched, Version.RESULT)
    whole = consolidated(union_all([was, now]), block.columns)
    inputs = tuple(dict.fromkeys((own, *old_inputs, *new_inputs)))
    comparing = Statement(change_view(block.name), whole, inputs)
    return ChangePlan(Strategy.KEY_LOCAL, (finding, comparing))


def first(block: Block) -> ChangePlan:
    """The change plan that fills the block from nothing."""
    whole, inputs = _groups(block, linear.whole_terms(block, Version.NEW), None, weight=1)
    statement = Statement(change_view(block.name), consolidated(whole, block.columns), inputs)
    return ChangePlan(Strategy.KEY_LOCAL, (statement,))


def _restricted(block: Block, changed: Collection[str], version: Version, touched: str) -> list[Term]:
    terms = []
    for i, core in enumerate(block.cores):
        versions = [version if s.relation in changed else Version.OLD for s in core.scans]
        # The same relation is read twice, where the old groups and where the new ones join it: two views.
        suffix = f"_g{2 * i + (1 if version is Version.OLD else 2)}"
        terms.append(term(core, versions, {}, suffix=suffix, known=_known(block, core, touched)))
    return terms


def _known(block: Block, core: Core, touched: str) -> Mapping[str, Restriction]:
    """Scans that hold a group key as a plain column need only the touched keys."""
    assert block.group is not None
    known: dict[str, Restriction] = {}
    for item in core.items:
        column = item.expression.unnest()
        if item.name in block.group.keys and isinstance(column, exp.Column):
            known.setdefault(column.table, Restriction(column.name, touched, item.name))
    return known


def _groups(
    block: Block, terms: list[Term], touched: str | None, *, weight: int
) -> tuple[exp.Select, tuple[Input, ...]]:
    """The aggregate over weighted rows of the touched groups, each result row with one weight."""
    assert block.group is not None
    rows, inputs = all_terms(terms)
    keys = block.group.keys
    # The keys first: rows that are to be grouped in this order need no other.
    columns = [*keys, *[item.name for item in block.cores[0].items if item.name not in keys]]
    if touched is not None and keys:
        match = [exp.NullSafeEQ(this=exp.column(k, "w"), expression=exp.column(k, "t")) for k in keys]
        weighted = exp.select("w.*").from_(rows.subquery("w"))
        rows = weighted.join(
            exp.alias_(view(touched), "t", table=True), on=exp.and_(*match), join_type="left semi"
        )
    # In one order, so that a group computed twice from the same rows gives the same bits, floats and lists too.
    plain = bag(rows, columns).order_by(*[exp.column(c) for c in columns]) if columns else _counted(rows)
    grouped = exp.select(
        *[exp.column(k) for k in keys],
        *[exp.alias_(m.expression.copy(), m.name) for m in block.group.measures],
    ).from_(plain.subquery("p"))
    if keys:
        grouped = grouped.group_by(*[exp.column(k) for k in keys])
    weighted = exp.select("*", exp.alias_(exp.Literal.number(weight), WEIGHT)).from_(grouped.subquery("a"))
    return finished(block, weighted, block.items), inputs


def _counted(rows: exp.Query) -> exp.Select:
    return consolidated(rows, ())
