"""Columns of a subquery that belong to the query around it."""

from __future__ import annotations

from sqlglot import exp


def own_sources(query: exp.Query) -> set[str]:
    """The names that a SELECT's own FROM, joins and LATERAL VIEWs give."""
    if not isinstance(query, exp.Select):
        return set()
    first = query.args.get("from_")
    sources = [first.this] if first is not None else []
    sources += [join.this for join in query.args.get("joins") or []]
    sources += query.args.get("laterals") or []
    return {source.alias_or_name for source in sources}


def free_columns(node: exp.Expr) -> list[exp.Column]:
    """The columns in a tree that no query inside it explains.

    In `SELECT i.x FROM items i WHERE i.id = o.item` that is `o.item`.
    """
    return [column for column in node.find_all(exp.Column) if is_free(column, node)]


def is_free(column: exp.Column, top: exp.Expr) -> bool:
    """True if no query between a column and the top of a tree explains it; one without a table is an output's name."""
    if not column.table:
        return False
    above: exp.Expr | None = column
    sees = True
    while above is not None:
        if isinstance(above, exp.Select):
            if sees and column.table in own_sources(above):
                return False
            sees = True
        if above is top:
            return True
        sees = sees and not _is_apart(above)
        above = above.parent
    return True


def _is_apart(node: exp.Expr) -> bool:
    """True for a derived table or a query of WITH: it does not see the tables beside which it stands."""
    is_derived = isinstance(node, exp.Subquery) and isinstance(node.parent, exp.From | exp.Join)
    return isinstance(node, exp.CTE) or (is_derived and node.arg_key == "this")


def inner_query(node: exp.Expr, top: exp.Expr) -> exp.Query | None:
    """The query inside a tree that a node stands in, None if it stands in none."""
    above = node.parent if node is not top else None
    while above is not None:
        if isinstance(above, exp.Query) and above is not top and not isinstance(above, exp.Subquery):
            return above
        if above is top:
            return None
        above = above.parent
    return None


def has_subquery(node: exp.Expr) -> bool:
    """True if a query stands in an expression."""
    return node.find(exp.Query) is not None
