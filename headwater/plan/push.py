"""Conditions go as far down as they can: to one side of a join, or into the join they make.

Filter a.x = b.x AND a.y > 1 above Join(a, b)   becomes   Join(Filter(a, a.y > 1), b) on a.x = b.x
"""

from __future__ import annotations

from sqlglot import exp

from headwater.plan.nodes import Filter, Join, JoinKind, Plan, columns, inputs, with_inputs
from headwater.plan.walk import named_columns


def pushed(plan: Plan) -> Plan:
    """The same plan with every condition where it is met first."""
    if isinstance(plan, Filter):
        below: Plan = plan
        conditions: list[exp.Expr] = []
        while isinstance(below, Filter):
            # The one below is asked first: it may keep from the other what that cannot take, as k <> 0 from 1 / k.
            conditions = [*conjuncts(below.condition), *conditions]
            below = below.input
        return _with(pushed(below), conditions)
    if isinstance(plan, Join) and plan.condition is not None:
        return _settled(Join(pushed(plan.left), pushed(plan.right), plan.condition, plan.kind))
    return with_inputs(plan, tuple(pushed(part) for part in inputs(plan)))


def _settled(join: Join) -> Plan:
    """Conditions of ON that name one side only go to that side, where the kind of join lets them."""
    assert join.condition is not None
    left, right, rest = join.left, join.right, []
    for condition in conjuncts(join.condition):
        named = named_columns(condition)
        if join.kind is JoinKind.FULL or not named:
            rest.append(condition)
        elif named <= set(columns(right)):
            right = _with(right, [condition])
        elif named <= set(columns(left)) and join.kind in (JoinKind.INNER, JoinKind.SEMI):
            left = _with(left, [condition])
        else:
            rest.append(condition)
    return Join(left, right, exp.and_(*rest) if rest else None, join.kind)


def _with(plan: Plan, conditions: list[exp.Expr]) -> Plan:
    """A plan under conditions, each of them as deep as it may go."""
    stuck: list[exp.Expr] = []
    for condition in conditions:
        deeper = _pushed_into(plan, condition)
        if deeper is None:
            stuck.append(condition)
        else:
            plan = deeper
    return Filter(plan, exp.and_(*stuck)) if stuck else plan


def _pushed_into(plan: Plan, condition: exp.Expr) -> Plan | None:
    """The plan with a condition inside one of its joins; None if it has to stay above."""
    if isinstance(plan, Filter):
        deeper = _pushed_into(plan.input, condition)
        return None if deeper is None else Filter(deeper, plan.condition)
    if not isinstance(plan, Join):
        return None
    named = named_columns(condition)
    if named and named <= set(columns(plan.left)) and plan.kind is not JoinKind.FULL:
        return Join(_with(plan.left, [condition]), plan.right, plan.condition, plan.kind)
    if plan.kind is not JoinKind.INNER:
        return None
    if named and named <= set(columns(plan.right)):
        return Join(plan.left, _with(plan.right, [condition]), plan.condition, plan.kind)
    both = [*conjuncts(plan.condition), condition] if plan.condition is not None else [condition]
    return Join(plan.left, plan.right, exp.and_(*both), plan.kind)


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that all have to be true: those that AND joins, and what all sides of an OR ask for.

    (a.k = b.k AND a.x = 1) OR (a.k = b.k AND b.y = 2)   asks for   a.k = b.k
    """
    whole = condition.unnest()
    if isinstance(whole, exp.And):
        return [part for one in whole.flatten() for part in conjuncts(one)]
    return _factored(whole) if isinstance(whole, exp.Or) else [whole]


def _factored(whole: exp.Or) -> list[exp.Expr]:
    sides = [conjuncts(side) for side in whole.flatten()]
    common = [part for part in sides[0] if all(part in side for side in sides[1:])]
    if not common:
        return [whole]
    rests = [[part for part in side if part not in common] for side in sides]
    return [*common, exp.or_(*[exp.and_(*rest) for rest in rests])] if all(rests) else common
