"""What an address asks of a view, as a query: filters, order, columns and the page.

?customer=ann&total__gt=10&order_by=-total&limit=20
SELECT * FROM totals WHERE customer = 'ann' AND total > 10 ORDER BY total DESC, customer LIMIT 21
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import pyarrow as pa
from sqlglot import exp

from headwater.errors import UsageError
from headwater.nearest import nearest_hint
from headwater.schema import Column, Schema, arrow_type, sql_type

OWN = ("format", "limit", "order_by", "columns", "next")
"""What is no filter; a column that has one of these names is filtered by `name__eq`."""

Compare = Callable[[exp.Expr, exp.Expr], exp.Expr]

_COMPARE: dict[str, Compare] = {
    "eq": lambda left, right: exp.EQ(this=left, expression=right),
    "ne": lambda left, right: exp.NEQ(this=left, expression=right),
    "gt": lambda left, right: exp.GT(this=left, expression=right),
    "ge": lambda left, right: exp.GTE(this=left, expression=right),
    "lt": lambda left, right: exp.LT(this=left, expression=right),
    "le": lambda left, right: exp.LTE(this=left, expression=right),
}
UTC = ("Z", "T00:00:00Z")
"""What may be missing at the end of a moment: its zone, or its time of day too."""

OPERATORS = (*_COMPARE, "in", "like", "null")


@dataclass(frozen=True)
class AskedRows:
    """Which rows of a view, which columns of them, and in what order."""

    filters: tuple[tuple[str, str], ...] = ()
    """Names as they stand in the address, with their values."""
    order_by: str = ""
    columns: str = ""


def query_of(relation: str, schema: Schema, asked: AskedRows, *, limit: int, offset: int) -> exp.Select:
    """The rows of one page and one more, in an order that leaves nothing to chance."""
    chosen = [_column(schema, name) for name in _listed(asked.columns)] or list(schema)
    query = all_of(relation, chosen)
    for name, value in asked.filters:
        query = query.where(_filter(schema, name, value))
    return query.order_by(*_order(schema, asked.order_by)).limit(limit).offset(offset)


def all_of(relation: str, columns: Iterable[Column]) -> exp.Select:
    """Columns of all rows, in any order."""
    named = exp.Table(this=exp.to_identifier(relation, quoted=True))
    return exp.select(*[_named(column) for column in columns]).from_(named)


def _filter(schema: Schema, said: str, value: str) -> exp.Expr:
    name, operator = _taken_apart(schema, said)
    column = _column(schema, name)
    if operator == "null":
        if value.lower() not in ("true", "false"):
            raise UsageError(f"'{said}' takes true or false", detail=f"It has '{value[:100]}'.")
        is_null = exp.Is(this=_named(column), expression=exp.Null())
        return is_null if value.lower() == "true" else exp.Not(this=is_null)
    if operator == "like":
        if column.type != "string":
            raise UsageError(
                f'column "{column.name}" is no text', hint="LIKE is for texts; use gt, lt and so on."
            )
        return exp.Like(this=_named(column), expression=exp.Literal.string(value))
    if operator == "in":
        return exp.In(this=_named(column), expressions=[_value(column, one) for one in value.split(",")])
    return _COMPARE[operator](_named(column), _value(column, value))


def _taken_apart(schema: Schema, said: str) -> tuple[str, str]:
    """A column and how it is compared: `total__gt` is total, gt; a column that is called so goes first."""
    if schema.find(said) is not None:
        return said, "eq"
    name, mark, operator = said.rpartition("__")
    if mark and schema.find(name) is not None:
        if operator not in OPERATORS:
            raise UsageError(
                f"'{operator}' is no way to compare",
                hint=nearest_hint(operator, OPERATORS, "ways to compare"),
            )
        return name, operator
    return said, "eq"


def _column(schema: Schema, name: str) -> Column:
    found = schema.find(name)
    if found is None:
        raise UsageError(
            f'column "{name[:100]}" does not exist', hint=nearest_hint(name, schema.names, "columns")
        )
    return found


def _named(column: Column) -> exp.Column:
    return exp.column(exp.to_identifier(column.name, quoted=True))


def _value(column: Column, text: str) -> exp.Expr:
    """A value as the column has it; what does not fit its type is an error."""
    kind = column.type
    if kind == "string":
        return exp.Literal.string(text)
    if not _fits(kind, text):
        raise UsageError(
            f"'{text[:100]}' is not of type {kind}",
            detail=f'Column "{column.name}" is compared with it.',
            hint=_HINTS.get(kind.split("(")[0], "Rows, lists, maps and bytes cannot be compared here."),
        )
    if kind.startswith("decimal"):
        digits = -int(Decimal(text).as_tuple().exponent)
        kind = f"decimal(38,{min(38, max(digits, 0))})"
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build(sql_type(kind), dialect="spark"))


_HINTS = {
    "boolean": "Write true or false.",
    "date": "Write 2024-01-31.",
    "timestamp": "Write 2024-01-31T10:00:00Z.",
    "timestamp_ntz": "Write 2024-01-31T10:00:00.",
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "Write a whole number that is not too large."),
    **dict.fromkeys(("float", "double", "decimal"), "Write a number: 12.5."),
}


def _fits(kind: str, text: str) -> bool:
    name = kind.split("(")[0]
    if name not in _HINTS or not text.isascii() or len(text) > 100:
        return False
    if name == "decimal":
        return _is_decimal(text)
    zones = ("", *UTC) if name == "timestamp" else ("",)
    return any(_is_value(kind, text + zone) for zone in zones)


def _is_value(kind: str, text: str) -> bool:
    try:
        pa.scalar(text).cast(arrow_type(kind))
    except pa.ArrowInvalid:
        return False
    return True


def _is_decimal(text: str) -> bool:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    shown = number.as_tuple()
    return number.is_finite() and len(shown.digits) + abs(int(shown.exponent)) <= 38


def _order(schema: Schema, said: str) -> Iterable[exp.Expr]:
    """What was asked for, then whatever tells rows apart."""
    given = [(one.lstrip("-"), one.startswith("-")) for one in _listed(said)]
    asked = [(_column(schema, name), is_down) for name, is_down in given]
    others = schema.key or schema.names
    rest = [column for column in schema if column.name in others and column not in [c for c, _ in asked]]
    for column, is_down in (*asked, *((column, False) for column in rest)):
        if "map<" in column.type:
            if column in rest:
                continue
            raise UsageError(f'column "{column.name}" has no order', hint="Order by another one.")
        yield exp.Ordered(this=_named(column), desc=is_down, nulls_first=not is_down)


def _listed(said: str) -> Sequence[str]:
    return [one.strip() for one in said.split(",") if one.strip()]
