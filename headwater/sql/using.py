"""Columns of JOIN ... USING, where the binder leaves something open.

In a HAVING clause they are written out, which the binder does everywhere else:
>>> SELECT MAX(s) FROM a LEFT JOIN b USING (s) HAVING MAX(s) > 'x'
HAVING MAX(COALESCE(a.s, b.s)) > 'x'

The next join meets what the joins before it made of the column, not that of the first table:
>>> SELECT s FROM a FULL JOIN b USING (s) FULL JOIN c USING (s)
FROM a FULL JOIN b ON a.s = b.s FULL JOIN c ON COALESCE(a.s, b.s) = c.s
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from headwater.sql.calls import calls_in, walk

_NAME = "__hw_using_"
_SHARES = "shares columns"
"""The note on a join that it was written with USING, or NATURAL."""


def note_using(query: exp.Query) -> None:
    """Note which joins share columns, before they are written with ON."""
    for join in query.find_all(exp.Join):
        join.meta[_SHARES] = bool(join.args.get("using")) or join.method == "NATURAL"


def join_on_shared(query: exp.Query) -> None:
    """Let each of these joins meet the shared columns as they are where it stands."""
    for select in query.find_all(exp.Select):
        shared: dict[str, exp.Expr] = {}
        for join in select.args.get("joins") or []:
            on = join.args.get("on") if join.meta.get(_SHARES) else None
            for same in [] if on is None else list(on.flatten()) if isinstance(on, exp.And) else [on]:
                name, own = same.expression.name, same.expression
                if name in shared:
                    same.set("this", shared[name].copy())
                both = exp.func("COALESCE", same.this.copy(), own.copy())
                shared[name] = {"RIGHT": own, "FULL": both}.get(join.side.upper(), same.this)


def write_out_using(query: exp.Query, qualified: Callable[[exp.Query], exp.Query]) -> None:
    """Put what a select list would make of such columns into their place."""
    asked = [(select, column) for select in query.find_all(exp.Select) for column in _late_columns(select)]
    if not asked:
        return
    for number, (select, column) in enumerate(asked):
        select.append("expressions", exp.alias_(column.copy(), f"{_NAME}{number}"))
    bound = qualified(query.copy())
    for select, _ in asked:
        select.expressions.pop()
    # Queries come before those inside them: the last of a name is where it was asked for.
    meant = {item.alias: item.this for select in bound.find_all(exp.Select) for item in select.selects}
    for number, (_, column) in enumerate(asked):
        made = meant[f"{_NAME}{number}"].copy()
        if isinstance(column.parent, exp.Struct):
            made = exp.PropertyEQ(this=exp.to_identifier(column.name), expression=made)
        column.replace(made)


def _late_columns(select: exp.Select) -> Iterator[exp.Column]:
    """The bare columns of HAVING that mean no output column, where some are shared by two tables."""
    having = select.args.get("having")
    joins = select.args.get("joins") or []
    if having is None or not any(join.args.get("using") or join.method == "NATURAL" for join in joins):
        return
    inside = {id(node) for call in calls_in([having.this]) for node in walk(call)}
    outputs = {name.lower() for name in select.named_selects}
    bare = [node for node in walk(having.this) if isinstance(node, exp.Column) and not node.table]
    yield from (column for column in bare if id(column) in inside or column.name.lower() not in outputs)
