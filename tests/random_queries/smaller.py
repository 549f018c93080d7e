"""Smaller queries: a query with one part less, the largest parts first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp, parse_one

Cut = Callable[[exp.Expr], bool]
"""Takes something away from a node of a tree; False if there is nothing of its sort."""

CLAUSES = (exp.Where, exp.Having, exp.Join, exp.Lateral)
FIRST_ROWS = ("order", "limit", "offset")


def smaller(sql: str) -> Iterator[str]:
    """Texts with one part less; not all of them are queries that Spark takes."""
    tree = parse_one(sql, dialect="spark")
    seen = {tree.sql(dialect="spark")}
    for text in [*_inner_queries(tree), *(text for cut in CUTS for text in _with_cut(tree, cut))]:
        if text not in seen:
            seen.add(text)
            yield text


def _inner_queries(tree: exp.Expr) -> Iterator[str]:
    """Each query inside of the query, alone."""
    for node in tree.find_all(exp.Select, exp.SetOperation):
        if node is not tree:
            yield node.sql(dialect="spark")


def _with_cut(tree: exp.Expr, cut: Cut) -> Iterator[str]:
    for place in range(sum(1 for _ in tree.walk())):
        copy = tree.copy()
        if cut(list(copy.walk())[place]):
            yield copy.sql(dialect="spark")


def _clause(node: exp.Expr) -> bool:
    if not isinstance(node, CLAUSES) or node.parent is None:
        return False
    node.pop()
    return True


def _first_rows(node: exp.Expr) -> bool:
    """ORDER BY goes with its LIMIT: without an order nobody knows which rows are the first."""
    if not isinstance(node, exp.Query) or not node.args.get("limit"):
        return False
    for clause in FIRST_ROWS:
        node.set(clause, None)
    return True


def _side(node: exp.Expr) -> bool:
    """The left side of a set operation, AND or OR."""
    if not isinstance(node, exp.Connector | exp.SetOperation) or node.parent is None:
        return False
    node.replace(node.this)
    return True


def _other_side(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Connector | exp.SetOperation) or node.parent is None:
        return False
    node.replace(node.expression)
    return True


def _last_item(node: exp.Expr) -> bool:
    return _without_item(node, -1)


def _first_item(node: exp.Expr) -> bool:
    return _without_item(node, 0)


def _without_item(node: exp.Expr, place: int) -> bool:
    if not isinstance(node, exp.Select) or len(node.expressions) < 2:
        return False
    node.expressions[place].pop()
    return True


def _distinct(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Select) or not node.args.get("distinct"):
        return False
    node.set("distinct", None)
    return True


def _filter(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Filter):
        return False
    node.replace(node.this)
    return True


def _item_itself(node: exp.Expr) -> bool:
    """A computed item becomes the first column in it."""
    column = node.this.find(exp.Column) if isinstance(node, exp.Alias) else None
    if column is None or column is node.this:
        return False
    node.set("this", column.copy())
    return True


CUTS: tuple[Cut, ...] = (
    _clause,
    _first_rows,
    _side,
    _other_side,
    _last_item,
    _first_item,
    _distinct,
    _filter,
    _item_itself,
)
