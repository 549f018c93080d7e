"""Columns by which rows can be put in order, as far as the expressions of a plan know their types: maps have no order."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from headwater.plan.nodes import Aggregate, Filter, Generate, Join, Plan, Project, Top, Window, inputs
from headwater.plan.walk import noted_type

_NO_ORDER = (exp.DataType.Type.MAP, exp.DataType.Type.VARIANT, exp.DataType.Type.UNKNOWN)


def orderable(plan: Plan) -> set[tuple[str, str]]:
    """The columns that expressions of a plan name, by qualifier and name, and that surely have an order."""
    found = {
        (column.table, column.name)
        for expression in _expressions(plan)
        for column in expression.find_all(exp.Column)
        if _has_order(column)
    }
    return found.union(*map(orderable, inputs(plan)))


def _has_order(column: exp.Column) -> bool:
    kind = noted_type(column)
    return kind is not None and not any(part.this in _NO_ORDER for part in kind.find_all(exp.DataType))


def _expressions(plan: Plan) -> Iterable[exp.Expr]:
    """What a node itself computes or asks."""
    match plan:
        case Filter(_, condition):
            return [condition]
        case Join(_, _, condition):
            return [] if condition is None else [condition]
        case Project(_, items) | Window(_, items):
            return [item.expression for item in items]
        case Aggregate(_, keys, measures):
            return [item.expression for item in keys + measures]
        case Generate(_, call):
            return [call]
        case Top(_, order):
            return order
    return []
