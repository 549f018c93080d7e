"""The statements that make and write tables of a lake, as trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from headwater.schema import WEIGHT, Schema, sql_type

SOURCE = "__hw_rows"
"""The view with the weighted rows of a write."""

_TARGET, _NEW = "target", "new"
_ZERO = exp.Literal(this="0", is_string=False)


def create(table: exp.Table, schema: Schema, *, using: str, properties: Mapping[str, str]) -> str:
    """A table without rows."""
    columns = [
        exp.ColumnDef(this=_name(c.name), kind=exp.DataType.build(sql_type(c.type), dialect="spark"))
        for c in schema
    ]
    given: list[exp.Expr] = [exp.FileFormatProperty(this=exp.var(using))]
    given += [
        exp.Property(this=exp.Literal.string(name), value=exp.Literal.string(value))
        for name, value in properties.items()
    ]
    made = exp.Create(
        this=exp.Schema(this=table.copy(), expressions=columns),
        kind="TABLE",
        properties=exp.Properties(expressions=given),
    )
    return made.sql(dialect="spark")


def insert(table: exp.Table, names: Sequence[str]) -> str:
    """Add all rows of the view."""
    columns = [_name(name) for name in names]
    rows = exp.select(*[exp.column(name, quoted=True) for name in names]).from_(_name(SOURCE))
    return exp.insert(rows, table.copy(), columns=columns).sql(dialect="spark")


def merge(table: exp.Table, schema: Schema) -> str:
    """Rows of weight 1 take the place of those with their key, rows of weight -1 only remove them."""
    names = schema.names
    weight = _new(WEIGHT)
    gone, comes = (
        exp.LT(this=weight, expression=_ZERO.copy()),
        exp.GT(this=weight.copy(), expression=_ZERO.copy()),
    )
    replaced = exp.Update(
        expressions=[exp.EQ(this=exp.column(n, _TARGET, quoted=True), expression=_new(n)) for n in names]
    )
    added = exp.Insert(
        this=exp.Tuple(expressions=[exp.column(n, quoted=True) for n in names]),
        expression=exp.Tuple(expressions=[_new(n) for n in names]),
    )
    whens = [
        exp.When(matched=True, condition=gone, then=exp.var("DELETE")),
        exp.When(matched=True, then=replaced),
        exp.When(matched=False, condition=comes, then=added),
    ]
    same_key = exp.and_(
        *[
            exp.NullSafeEQ(this=exp.column(name, _TARGET, quoted=True), expression=_new(name))
            for name in schema.key
        ]
    )
    made = exp.Merge(
        this=exp.alias_(table.copy(), _TARGET, table=True),
        using=exp.alias_(exp.table_(SOURCE, quoted=True), _NEW, table=True),
        on=same_key,
        whens=exp.Whens(expressions=whens),
    )
    return made.sql(dialect="spark")


def _new(name: str) -> exp.Column:
    return exp.column(name, _NEW, quoted=True)


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
