"""Ties are decided: where a query leaves the order of rows open, the rest of the row decides.

ROW_NUMBER() OVER (ORDER BY total) gives equal totals their numbers in any order, and another one each time it is run.
A maintained result has to be the same each time, so what tells the rows apart is added to the order: the key of each
table, or all columns of what has none.

SELECT id FROM orders ORDER BY total LIMIT 3   becomes   SELECT id FROM orders ORDER BY total, id LIMIT 3
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from headwater.plan.walk import table_name
from headwater.sql.calls import windows_in
from headwater.sql.catalog import Relation

_BY_PLACE = (
    exp.RowNumber,
    exp.Lag,
    exp.Lead,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
    exp.Ntile,
    exp.First,
    exp.Last,
    exp.ArrayAgg,
)
"""Window functions that count places among rows, also among equal ones."""

_NO_ORDER = ("map", "variant", "geometry", "geography")
"""Types, or parts of them, that cannot be put in order."""


def decide_ties(query: exp.Query, relations: Sequence[Relation]) -> None:
    """Complete the orders of a bound query that depend on the order of equal rows."""
    known = {relation.name.lower(): relation for relation in relations}
    for scope in traverse_scope(query):
        node = scope.expression
        if isinstance(node, exp.Select):
            for window in windows_in([*node.selects, *filter(None, [node.args.get("qualify")])]):
                if _counts_places(window):
                    _add(window, _telling(node, scope, known))
        if isinstance(node, exp.Query) and (node.args.get("limit") or node.args.get("offset")):
            _add(node, [exp.column(name) for name in node.named_selects])


def _counts_places(window: exp.Window) -> bool:
    function = window.this
    while isinstance(function, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        function = function.this
    spec = window.args.get("spec")
    has_rows = spec is not None and str(spec.args.get("kind", "")).upper() == "ROWS"
    return isinstance(function, _BY_PLACE) or (has_rows and window.args.get("order") is not None)


def _telling(select: exp.Select, scope: Scope, known: dict[str, Relation]) -> list[exp.Column]:
    """The columns that tell the rows of a SELECT apart where its windows are computed."""
    group = select.args.get("group")
    if group is not None:
        return [e.copy() for e in group.expressions if isinstance(e, exp.Column)]
    found: list[exp.Column] = []
    for alias, source in scope.selected_sources.items():
        found += [exp.column(name, alias) for name in _names(source[1], known)]
    return found


def _names(source: exp.Expr | Scope, known: dict[str, Relation]) -> Iterable[str]:
    if isinstance(source, exp.Table):
        relation = known.get(table_name(source).lower())
        if relation is None:
            return ()
        if relation.schema.key:
            return [name.lower() for name in relation.schema.key]
        return [c.name.lower() for c in relation.schema if not any(word in c.type for word in _NO_ORDER)]
    if isinstance(source, Scope) and isinstance(source.expression, exp.Query):
        return source.expression.named_selects
    return ()


def _add(node: exp.Expr, columns: list[exp.Column]) -> None:
    """Columns at the end of an order, those that are not in it yet."""
    order = node.args.get("order")
    if order is None:
        order = exp.Order(expressions=[])
        node.set("order", order)
    present = {key.this for key in order.expressions}
    bare = {key.name for key in present if isinstance(key, exp.Column) and not key.table}
    for column in columns:
        if column not in present and column.name not in bare:
            order.append("expressions", exp.Ordered(this=column.copy(), nulls_first=True))
