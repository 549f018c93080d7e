"""Types between Spark and Postgres: what a new column becomes, and which column can take a value."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from headwater.schema import arrow_type

INTEGERS = ("int2", "int4", "int8", "numeric")
TEXTS = ("text", "varchar", "bpchar", "citext", "name")
DOCUMENTS = ("jsonb", "json", *TEXTS)


@dataclass(frozen=True)
class TargetColumn:
    """A column of a table in Postgres.

    `kind` is the name of its base type (`int4`, `_text` for an array), `category` Postgres' own one-letter
    family, `type` the text that casts to it without length or scale, `shown` the type in full.
    """

    name: str
    type: str
    kind: str
    category: str = "U"
    scale: int | None = None
    shown: str = ""


def fits(kind: str, column: TargetColumn) -> bool:
    """True if a value of a Spark type either has its place in the column or is refused loudly there."""
    return _fits(arrow_type(kind), column.kind, column)


def _fits(kind: pa.DataType, name: str, column: TargetColumn) -> bool:
    is_ = pa.types
    if is_.is_null(kind):
        return True
    if is_.is_boolean(kind):
        return name == "bool"
    if is_.is_integer(kind):
        return name in (*INTEGERS, "float8") or (name == "float4" and kind.bit_width <= 16)
    # Postgres rounds to the scale of a column without a word, so a narrower one is refused here.
    if is_.is_floating(kind):
        unscaled = name == "numeric" and column.scale is None
        return name == "float8" or unscaled or (name == "float4" and kind.bit_width <= 32)
    if is_.is_decimal(kind):
        wide = column.scale is None or column.scale >= kind.scale
        return wide and name in (INTEGERS if kind.scale == 0 else ("numeric",))
    if is_.is_string(kind):
        return column.category not in "NBDA" and name != "bytea"
    if is_.is_binary(kind):
        return name == "bytea"
    if is_.is_date(kind):
        return name in ("date", "timestamp", "timestamptz")
    if is_.is_timestamp(kind):
        return name in ("timestamp", "timestamptz")
    if is_.is_list(kind) and name.startswith("_"):
        return _fits_element(kind.value_type, name[1:], column)
    return name in DOCUMENTS


def _fits_element(kind: pa.DataType, name: str, column: TargetColumn) -> bool:
    if pa.types.is_list(kind):
        # Postgres arrays of any depth have one type.
        return _fits_element(kind.value_type, name, column)
    if pa.types.is_string(kind):
        return name in (*TEXTS, "uuid", "json", "jsonb")
    return _fits(kind, name, column)


def postgres_type(kind: str) -> str:
    """The type of a new column: `postgres_type("array<int>")` is `integer[]`."""
    return _postgres(arrow_type(kind))


_NEW: dict[pa.DataType, str] = {
    pa.bool_(): "boolean",
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.binary(): "bytea",
    pa.date32(): "date",
    pa.timestamp("us", tz="UTC"): "timestamp with time zone",
    pa.timestamp("us"): "timestamp without time zone",
    pa.null(): "text",
}


def _postgres(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})"
    if pa.types.is_list(kind) and (kind.value_type in _NEW or pa.types.is_decimal(kind.value_type)):
        return f"{_postgres(kind.value_type)}[]"
    return _NEW.get(kind, "jsonb")
