"""What stands above an aggregate or the first rows of something, in terms of what is below."""

from __future__ import annotations

from sqlglot import exp

from headwater.incremental.block import Group
from headwater.incremental.tree_sql import Environment, substituted
from headwater.plan.nodes import Aggregate, Alias, Distinct, Filter, Item, Plan, Project, Top, output
from headwater.plan.push import conjuncts


def bottom(plan: Plan) -> Plan:
    """The first node below any Project, Filter and Alias."""
    while isinstance(plan, Project | Filter | Alias):
        plan = plan.input
    return plan


def below_projections(plan: Plan) -> Plan:
    """The first node below any Project and Alias."""
    while isinstance(plan, Project | Alias):
        plan = plan.input
    return plan


def wanted(aggregate: Aggregate) -> tuple[tuple[Item, ...], Group]:
    """What an aggregate wants of its input, key by key and column by column, and the aggregate over that."""
    used = [c for m in aggregate.measures for c in m.expression.find_all(exp.Column)]
    arguments = {c: f"a{i}" for i, c in enumerate(dict.fromkeys(used))}
    asked = tuple(Item(f"k{i}", key.expression) for i, key in enumerate(aggregate.keys))
    asked += tuple(Item(n, column) for column, n in arguments.items())
    inner: Environment = {(c.table, c.name): exp.column(n) for c, n in arguments.items()}
    measures = tuple(Item(m.name, substituted(m.expression, inner)) for m in aggregate.measures)
    return asked, Group(tuple(f"k{i}" for i in range(len(aggregate.keys))), measures)


def peel(plan: Plan) -> tuple[Aggregate, tuple[exp.Expr, ...], Environment]:
    """The aggregate at the bottom, and conditions and columns above it in terms of its output."""
    match plan:
        case Project(below, items):
            bottom, conditions, known = peel(below)
            made = {("", i.name): substituted(i.expression, known) for i in items}
            return bottom, conditions, made
        case Filter(below, condition):
            bottom, conditions, known = peel(below)
            return bottom, (*conditions, *conjuncts(substituted(condition, known))), known
        case Alias(below, alias):
            bottom, conditions, known = peel(below)
            return bottom, conditions, {(alias, name): e for (_, name), e in known.items()}
        case Distinct(below):
            keys = tuple(Item(name, exp.column(name, table="d")) for name in output(below))
            plan = Aggregate(Alias(below, "d"), keys, ())
    assert isinstance(plan, Aggregate)
    return plan, (), {("", name): exp.column(name) for name in output(plan)}


def above(plan: Plan, top: Top, names: Environment) -> dict[str, exp.Expr]:
    """The output columns of a plan of projections above the first rows."""
    match plan:
        case Project(below, items):
            known = _keyed(below, top, names)
            return {i.name: substituted(i.expression, known) for i in items}
    return {name: e for (_, name), e in _keyed(plan, top, names).items()}


def _keyed(plan: Plan, top: Top, names: Environment) -> Environment:
    match plan:
        case Project():
            return {("", n): e for n, e in above(plan, top, names).items()}
        case Alias(below, alias):
            return {(alias, n): e for (_, n), e in _keyed(below, top, names).items()}
    return names
