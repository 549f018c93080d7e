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
from headwater.sql.calls import aggregates, windows_in
from headwater.sql.catalog import Relation
from headwater.sql.from_clause import makes_rows
from headwater.sql.grouping import is_special, keys_of

_BY_PLACE = (exp.RowNumber, exp.Lag, exp.Lead, exp.Ntile)
"""Window functions that count places among rows, also among equal ones."""
_FIRST = (exp.FirstValue, exp.First)
_IN_FRAME = (*_FIRST, exp.LastValue, exp.NthValue, exp.Last, exp.ArrayAgg)
"""Those that count places within a frame: one by RANGE ends with the last of equal rows, wherever it stands."""

_EVERYTHING = exp.WindowSpec(
    kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="UNBOUNDED", end_side="FOLLOWING"
)

_MAPS = (exp.Map, exp.VarMap, exp.MapFromEntries, exp.StrToMap)
_MAP_CALLS = ("map_concat", "map_filter", "map_zip_with", "transform_keys", "transform_values")
"""Calls whose results cannot be put in order."""

_NO_ORDER = ("map", "variant", "geometry", "geography")
"""Types, or parts of them, that cannot be put in order."""


def decide_ties(query: exp.Query, relations: Sequence[Relation]) -> None:
    """Complete the orders of a bound query that depend on the order of equal rows."""
    known = {relation.name.lower(): relation for relation in relations}
    for scope in traverse_scope(query):
        node = scope.expression
        if isinstance(node, exp.Select):
            for window in windows_in([*node.selects, *filter(None, [node.args.get("qualify")])]):
                telling = _telling(node, scope, known)
                if telling and _is_whole(window) and isinstance(_function(window), _IN_FRAME):
                    # Whatever their order, all rows of the partition are meant.
                    window.set("spec", _EVERYTHING.copy())
                if _counts_places(window):
                    _add(window, telling)
        if isinstance(node, exp.Query) and (node.args.get("limit") or node.args.get("offset")):
            _add(node, _shown(node, scope, known))


def _shown(query: exp.Query, scope: Scope, known: dict[str, Relation]) -> list[exp.Expr]:
    """The output columns of a query: by name, or, if several have it, by what they are; without those of no order."""
    names = query.named_selects
    items = query.selects if isinstance(query, exp.Select) else []
    same = {i: item.unalias() for i, item in enumerate(items) if names.count(names[i]) > 1}
    maps = {i for i, item in enumerate(items) if _is_map(item.unalias(), scope, known)}
    return [
        same[i].copy() if i in same and same[i].find(exp.Column) else exp.column(name)
        for i, name in enumerate(names)
        if i not in maps
    ]


def _is_map(item: exp.Expr, scope: Scope, known: dict[str, Relation]) -> bool:
    """True for what cannot be put in order, as far as that can be told without Spark."""
    if not isinstance(item, exp.Column):
        return isinstance(item, _MAPS) or (
            isinstance(item, exp.Anonymous) and item.name.lower() in _MAP_CALLS
        )
    source = scope.sources.get(item.table)
    if isinstance(source, exp.Table):
        relation = known.get(table_name(source).lower())
        column = relation.schema.find(item.name) if relation is not None else None
        return column is not None and any(word in column.type for word in _NO_ORDER)
    if not isinstance(source, Scope) or not isinstance(source.expression, exp.Select):
        return False
    below = next((one for one in source.expression.selects if one.alias_or_name == item.name), None)
    return below is not None and _is_map(below.unalias(), source, known)


def _counts_places(window: exp.Window) -> bool:
    """True if the order of equal rows has a say, and can be decided without another frame."""
    function, spec = _function(window), window.args.get("spec")
    if isinstance(function, _BY_PLACE) or (spec is not None and spec.text("kind").upper() == "ROWS"):
        return True
    # Where a frame begins with the first row of all, that one is its first wherever it ends.
    begins = spec is None or spec.text("start").upper() == "UNBOUNDED"
    ends = spec is None or spec.text("end").upper() in ("", "CURRENT ROW", "UNBOUNDED")
    return isinstance(function, _FIRST) and window.this.unnest() is function and begins and ends


def _function(window: exp.Window) -> exp.Expr:
    function: exp.Expr = window.this
    while isinstance(function, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        function = function.this
    return function


def _is_whole(window: exp.Window) -> bool:
    """True if the frame is the whole partition."""
    spec = window.args.get("spec")
    is_range = spec is None or spec.text("kind").upper() != "ROWS"
    if is_range and window.args.get("order") is None:
        return True
    return spec is not None and all(spec.text(side).upper() == "UNBOUNDED" for side in ("start", "end"))


def _telling(select: exp.Select, scope: Scope, known: dict[str, Relation]) -> list[exp.Expr]:
    """What tells the rows of a SELECT apart where its windows are computed."""
    group = select.args.get("group")
    if group is not None:
        keys = [e.copy() for e in keys_of(group) if e.find(exp.Column)]
        # A key that is NULL is not one that its set leaves out.
        return [*keys, exp.GroupingId()] if is_special(group) else keys
    if select.args.get("having") or aggregates(select):
        return []  # of one row
    found: list[exp.Expr] = []
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
    if not isinstance(source, Scope) or not isinstance(source.expression, exp.Query | exp.UDTF):
        return ()
    keys = _keys(source.expression)
    return [item.alias_or_name for item in source.expression.selects] if keys is None else keys


def _keys(query: exp.Expr) -> list[str] | None:
    """The output columns that tell the rows of a grouped query apart; None if it is none, or does not show its keys.

    What is aggregated besides need not be computed for that: it may be more than Spark can plan.
    """
    if not isinstance(query, exp.Select) or any(
        makes_rows(node) for item in query.selects for node in item.walk()
    ):
        return None
    group = query.args.get("group")
    if group is None:
        return [] if query.args.get("having") or aggregates(query) else None
    shown = {item.unalias().unnest(): item.alias_or_name for item in query.selects}
    keys = keys_of(group)
    return None if is_special(group) or not all(key in shown for key in keys) else [shown[k] for k in keys]


def _add(node: exp.Expr, columns: Sequence[exp.Expr]) -> None:
    """Columns at the end of an order, those that are not in it yet."""
    if not columns:
        return
    order = node.args.get("order")
    if order is None:
        order = exp.Order(expressions=[])
        node.set("order", order)
    present = {key.this for key in order.expressions}
    bare = {key.name for key in present if isinstance(key, exp.Column) and not key.table}
    for column in columns:
        is_named = isinstance(column, exp.Column) and column.name in bare
        if column not in present and not is_named:
            order.append("expressions", exp.Ordered(this=column.copy(), nulls_first=True))
