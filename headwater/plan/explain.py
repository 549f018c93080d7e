"""A plan as an indented tree for people."""

from __future__ import annotations

from headwater.plan.nodes import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Generate,
    Item,
    Join,
    JoinKind,
    Opaque,
    Plan,
    Project,
    Renamed,
    Scan,
    SetOperation,
    Top,
    Union,
    Window,
    inputs,
)


def tree(plan: Plan, indent: int = 0) -> str:
    """The plan, one node a line, inputs below and to the right.

    Project total = m0
      Aggregate by k0 = o.customer: m0 = SUM(o.total)
        Scan orders as o
    """
    lines = ["  " * indent + _line(plan)]
    lines += [tree(part, indent + 1) for part in inputs(plan)]
    return "\n".join(lines)


def _line(plan: Plan) -> str:
    match plan:
        case Scan(relation, alias):
            return f"Scan {relation}" + (f" as {alias}" if alias != relation.lower() else "")
        case Filter(_, condition):
            return f"Filter {condition.sql(dialect='spark')}"
        case Join(_, _, condition, kind):
            name = "Join" if kind is JoinKind.INNER else f"{kind.value.capitalize()} join"
            return (
                f"{name} on {condition.sql(dialect='spark')}"
                if condition is not None
                else f"{name} all pairs"
            )
        case Project(_, items):
            return f"Project {_items(items)}"
        case Aggregate(_, keys, measures):
            by = f" by {_items(keys)}" if keys else " of everything"
            return f"Aggregate{by}" + (f": {_items(measures)}" if measures else "")
        case Distinct():
            return "Distinct"
        case Union():
            return "Union all"
        case Alias(_, alias):
            return f"Alias {alias}"
        case Opaque(_, _, _, reason):
            return f"Query run as it stands, because of {reason}" if reason else "Rows that never change"
        case Renamed():
            return "Kept by itself"
        case _:
            return _larger(plan)


def _larger(plan: SetOperation | Window | Generate | Top) -> str:
    match plan:
        case SetOperation(_, _, is_except, copies):
            return ("Except" if is_except else "Intersect") + (" all" if copies else "")
        case Window(_, items):
            return f"Window {_items(items)}"
        case Generate(_, call, alias, names):
            return f"Generate {alias}({', '.join(names)}) = {call.sql(dialect='spark')}"
        case Top(_, order, limit, offset):
            by = ", ".join(key.sql(dialect="spark") for key in order)
            return f"Top {limit}" + (f" after {offset}" if offset else "") + (f" by {by}" if by else "")


def _items(items: tuple[Item, ...]) -> str:
    return ", ".join(
        item.name
        if item.expression.sql() == item.name
        else f"{item.name} = {item.expression.sql(dialect='spark')}"
        for item in items
    )
