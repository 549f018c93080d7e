"""`x > ALL (SELECT ...)` and `x = ANY (SELECT ...)` are written as EXISTS, which is what they mean.

ANY is TRUE if one row meets the comparison, ALL if none fails it. Where a condition is asked, that is all there is to
know; inside an expression a comparison with NULL leaves the answer open.

a.k > ALL (SELECT b.n FROM b)   becomes   NOT EXISTS (SELECT 1 FROM b WHERE NOT (a.k > b.n) IS TRUE)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from sqlglot import exp

from headwater.schema import RESERVED_PREFIX
from headwater.sql.calls import aggregates
from headwater.sql.free_columns import own_sources

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ)
_CLAUSES = (exp.Where, exp.Having, exp.Join, exp.Qualify)


def write_out_quantified(query: exp.Query) -> None:
    """Replace the quantified comparisons of a bound query."""
    numbers = itertools.count(1)
    for node in list(query.find_all(exp.Any, exp.All)):
        comparison = node.parent
        if isinstance(node.this.unnest(), exp.Query) and isinstance(comparison, _COMPARISONS):
            comparison.replace(_written(comparison, node, f"{RESERVED_PREFIX}quantified{next(numbers)}"))


def _written(comparison: exp.Binary, node: exp.SubqueryPredicate, alias: str) -> exp.Expr:
    query = node.this.unnest()
    turned = node is comparison.this
    value = comparison.expression if turned else comparison.this

    def meets(one: exp.Expr) -> exp.Expr:
        sides = (one, value) if turned else (value, one)
        return type(comparison)(this=sides[0].copy(), expression=sides[1].copy())

    is_all = isinstance(node, exp.All)
    if _is_asked(comparison):
        if not is_all:
            return _exists(query, value, alias, meets)
        return exp.not_(_exists(query, value, alias, lambda one: _is_not(meets(one), exp.true())))
    decided = _exists(
        query, value, alias, lambda one: exp.not_(exp.paren(meets(one))) if is_all else meets(one)
    )
    is_open = _exists(
        query, value, alias, lambda one: exp.Is(this=exp.paren(meets(one)), expression=exp.null())
    )
    cases = exp.case().when(decided, exp.Boolean(this=not is_all)).when(is_open, exp.null())
    return exp.paren(cases.else_(exp.Boolean(this=is_all)))


def _is_asked(node: exp.Expr) -> bool:
    """True if all that counts is whether a comparison is true: no NOT and no function stands above it."""
    above = node.parent
    while isinstance(above, exp.And | exp.Or | exp.Paren):
        above = above.parent
    return isinstance(above, _CLAUSES)


def _is_captured(value: exp.Expr, query: exp.Query) -> bool:
    """True if a name of the value means something else inside the query."""
    return bool({column.table for column in value.find_all(exp.Column)} & own_sources(query))


def _exists(
    query: exp.Query, value: exp.Expr, alias: str, condition: Callable[[exp.Expr], exp.Expr]
) -> exp.Exists:
    """EXISTS with a condition on the one column of a query."""
    if isinstance(query, exp.Select) and _is_plain(query) and not _is_captured(value, query):
        made = query.copy()
        item = made.selects[0].unalias()
        made.set("expressions", [exp.Literal.number(1)])
    else:
        (name,) = query.named_selects
        made = exp.select("1").from_(query.copy().subquery(alias))
        item = exp.column(name, alias)
    return exp.Exists(this=made.where(condition(item), copy=False))


def _is_plain(select: exp.Select) -> bool:
    """True if a condition on its column may as well be asked of the rows it is made from."""
    if any(select.args.get(clause) for clause in ("group", "having", "limit", "offset", "qualify")):
        return False
    return not aggregates(select) and not select.find(exp.Window)


def _is_not(condition: exp.Expr, answer: exp.Expr) -> exp.Expr:
    return exp.not_(exp.Is(this=exp.paren(condition), expression=answer))
