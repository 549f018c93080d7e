"""A plan as an indented tree for people."""

from __future__ import annotations

from headwater.plan.nodes import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Item,
    Join,
    Opaque,
    Plan,
    Project,
    Scan,
    Union,
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
        case Join(_, _, condition):
            return f"Join on {condition.sql(dialect='spark')}" if condition is not None else "Join all pairs"
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
        case Opaque():
            return f"Query run as it stands, because of {plan.reason}"


def _items(items: tuple[Item, ...]) -> str:
    return ", ".join(
        item.name
        if item.expression.sql() == item.name
        else f"{item.name} = {item.expression.sql(dialect='spark')}"
        for item in items
    )
