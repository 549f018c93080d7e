"""Stars of rows, and stars inside of calls, are written out; the binder knows those of tables in select lists only.

SELECT TO_JSON(STRUCT(o.*)) FROM orders o   becomes   SELECT TO_JSON(STRUCT(o.id AS id, o.total AS total)) FROM orders o
SELECT address.* FROM orders   becomes   SELECT address.street AS street, address.town AS town FROM orders
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


def write_out_rows(query: exp.Query, relations: Sequence[Relation]) -> None:
    """Replace the stars of columns that hold rows, in select lists of a query that is not bound yet."""
    known = {relation.name.lower(): relation for relation in relations}
    for select in query.find_all(exp.Select):
        first = select.args.get("from_")
        sources = [*([first] if first is not None else []), *(select.args.get("joins") or [])]
        tables = [source.this for source in sources]
        taken = {one.alias_or_name.lower() for one in (*tables, *(select.args.get("laterals") or []))}
        items: list[exp.Expr] = []
        for item in select.selects:
            is_star = isinstance(item, exp.Column) and isinstance(item.this, exp.Star) and item.table
            is_row = is_star and (item.args.get("db") or item.text("table").lower() not in taken)
            items += (_fields(item, tables, known) if is_row else []) or [item]
        select.set("expressions", items)


def _fields(star: exp.Expr, tables: Sequence[exp.Expr], known: Mapping[str, Relation]) -> list[exp.Expr]:
    """The fields of a column of one of the tables, by name; none if it is no row."""
    row, of = star.text("table"), star.text("db").lower()
    for table in tables:
        if isinstance(table, exp.Table) and of in ("", table.alias_or_name.lower()):
            relation = known.get(table_name(table).lower())
            column = relation.schema.find(row) if relation is not None else None
            kind = exp.DataType.build(column.type, dialect="spark") if column is not None else None
            if kind is not None and kind.this == exp.DataType.Type.STRUCT:
                names = [field.name for field in kind.expressions]
                return [exp.alias_(exp.column(name, row, of or None), name) for name in names]
    return []


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
