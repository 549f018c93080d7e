"""Lists of a group's texts: LISTAGG and STRING_AGG."""

from __future__ import annotations

from sqlglot import exp

from headwater.sql.functions.trees import call, case, counted, number, text

_CALLED = "listagg"
"""Where the arguments of a LISTAGG are noted, should an order stand behind it."""


def list_agg(arguments: list[exp.Expr]) -> exp.Expr:
    """LISTAGG: a group has no order of its own, so the texts are in their own order; NULL if there are none."""
    value, separator = _list_of(arguments)
    made = _listed(value, separator or text(","), descends=False)
    made.meta[_CALLED] = [argument.copy() for argument in arguments]
    return made


def in_its_order(node: exp.WithinGroup) -> exp.Expr:
    """LISTAGG(...) WITHIN GROUP (ORDER BY ...) has an order: Spark's own call keeps it."""
    arguments = node.this.meta.get(_CALLED)
    if arguments is None:
        return node
    value, separator = _list_of(arguments)
    made = _without_order(node, value, separator, node.expression.expressions)
    if made is None:
        node.set("this", call("listagg", *arguments))
    return made or node


def string_agg(node: exp.GroupConcat) -> exp.Expr:
    """STRING_AGG: nothing stands between the texts unless it is said; the library would put a comma there."""
    separator = node.args.get("separator") or text("")
    node.set("separator", separator)
    if not isinstance(node.this, exp.Order):
        return node
    return _without_order(node, node.this.this, separator, node.this.expressions) or node


def _without_order(
    node: exp.Expr, value: exp.Expr, separator: exp.Expr | None, order: list[exp.Expr]
) -> exp.Expr | None:
    """Beside DISTINCT Spark may not be able to plan a call with an order. Texts in their own order need none."""
    bare = value.expressions[0] if isinstance(value, exp.Distinct) else value
    select = node.find_ancestor(exp.Select)
    if select is None or len(order) != 1 or order[0].this.unnest() != bare.unnest():
        return None
    if not any(isinstance(one.parent, exp.Func) for one in select.find_all(exp.Distinct)):
        return None
    return _listed(value, separator or text(""), descends=bool(order[0].args.get("desc")))


def _list_of(arguments: list[exp.Expr]) -> tuple[exp.Expr, exp.Expr | None]:
    """What is listed, with its DISTINCT, and what stands between; the parser takes all behind DISTINCT for its own."""
    first = arguments[0] if arguments else None
    if not isinstance(first, exp.Distinct):
        value, separator = counted("LISTAGG", arguments, 1, 2)
        assert value is not None
        return value, separator
    value, separator = counted("LISTAGG", first.expressions, 1, 2)
    assert value is not None
    return exp.Distinct(expressions=[value.copy()]), separator


def _listed(value: exp.Expr, separator: exp.Expr, *, descends: bool) -> exp.Expr:
    """Texts in their own order; NULL if there are none."""
    gathered: exp.Expr = exp.ArrayAgg(this=value.copy())
    if isinstance(value, exp.Distinct):
        gathered = exp.ArrayUniqueAgg(this=value.expressions[0].copy())
    in_order = call("sort_array", gathered, *([exp.false()] if descends else []))
    has_some = exp.GT(this=call("size", gathered), expression=number(0))
    return case((has_some, call("array_join", in_order, separator.copy())))
