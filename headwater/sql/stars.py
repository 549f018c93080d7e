"""Stars inside of calls are written out, which the binder does in select lists only.

SELECT TO_JSON(STRUCT(o.*)) FROM orders o   becomes   SELECT TO_JSON(STRUCT(o.id AS id, o.total AS total)) FROM orders o
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from headwater.plan.walk import table_name
from headwater.sql.catalog import Relation


def write_out_stars(query: exp.Query, relations: Sequence[Relation]) -> None:
    """Replace the stars in the calls of a bound query by the columns that they stand for."""
    known = {relation.name.lower(): relation for relation in relations}
    for scope in traverse_scope(query):
        for star in list(scope.find_all(exp.Star)):
            whole = star.parent if isinstance(star.parent, exp.Column) else star
            of_all = isinstance(whole.parent, exp.Count) and whole is star
            if isinstance(whole.parent, exp.Func | exp.Distinct) and not of_all:
                asked = [whole.table] if isinstance(whole, exp.Column) else list(scope.selected_sources)
                _put(whole, {c: n for alias in asked for c, n in _columns(alias, scope, known).items()})


def _columns(alias: str, scope: Scope, known: dict[str, Relation]) -> dict[exp.Column, str]:
    """The columns of a source, each with its name as it was declared."""
    source = scope.sources.get(alias)
    names: Sequence[str] = ()
    if isinstance(source, exp.Table):
        relation = known.get(table_name(source).lower())
        names = relation.columns if relation is not None else ()
    elif isinstance(source, Scope) and isinstance(source.expression, exp.Query | exp.UDTF):
        names = [item.alias_or_name for item in source.expression.selects]
    return {exp.column(name.lower(), alias): name for name in names}


def _put(star: exp.Expr, names: Mapping[exp.Column, str]) -> None:
    """Columns in the place of a star; without any it stays, and Spark says what is wrong with it."""
    above, columns = star.parent, list(names)
    assert above is not None
    if not columns:
        return
    if isinstance(above, exp.Count):
        above.set("this", columns[0])
        above.set("expressions", columns[1:])
        return
    made: list[exp.Expr] = list(columns)
    if isinstance(above, exp.Struct):
        made = [exp.PropertyEQ(this=exp.to_identifier(name), expression=c) for c, name in names.items()]
    assert star.arg_key is not None
    above.set(star.arg_key, made, star.index)
