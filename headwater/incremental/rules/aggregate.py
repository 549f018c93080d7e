"""GROUP BY with SUM, COUNT and AVG, and DISTINCT: the change is added to stored partial sums.

The first statement sums the change of the cores by group; these partial sums are all that is stored. The second
adds them to the stored ones of the touched groups and emits the groups' rows before and after.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from headwater.incremental.block import Block
from headwater.incremental.change_plan import (
    ChangePlan,
    Input,
    Restriction,
    Statement,
    Strategy,
    Version,
    change_view,
    sums_relation,
)
from headwater.incremental.rules import linear, sliced, sums
from headwater.incremental.rules.join import Keys, all_terms
from headwater.incremental.rules.sums import Measure
from headwater.incremental.weights import consolidated, union_all, view
from headwater.plan.nodes import Item
from headwater.schema import WEIGHT


def strategy_of(block: Block) -> Strategy:
    """Adding is linear in the change of the cores; counted DISTINCT looks at the touched rows."""
    assert block.group is not None
    is_added = bool(block.group.measures) and block.tree is None
    return linear.strategy_of(block) if is_added else Strategy.KEY_LOCAL


def maintain(block: Block, measures: tuple[Measure, ...], changed: Collection[str], keys: Keys) -> ChangePlan:
    """The change plan for a step in which `changed` changed."""
    if block.tree is None:
        return _plan(block, measures, *all_terms(linear.change_terms(block, changed, keys)), is_first=False)
    statements, rows = sliced.change_of(block, changed)
    plan = _plan(block, measures, rows.query, rows.inputs, is_first=False)
    return replace(plan, statements=(*statements, *plan.statements))


def first(block: Block, measures: tuple[Measure, ...]) -> ChangePlan:
    """The change plan that fills the block from nothing."""
    if block.tree is None:
        return _plan(block, measures, *all_terms(linear.whole_terms(block, Version.NEW)), is_first=True)
    rows = sliced.whole(block)
    return _plan(block, measures, rows.query, rows.inputs, is_first=True)


def _plan(
    block: Block, measures: tuple[Measure, ...], rows: exp.Query, inputs: tuple[Input, ...], *, is_first: bool
) -> ChangePlan:
    assert block.group is not None
    added = f"{block.name}__added"
    adding = Statement(added, _partial(rows, block.group.keys, measures), inputs)
    read = [Input(added, added, Version.RESULT)]
    if not is_first:
        stored = sums_relation(block.name)
        keys = block.group.keys
        restriction = Restriction(keys[0], added, keys[0]) if keys else None
        read.append(Input(stored, stored, Version.SUMS, restriction=restriction))
    emitting = Statement(change_view(block.name), _emitted(block, measures, is_first=is_first), tuple(read))
    return ChangePlan(strategy_of(block), (adding, emitting), sums=added)


def _partial(rows: exp.Query, keys: tuple[str, ...], measures: tuple[Measure, ...]) -> exp.Select:
    binned = exp.select("*", *sums.bins(measures)).from_(rows.subquery("c")) if sums.bins(measures) else rows
    by = [exp.column(name) for name in [*keys, *[m.bin for m in measures if m.is_float]]]
    once = exp.alias_(exp.cast(exp.Literal.number(1), "tinyint"), WEIGHT)
    query = exp.select(*by, *sums.partial_sums(measures), once).from_(binned.subquery("d"))
    if not by:
        return query.having("COUNT(*) > 0")
    return query.group_by(*[c.copy() for c in by])


def merged_sums(
    rows: exp.Query, keys: tuple[str, ...], measures: tuple[Measure, ...], *, are_all: bool
) -> exp.Select:
    """Stored partial sums with those of one group added up; of all there are, groups without rows are left out.

    Where others stay as they are, no rows more and no rows less still change a sum.
    """
    by = [exp.column(name) for name in [*keys, *[m.bin for m in measures if m.is_float]]]
    once = exp.alias_(exp.cast(exp.Literal.number(1), "tinyint"), WEIGHT)
    query = exp.select(*by, *sums.merged(measures), once).from_(rows.subquery("p"))
    if not by:
        return query
    grouped = query.group_by(*[c.copy() for c in by])
    return grouped.having(f"SUM({sums.ROW_COUNT}) <> 0") if are_all else grouped


def _emitted(block: Block, measures: tuple[Measure, ...], *, is_first: bool) -> exp.Select:
    """Rows of the touched groups: -1 as they were, +1 as they are."""
    assert block.group is not None
    keys = block.group.keys
    names = [*keys, *[name for name, _ in sums.columns(measures)]]
    parts = [_tagged(names, f"{block.name}__added", "ARRAY(1)")]
    if not is_first:
        parts.insert(0, _tagged(names, sums_relation(block.name), "ARRAY(-1, 1)"))
    if not keys:
        parts.append(_nothing(measures, "ARRAY(1)" if is_first else "ARRAY(-1, 1)"))
    by = [WEIGHT, *keys, *[m.bin for m in measures if m.is_float]]
    added_up = (
        exp.select(*[exp.column(c) for c in by], *sums.merged(measures))
        .from_(union_all(parts).subquery("p"))
        .group_by(*[exp.column(c) for c in by])
    )
    return consolidated(_rolled_up(block, measures, added_up), block.columns)


def _rolled_up(block: Block, measures: tuple[Measure, ...], added_up: exp.Select) -> exp.Select:
    assert block.group is not None
    keys = block.group.keys
    grouped = exp.select(
        *[exp.column(c) for c in (WEIGHT, *keys)],
        *[exp.alias_(sums.result(m), m.name) for m in measures],
    ).from_(added_up.subquery("s"))
    grouped = grouped.group_by(*[exp.column(c) for c in (WEIGHT, *keys)])
    if keys:
        grouped = grouped.having(f"SUM({sums.ROW_COUNT}) > 0")
    return finished(block, grouped, block.items)


def finished(block: Block, grouped: exp.Query, items: tuple[Item, ...]) -> exp.Select:
    """HAVING and the select list above a group's keys and measures, weight kept."""
    chosen = [exp.alias_(item.expression.copy(), item.name) for item in items]
    query = exp.select(*chosen, exp.column(WEIGHT)).from_(grouped.subquery("g"))
    return query.where(*[c.copy() for c in block.conditions]) if block.conditions else query


def _tagged(names: list[str], name: str, tags: str) -> exp.Select:
    return exp.select(*[exp.column(n) for n in names], f"EXPLODE({tags}) AS {WEIGHT}").from_(view(name))


def _nothing(measures: tuple[Measure, ...], tags: str) -> exp.Select:
    """An empty group: a global aggregate has its row even when nothing was ever added."""
    zeros = [
        exp.alias_(exp.cast(exp.Literal.number(0), t, dialect="spark"), n) for n, t in sums.columns(measures)
    ]
    return exp.select(*zeros, f"EXPLODE({tags}) AS {WEIGHT}")
