"""Which parts of a plan add up floating numbers: in another order these may have other last bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from headwater.incremental.change_plan import Analyse
from headwater.incremental.tree_sql import query_of_plan
from headwater.plan.nodes import Aggregate, Item, Plan, Project, Scan, Window

STEADY = (
    *(exp.Min, exp.Max, exp.ArgMin, exp.ArgMax, exp.Count),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.PercentRank, exp.CumeDist),
)
"""Calls that give one of their values, or count."""


def is_floating(part: Plan, analyse: Analyse, declared: Callable[[Scan], exp.Expr]) -> bool:
    """True if an aggregate or a window has a result that depends on the order in which it is computed."""
    match part:
        case Aggregate(below, _, items) | Window(below, items):
            calls = {item.name: call for item in items if not isinstance(call := call_of(item), STEADY)}
        case _:
            return False
    # Sums of whole numbers are whole, and so is what an average divides.
    added = {name: _argument(call) for name, call in calls.items() if isinstance(call, exp.Sum | exp.Avg)}
    others = {name: exp.column(name) for name in calls if name not in added}
    return any(
        word in type_
        for plan, asked in ((below, added), (part, others))
        if asked
        for type_ in analyse(query_of_plan(_asking(plan, asked), declared)).values()
        for word in ("float", "double")
    )


def _asking(plan: Plan, asked: Mapping[str, exp.Expr]) -> Plan:
    return Project(plan, tuple(Item(name, expression) for name, expression in asked.items()))


def _argument(call: exp.Expr) -> exp.Expr:
    inside: exp.Expr = call.this
    return inside.expressions[0] if isinstance(inside, exp.Distinct) else inside


def call_of(item: Item) -> exp.Expr:
    """The function itself, without its window and its filter."""
    call = item.expression.unnest()
    while isinstance(call, exp.Window | exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        call = call.this.unnest()
    return call
