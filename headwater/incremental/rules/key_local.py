"""Aggregates without an inverse (MIN, MAX, any other): the touched groups are computed anew.

The first statement finds the keys the change touches. The second reads the rows of these groups as they are, aggregates
them, and takes back what is stored of the groups. To compute what they were a second time would be to read twice as
much, and a floating number computed twice may be two numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlglot import exp

from headwater.incremental.block import HIDDEN_KEY, Block, Core
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
from headwater.incremental.weights import bag, consolidated, union_all, view, weight
from headwater.plan.walk import as_ordered
from headwater.schema import WEIGHT


def maintain(block: Block, changed: Collection[str], keys: Keys) -> ChangePlan:
    """The change plan for a step in which `changed` changed."""
    assert block.group is not None
    touched = f"{block.name}__touched"
    rows, inputs = all_terms(linear.change_terms(block, changed, keys))
    texts = [exp.alias_(s.made, s.asked) for s in _shown(block) if s.asked not in block.group.keys]
    names: list[exp.Expr] = [*[exp.column(k) for k in block.group.keys], *texts]
    names = names or [exp.alias_(exp.Literal.number(1), "one")]
    finding = Statement(touched, exp.select(*names).distinct().from_(rows.subquery("c")), inputs)
    now, new_inputs = _groups(block, _restricted(block, changed, touched), touched)
    gone, stored = _stored(block, touched)
    whole = consolidated(union_all([gone, now]), block.columns)
    own = Input(touched, touched, Version.RESULT)
    inputs = tuple(dict.fromkeys((own, stored, *new_inputs)))
    comparing = Statement(change_view(block.name), whole, inputs)
    return ChangePlan(Strategy.KEY_LOCAL, (finding, comparing))


def first(block: Block) -> ChangePlan:
    """The change plan that fills the block from nothing."""
    whole, inputs = _groups(block, linear.whole_terms(block, Version.NEW), None)
    statement = Statement(change_view(block.name), consolidated(whole, block.columns), inputs)
    return ChangePlan(Strategy.KEY_LOCAL, (statement,))


def _stored(block: Block, touched: str) -> tuple[exp.Select, Input]:
    """What is stored of the touched groups, each row turned round."""
    assert block.group is not None
    own, keys = f"{block.name}__old", block.group.keys
    columns = [exp.column(name, "o") for name in block.columns]
    turned = exp.alias_(exp.Neg(this=weight("o")), WEIGHT)
    rows = exp.select(*columns, turned).from_(exp.alias_(view(own), "o", table=True))
    if not keys:
        return rows, Input(own, block.name, Version.OLD, block.columns)
    match = [
        exp.NullSafeEQ(this=exp.column(shown.column, "o"), expression=exp.column(shown.asked, "t"))
        for shown in _shown(block)
    ]
    rows = rows.join(exp.alias_(view(touched), "t", table=True), on=exp.and_(*match), join_type="left semi")
    plain = next((shown for shown in _shown(block) if shown.asked in keys), None)
    restriction = Restriction(plain.column, touched, plain.asked) if plain is not None else None
    return rows, Input(own, block.name, Version.OLD, block.columns, restriction)


class _Shown(NamedTuple):
    """The column of the result that shows a key of the group, and what it is called among the touched keys."""

    column: str
    asked: str
    made: exp.Expr


def _shown(block: Block) -> list[_Shown]:
    """How each key is shown: as it is, or, if it cannot be kept so, as text. The text is made where the key is: on its
    way through memory its type may become another, with another text."""
    assert block.group is not None
    by_expression = {item.expression.unnest(): item.name for item in block.items}
    texts = {item.expression: item.name for item in block.items if item.name.startswith(HIDDEN_KEY)}
    found = []
    for key in block.group.keys:
        as_text = exp.cast(exp.column(key), "string")
        if (column := by_expression.get(exp.column(key))) is not None:
            found.append(_Shown(column, key, exp.column(key)))
        else:
            found.append(_Shown(texts[as_text], f"{key}__text", as_text))
    return found


def _restricted(block: Block, changed: Collection[str], touched: str) -> list[Term]:
    terms = []
    for i, core in enumerate(block.cores):
        versions = [Version.NEW if s.relation in changed else Version.OLD for s in core.scans]
        terms.append(term(core, versions, {}, suffix=f"_g{i + 1}", known=_known(block, core, touched)))
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


def _groups(block: Block, terms: list[Term], touched: str | None) -> tuple[exp.Select, tuple[Input, ...]]:
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
    # In one order, so that a group that is touched and stays as it was gives the same bits, floats and lists too.
    meant = {item.name: item.expression for item in block.cores[0].items}
    order = [as_ordered(exp.column(c), meant[c]) for c in columns]
    plain = bag(rows, columns).order_by(*order) if columns else _counted(rows)
    grouped = exp.select(
        *[exp.column(k) for k in keys],
        *[exp.alias_(m.expression.copy(), m.name) for m in block.group.measures],
    ).from_(plain.subquery("p"))
    if keys:
        grouped = grouped.group_by(*[exp.column(k) for k in keys])
    weighted = exp.select("*", exp.alias_(exp.Literal.number(1), WEIGHT)).from_(grouped.subquery("a"))
    return finished(block, weighted, block.items), inputs


def _counted(rows: exp.Query) -> exp.Select:
    return consolidated(rows, ())
