"""Which columns tell the rows of a plan apart, as far as its form says so."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from headwater.plan.nodes import Aggregate, Alias, Filter, Join, JoinKind, Plan, Project, Scan, Top, Window

Key = frozenset[str]
"""Columns as they are called above the node: `o.id` above a Scan, `id` above a Project; none: there is one row."""


def row_key(plan: Plan, unique: Mapping[str, tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """The columns of a query's result of whose values there is one row each; None if its form does not tell.

    `unique` are the columns that tell the rows of each relation apart. Of `SELECT page, COUNT(*) ... GROUP BY page` it
    is `("page",)`; of a query that always has one row it is `()`.
    """
    found = _key(plan, unique)
    return None if found is None else tuple(sorted(found))


def _key(plan: Plan, unique: Mapping[str, tuple[str, ...] | None]) -> Key | None:
    match plan:
        case Scan(relation, alias, columns):
            names = unique.get(relation)
            is_known = names is not None and set(names) <= set(columns)
            return frozenset(f"{alias}.{name}" for name in names or ()) if is_known else None
        case Filter() | Window() | Top():
            return _key(plan.input, unique)
        case Join(left, right, _, kind):
            before, behind = _key(left, unique), _key(right, unique)
            if kind in (JoinKind.SEMI, JoinKind.ANTI):
                return before
            is_pair = kind in (JoinKind.INNER, JoinKind.LEFT) and before is not None and behind is not None
            return (before or frozenset()) | (behind or frozenset()) if is_pair else None
        case Aggregate(_, keys):
            return frozenset(item.name for item in keys)
        case Alias(below, alias):
            inner = _key(below, unique)
            return None if inner is None else frozenset(f"{alias}.{name}" for name in inner)
        case Project(below, items):
            inner = _key(below, unique)
            called = {_called(item.expression): item.name for item in items}
            return (
                None if inner is None or not inner <= called.keys() else frozenset(called[c] for c in inner)
            )
        case _:
            return None


def _called(expression: exp.Expr) -> str:
    """How a column is called below; nothing for what is computed."""
    if not isinstance(expression, exp.Column):
        return ""
    return f"{expression.table}.{expression.name}" if expression.table else expression.name
