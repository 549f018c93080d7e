"""Subqueries in expressions become joins.

`WHERE EXISTS (SELECT 1 FROM items i WHERE i.order = o.id)` is a semi join of `o` with `items`; a scalar subquery is the
value of a group that is joined from the left. What is tied together by more than equalities, where equalities are
needed, is left to a recompute.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.plan.nodes import Alias, Filter, Join, JoinKind, Plan
from headwater.plan.push import conjuncts
from headwater.plan.reasons import NotMaintained, Reason
from headwater.schema import RESERVED_PREFIX
from headwater.sql.compared import parts_of
from headwater.sql.free_columns import free_columns, has_subquery
from headwater.sql.inner_query import (
    FLAG,
    MANY,
    VALUE,
    Inner,
    facts,
    found,
    is_one_row,
    refuse_conversion,
    rows,
    value,
)

_SEVERAL = exp.func(
    "RAISE_ERROR", exp.Literal.string("a subquery that stands for one value has several rows")
)


@dataclass(frozen=True)
class Attached:
    """A relation that a subquery became, and how it joins the query around it."""

    plan: Plan
    condition: exp.Expr | None
    kind: JoinKind

    def to(self, plan: Plan) -> Plan:
        """The plan with it."""
        return Join(plan, self.plan, self.condition, self.kind)


@dataclass
class Subqueries:
    """Takes subqueries out of the expressions of one query; `plan` plans what they select."""

    plan: Callable[[exp.Query], Plan]
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def filtered(self, plan: Plan, condition: exp.Expr) -> Plan:
        """The rows of a plan for which a condition is true."""
        for part in conjuncts(_inward(condition.copy())):
            plan = self._met(plan, part.unnest())
        return plan

    def lifted(self, expression: exp.Expr) -> tuple[list[Attached], exp.Expr]:
        """What has to be joined, and the expression with columns of that in place of its subqueries."""
        attached: list[Attached] = []

        def swap(node: exp.Expr) -> exp.Expr:
            match node:
                case exp.Exists() if isinstance(node.this, exp.Query):
                    return self._exists(_query(node.this), attached)
                case exp.Not() if isinstance(inside := node.this.unnest(), exp.In) and inside.args.get(
                    "query"
                ):
                    return self._not_in(inside, attached)
                case exp.In() if node.args.get("query"):
                    return self._in(node, attached)
                case exp.Subquery() | exp.Select() | exp.SetOperation():
                    return self._scalar(_query(node), attached)
            return node

        return attached, _inward(expression.copy()).transform(swap)

    def _met(self, plan: Plan, condition: exp.Expr) -> Plan:
        if not has_subquery(condition):
            return Filter(plan, condition)
        negated = isinstance(condition, exp.Not)
        inside = condition.this.unnest() if negated else condition
        match inside:
            case exp.Exists() if free_columns(_query(inside.this)):
                kind = JoinKind.ANTI if negated else JoinKind.SEMI
                return self._attached(rows(_query(inside.this), self._alias(), ()), kind).to(plan)
            case exp.In() if inside.args.get("query") and not has_subquery(inside.this):
                return self._met_in(plan, inside, negated=negated)
        attached, met = self.lifted(condition)
        for one in attached:
            plan = one.to(plan)
        return Filter(plan, met)

    def _met_in(self, plan: Plan, node: exp.In, *, negated: bool) -> Plan:
        query, values = _query(node.args["query"]), _values(node)
        names = [f"{VALUE}{i}" for i in range(len(values))]
        made = rows(query, self._alias(), names)
        pairs = [(v, made.column(n)) for v, n in zip(values, names, strict=True)]
        same: list[exp.Expr] = [exp.EQ(this=v.copy(), expression=c) for v, c in pairs]
        if not negated:
            return self._attached(made, JoinKind.SEMI, *same).to(plan)
        if len(values) == 1 and not free_columns(query):
            # An anti join, and two booleans of the whole other side: nothing is in it, a NULL is in it.
            plan = self._attached(made, JoinKind.ANTI, *same).to(plan)
            known = facts(query, self._alias())
            plan = self._attached(known, JoinKind.INNER).to(plan)
            sure = exp.and_(exp.not_(_is_null(values[0])), exp.not_(known.column("has_null")))
            return Filter(plan, exp.or_(known.column("is_empty"), sure))
        # The row stays only if it surely differs from every other: NULL is not sure.
        open_ = [exp.or_(e, _is_null(v), _is_null(c)) for e, (v, c) in zip(same, pairs, strict=True)]
        return self._attached(made, JoinKind.ANTI, *open_).to(plan)

    def _exists(self, query: exp.Query, attached: list[Attached]) -> exp.Expr:
        if not free_columns(query):
            counted = exp.select("COUNT(*) > 0 AS is_there").from_(query.copy().subquery("r"))
            made = Inner(counted, self._alias())
            attached.append(self._attached(made, JoinKind.INNER))
            return made.column("is_there")
        made = found(query, self._alias(), ())
        attached.append(self._attached(made, JoinKind.LEFT))
        return exp.paren(exp.not_(_is_null(made.column(FLAG))))

    def _in(self, node: exp.In, attached: list[Attached]) -> exp.Expr:
        """TRUE if it is there, else FALSE; as in Spark, a NULL leaves nothing open where no condition is asked."""
        query, value = _query(node.args["query"]), _value(node)
        for part in parts_of(query):
            refuse_conversion(part.selects[0].unalias(), value)
        made = found(query, self._alias(), [VALUE])
        same = exp.EQ(this=value.copy(), expression=made.column(VALUE))
        attached.append(self._attached(made, JoinKind.LEFT, same))
        return exp.paren(exp.not_(_is_null(made.column(FLAG))))

    def _not_in(self, node: exp.In, attached: list[Attached]) -> exp.Expr:
        """TRUE if it is surely not there, else FALSE."""
        query, value = _query(node.args["query"]), _value(node)
        is_there = self._in(node, attached)
        known = facts(query, self._alias())
        attached.append(self._attached(known, JoinKind.LEFT if free_columns(query) else JoinKind.INNER))
        # Where the ties lead to nothing there is no row of facts.
        empty = exp.func("COALESCE", known.column("is_empty"), exp.true())
        sure = exp.not_(exp.or_(is_there, _is_null(value), known.column("has_null")))
        return exp.paren(exp.or_(empty, sure))

    def _scalar(self, query: exp.Query, attached: list[Attached]) -> exp.Expr:
        if not free_columns(query) and is_one_row(query):
            (name,) = query.named_selects
            made = Inner(query, self._alias())
            attached.append(self._attached(made, JoinKind.INNER))
            return made.column(name)
        made, of_nothing = value(query, self._alias())
        attached.append(self._attached(made, JoinKind.LEFT if made.condition is not None else JoinKind.INNER))
        if of_nothing is None:
            # Only a row that asks for the value minds that there are several.
            return exp.func("IF", made.column(MANY), _SEVERAL.copy(), made.column(VALUE))
        if isinstance(of_nothing, exp.Null):
            return made.column(VALUE)
        missing = _is_null(made.column(FLAG))
        return exp.paren(exp.case().when(missing, of_nothing).else_(made.column(VALUE)))

    def _attached(self, inner: Inner, kind: JoinKind, *conditions: exp.Expr) -> Attached:
        parts = [*([inner.condition] if inner.condition is not None else []), *conditions]
        condition = exp.and_(*parts) if parts else None
        return Attached(Alias(self.plan(inner.query), inner.alias), condition, kind)

    def _alias(self) -> str:
        return f"{RESERVED_PREFIX}sub{next(self._numbers)}"


def _inward(node: exp.Expr) -> exp.Expr:
    """The same with NOT at the parts of AND and OR, as Spark has it before IN becomes a join.

    NOT (k IN (...) OR b)   asks for   k NOT IN (...) AND NOT b, of which a NULL leaves the first open.
    """
    if isinstance(node, exp.Query) or not has_subquery(node):
        return node
    if (asked := _without_constant(node)) is not node:
        return _inward(asked)
    inside = node.this.unnest() if isinstance(node, exp.Not) else None
    if isinstance(inside, exp.Not):
        return _inward(inside.this)
    if isinstance(inside, exp.And | exp.Or):
        turned = exp.or_ if isinstance(inside, exp.And) else exp.and_
        return exp.paren(turned(*[_inward(exp.not_(part)) for part in inside.flatten()]))
    for part in list(node.iter_expressions()):
        if (made := _inward(part)) is not part:
            part.replace(made)
    return node


def _without_constant(node: exp.Expr) -> exp.Expr:
    """`x = FALSE` and `x <> TRUE` as NOT x, `x = TRUE` and `x <> FALSE` as x, as Spark reads them."""
    if not isinstance(node, exp.EQ | exp.NEQ):
        return node
    sides = [node.this.unnest(), node.expression.unnest()]
    for asked, constant in (sides, sides[::-1]):
        if isinstance(constant, exp.Boolean) and isinstance(asked, exp.Predicate | exp.Not | exp.Connector):
            return asked if constant.this == isinstance(node, exp.EQ) else exp.not_(asked)
    return node


def _query(node: exp.Expr) -> exp.Query:
    while isinstance(node, exp.Subquery):
        node = node.this
    assert isinstance(node, exp.Query)
    return node


def _values(node: exp.In) -> list[exp.Expr]:
    """What IN compares: one value, or those of a row; each of them can be compared as it stands."""
    given = node.this.unnest()
    values = list(given.expressions) if isinstance(given, exp.Tuple) else [given]
    return [exp.paren(v) if isinstance(v, exp.Binary | exp.Predicate | exp.Not) else v for v in values]


def _value(node: exp.In) -> exp.Expr:
    """The one value that IN compares where its answer is part of an expression."""
    values = _values(node)
    if len(values) != 1 or has_subquery(values[0]):
        raise NotMaintained(Reason.SUBQUERY_PLACE)
    return values[0]


def _is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value.copy(), expression=exp.null())
