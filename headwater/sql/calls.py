"""The aggregate calls and window functions of a SELECT: its own, not those of queries inside it."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

ANONYMOUS_AGGREGATES = frozenset(
    [
        "try_sum",
        "try_avg",
        "every",
        "some",
        "any",
        "std",
        "stddev_samp",
        "histogram_numeric",
        "kurtosis",
        "skewness",
        "regr_avgx",
        "regr_avgy",
        "regr_count",
        "regr_intercept",
        "regr_r2",
        "regr_slope",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "percentile",
        "percentile_approx",
        "percentile_cont",
        "percentile_disc",
        "listagg",
        "string_agg",
        "count_min_sketch",
        "bitmap_construct_agg",
        "bitmap_or_agg",
        "hll_sketch_agg",
        "hll_union_agg",
        "schema_of_json_agg",
        "product",
        "approx_top_k",
        "kll_merge_agg_bigint",
        "kll_merge_agg_double",
        "kll_merge_agg_float",
        "kll_sketch_agg_bigint",
        "kll_sketch_agg_double",
        "kll_sketch_agg_float",
        "theta_intersection_agg",
        "theta_sketch_agg",
        "theta_union_agg",
    ]
)
"""Aggregates of Spark that the parser takes for ordinary functions."""

_WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def is_aggregate(node: exp.Expr) -> bool:
    """True for the call of an aggregate."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in ANONYMOUS_AGGREGATES
    # GROUPING tells of the group itself, not of its rows.
    return isinstance(node, exp.AggFunc) and not isinstance(node, exp.Grouping | exp.GroupingId)


def without_null_counts(expression: exp.Expr) -> exp.Expr:
    """The same with what is known of counts: none is NULL. Who asks for it does not want it counted for that.

    Spark knows it too, and leaves out a count that is asked for nothing else, which may be one that it cannot plan.
    """

    def known(node: exp.Expr) -> exp.Expr:
        if not (isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)):
            return node
        call = node.this.unnest()
        return exp.false() if is_count(call.this if isinstance(call, exp.Filter) else call) else node

    return expression.transform(known)


def is_count(call: exp.Expr) -> bool:
    """True for an aggregate that is 0, not NULL, of no rows."""
    return isinstance(call, exp.Count | exp.CountIf | exp.ApproxDistinct | exp.RegrCount)


def own(select: exp.Select, clauses: Iterable[exp.Expr | None]) -> list[exp.Expr]:
    """The nodes of some clauses of a SELECT, without those of the queries inside them."""
    return [node for clause in clauses if clause is not None for node in walk(clause)]


def walk(clause: exp.Expr) -> Iterable[exp.Expr]:
    """The nodes of an expression; a query inside it is one node."""
    yield from clause.walk(prune=lambda node: isinstance(node, exp.Query))


def calls_in(clauses: Iterable[exp.Expr]) -> list[exp.Expr]:
    """The aggregate calls of some expressions, each with its FILTER and the like, outermost ones only."""
    found: list[exp.Expr] = []
    for clause in clauses:
        for node in walk(clause):
            if is_aggregate(node) and not _is_window_function(node) and not _inside_call(node, clause):
                found.append(_whole(node))
    return found


def aggregates(select: exp.Select) -> list[exp.Expr]:
    """The aggregate calls of a SELECT's list, HAVING, QUALIFY and ORDER BY."""
    late = [select.args.get(clause) for clause in ("having", "qualify", "order")]
    return calls_in([*select.selects, *[clause for clause in late if clause is not None]])


def windows_in(clauses: Iterable[exp.Expr]) -> list[exp.Window]:
    """The window functions of some expressions."""
    return [node for clause in clauses for node in walk(clause) if isinstance(node, exp.Window)]


def _whole(call: exp.Expr) -> exp.Expr:
    while isinstance(call.parent, _WRAPPERS) and call.parent.this is call:
        call = call.parent
    return call


def _is_window_function(call: exp.Expr) -> bool:
    """True for the function of `f(x) OVER (...)` itself; what stands in its arguments is no such."""
    whole = _whole(call)
    return isinstance(whole.parent, exp.Window) and whole.parent.this is whole


def _inside_call(node: exp.Expr, clause: exp.Expr) -> bool:
    above = node.parent if node is not clause else None
    while above is not None:
        if is_aggregate(above) and not _is_window_function(above):
            return True
        above = above.parent if above is not clause else None
    return False
