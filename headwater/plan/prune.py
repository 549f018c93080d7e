"""Columns that nobody asks for are left out, down to the scans."""

from __future__ import annotations

from dataclasses import replace

from headwater.plan.nodes import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Generate,
    Join,
    Opaque,
    Plan,
    Project,
    Renamed,
    Scan,
    SetOperation,
    Top,
    Union,
    Window,
    columns,
    output,
)
from headwater.plan.walk import named_columns

Wanted = set[tuple[str, str]]


def pruned(plan: Plan, wanted: Wanted | None = None) -> Plan:
    """The plan with only the columns that are wanted, or that it needs itself; None wants all."""
    asked = set(columns(plan)) if wanted is None else wanted
    match plan:
        case Scan():
            kept = tuple(name for name in plan.columns if (plan.alias, name) in asked)
            return replace(plan, columns=kept or plan.columns[:1])
        case Alias(below, alias):
            bare = dict(zip(((alias, name) for _, name in columns(below)), columns(below), strict=True))
            return replace(plan, input=pruned(below, {bare[column] for column in asked if column in bare}))
        case Renamed(below, names):
            pairs = [(n, c) for n, c in zip(names, columns(below), strict=True) if n in asked]
            pairs = pairs or [(names[0], columns(below)[0])]
            return Renamed(pruned(below, {c for _, c in pairs}), tuple(n for n, _ in pairs))
        case Filter(below, condition):
            return replace(plan, input=pruned(below, asked | named_columns(condition)))
        case Join(left, right, condition):
            needed = asked | (named_columns(condition) if condition is not None else set())
            sides = [pruned(side, needed & set(columns(side))) for side in (left, right)]
            return replace(plan, left=sides[0], right=sides[1])
        case Project(below, items):
            kept_items = tuple(item for item in items if ("", item.name) in asked) or items[:1]
            return Project(
                pruned(below, named_columns(*(item.expression for item in kept_items))), kept_items
            )
        case Aggregate(below, keys, measures):
            # Without keys it is one row, which it would not be of nothing.
            kept_items = tuple(i for i in measures if ("", i.name) in asked) or measures[: 0 if keys else 1]
            needed = named_columns(*(item.expression for item in (*keys, *kept_items)))
            return Aggregate(pruned(below, needed), keys, kept_items)
        case Distinct(below):
            return Distinct(_whole(below))
        case Union(parts):
            return Union(tuple(_whole(part) for part in parts))
        case SetOperation(left, right):
            return replace(plan, left=_whole(left), right=_whole(right))
        case Window() | Generate() | Top():
            return _widened(plan, asked)
        case Opaque():
            return plan


def _widened(plan: Window | Generate | Top, asked: Wanted) -> Plan:
    """A node that keeps the columns below it."""
    match plan:
        case Window(below, items):
            kept_items = tuple(item for item in items if ("", item.name) in asked)
            needed = (asked | named_columns(*(item.expression for item in kept_items))) & set(columns(below))
            return Window(pruned(below, needed), kept_items) if kept_items else pruned(below, needed)
        case Generate(below, call):
            return replace(plan, input=pruned(below, (asked | named_columns(call)) & set(columns(below))))
        case Top(below, order):
            return replace(plan, input=pruned(below, asked | named_columns(*order)))


def _whole(plan: Plan) -> Plan:
    """A plan whose rows are compared as a whole: all its columns count."""
    return pruned(plan, {("", name) for name in output(plan)} | set(columns(plan)))
