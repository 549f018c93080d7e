"""Queries whose answer the order of rows decides, which SQL leaves open: FIRST(x), COLLECT_LIST(x), MAX_BY of equal rows.

What is kept was made of rows in one order, that of the columns that are asked for. Any other is as right, so who computes
such a query again, to compare, has to take the same.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.incremental.batch import declared
from headwater.incremental.floating import call_of
from headwater.incremental.tree_sql import query_of_plan
from headwater.plan.nodes import Aggregate, Plan, Window, inputs
from headwater.plan.prune import pruned
from headwater.plan.push import pushed
from headwater.plan.walk import is_alone

_OPEN = (
    *(exp.First, exp.Last, exp.AnyValue, exp.FirstValue, exp.LastValue, exp.NthValue),
    *(
        exp.ArgMin,
        exp.ArgMax,
        exp.Mode,
        exp.ArrayAgg,
        exp.ArrayUniqueAgg,
        exp.GroupConcat,
        exp.ApproxQuantile,
    ),
)
_OPEN_NAMES = ("approx_top_k", "histogram_numeric", "listagg", "percentile_approx", "string_agg")


def is_open(plan: Plan) -> bool:
    """True if a call gives one of several rows, or lists them, in an order that the query does not say."""
    match plan:
        case Aggregate(_, _, items) | Window(_, items) if any(_is_open(call_of(item)) for item in items):
            return True
    return any(map(is_open, inputs(plan)))


def _is_open(call: exp.Expr) -> bool:
    if isinstance(call, exp.WithinGroup):
        # Rows that are equal in the order that is said are in no order.
        return _is_open(call.this)
    if is_alone(call):
        return False
    return isinstance(call, _OPEN) or (isinstance(call, exp.Anonymous) and call.name.lower() in _OPEN_NAMES)


def in_order(plan: Plan) -> exp.Select:
    """The query of a plan over relations by their own names, with rows in the order in which they are kept."""
    return query_of_plan(pruned(pushed(plan)), declared)
