"""Whether what a statement finds depends on the order of its rows, which only one task of a cluster keeps.

Statements bring rows in an order below aggregates, so that the same rows always give the same floating sums and lists. To
a count, a greatest value or the sum of exact numbers it is all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

_ONE_WAY = (exp.Count, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr)
"""Aggregates that give the same whatever the order of the rows."""

_ADDING: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Sum: ("tinyint", "smallint", "int", "bigint", "decimal"),
    # Spark adds up whole numbers for an average as floating ones, which are exact below 2**53: two of BIGINT may pass it.
    exp.Avg: ("tinyint", "smallint", "int", "decimal"),
}
"""Aggregates that do so for exact numbers, and the types of these."""

_FURTHER = ("joins", "laterals", "having", "qualify", "order")
"""What reads rows too, or what other aggregates may stand in."""

_READ = (exp.From, exp.Join)

Types = Callable[[exp.Query], Sequence[str]]


def needs_order(query: exp.Query, types: Types) -> bool:
    """True if some rows are brought in an order on which the answer depends; `types` tells the columns of a query.

    >>> needs_order(parse_one("SELECT k, MAX(v) FROM (SELECT * FROM t ORDER BY k) p GROUP BY k"), types)
    False
    """
    ordered = [node for node in query.find_all(exp.Query) if node.args.get("order")]
    return any(not _is_idle(node, types) for node in ordered)


def _is_idle(ordered: exp.Query, types: Types) -> bool:
    """True if rows are only brought in order for aggregates to which it is all the same."""
    outer = ordered.parent_select
    if outer is None or not isinstance(ordered.parent, exp.Subquery):
        return False
    if any(ordered.args.get(word) for word in ("limit", "offset")) or not _stands_alone(ordered):
        return False
    if any(outer.args.get(word) for word in _FURTHER):
        return False
    # What has no name here may be any aggregate. (The order of a window is complete by itself.)
    if any(item.find(exp.Anonymous) for item in outer.expressions):
        return False
    calls = [call for item in outer.expressions for call in item.find_all(exp.AggFunc)]
    adding = [call for call in calls if not isinstance(call, _ONE_WAY)]
    if not calls or any(type(call) not in _ADDING for call in adding):
        return False
    if not adding:
        return True
    names, kinds = ordered.named_selects, types(ordered)
    known = dict(zip(names, kinds, strict=True)) if len(names) == len(kinds) else {}
    return all(_is_exact(call, known) for call in adding)


def _is_exact(call: exp.AggFunc, known: Mapping[str, str]) -> bool:
    if not isinstance(call.this, exp.Column):
        return False
    return known.get(call.this.name, "").partition("(")[0] in _ADDING[type(call)]


def _stands_alone(ordered: exp.Query) -> bool:
    """True if it would mean the same by itself: it reads no names that are only given where it stands."""
    node: exp.Expr = ordered
    while (above := node.parent) is not None:
        if above.args.get("with_") or above.args.get("with"):
            return False
        if not isinstance(node, _READ) and not isinstance(above, (*_READ, exp.Subquery, exp.SetOperation)):
            return False
        node = above
    return True
