"""From a block to its change plans: one dispatch, and the contract is checked right after it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.incremental.batch import query_of_core, rows_of
from headwater.incremental.block import Block
from headwater.incremental.change_plan import Analyse, ChangePlan, change_view
from headwater.incremental.rules import aggregate, key_local, linear, recompute, sliced, sums, top
from headwater.incremental.rules.join import Keys
from headwater.incremental.rules.sums import Measure
from headwater.plan.nodes import Item
from headwater.schema import sql_type


@dataclass(frozen=True)
class Maintained:
    """A block together with what is known of its aggregate: its measures if all of them have an inverse."""

    block: Block
    measures: tuple[Measure, ...] | None
    keys: Keys

    @property
    def sum_columns(self) -> list[tuple[str, str]] | None:
        """The stored partial sums beside the group keys, None if the block keeps none."""
        return None if self.measures is None else sums.columns(self.measures)


def maintained(block: Block, keys: Keys, analyse: Analyse) -> Maintained:
    """Decide once what the block's aggregate can do."""
    block = _of_one_type(block, analyse)
    if block.group is None:
        return Maintained(block, None, keys)
    return Maintained(block, sums.measures_of(block.group.measures, rows_of(block), analyse), keys)


def _of_one_type(block: Block, analyse: Analyse) -> Block:
    """The parts of a UNION ALL cast to the types the whole has: each of them may change alone."""
    if len(block.cores) < 2 or not block.cores[0].items:
        return block
    types = analyse(rows_of(block))
    cores = []
    for core in block.cores:
        own = analyse(query_of_core(core))
        items = tuple(i if own[i.name] == types[i.name] else _cast(i, types[i.name]) for i in core.items)
        cores.append(replace(core, items=items))
    return replace(block, cores=tuple(cores))


def _cast(item: Item, kind: str) -> Item:
    return Item(item.name, exp.cast(item.expression.copy(), sql_type(kind), dialect="spark"))


def first(node: Maintained) -> ChangePlan:
    """The change plan that fills a block from nothing."""
    block = node.block
    if block.opaque is not None:
        plan = recompute.maintain(block, first=True)
    elif block.first is not None:
        plan = top.first(block)
    elif block.group is None and block.tree is not None:
        plan = sliced.first(block)
    elif block.group is None:
        plan = linear.first(block)
    elif node.measures is None:
        plan = key_local.first(block)
    else:
        plan = aggregate.first(block, node.measures)
    return _checked(plan, block)


def anew(node: Maintained) -> ChangePlan:
    """The change plan that computes a block from nothing and compares."""
    return _checked(recompute.anew(node.block, first(node)), node.block)


def differentiate(node: Maintained, changed: Collection[str]) -> ChangePlan:
    """The change plan of a block for a step in which some of its inputs changed."""
    block = node.block
    if block.opaque is not None:
        plan = recompute.maintain(block, first=False)
    elif block.first is not None:
        plan = top.maintain(block)
    elif block.group is None and block.tree is not None:
        plan = sliced.maintain(block, changed)
    elif block.group is None:
        plan = linear.maintain(block, changed, node.keys)
    elif node.measures is None:
        plan = key_local.maintain(block, changed, node.keys)
    else:
        plan = aggregate.maintain(block, node.measures, changed, node.keys)
    return _checked(plan, block)


def _checked(plan: ChangePlan, block: Block) -> ChangePlan:
    """The last statement yields the change of the block; every view it reads is declared as an input."""
    assert plan.statements and plan.statements[-1].target == change_view(block.name)
    for statement in plan.statements:
        views = {i.view for i in statement.inputs}
        by = {i.restriction.by for i in statement.inputs if i.restriction is not None}
        assert by <= views, f"{block.name}: a restriction by {by - views} that is not read"
    return plan
