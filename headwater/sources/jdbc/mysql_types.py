"""MySQL types: what they are in Spark, and how their values are written."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.text_values import RAW
from headwater.sources.jdbc.server import FoundColumn

MAX_PRECISION = 38

_WHOLE = {
    # type: what it is, and what it is unsigned
    "tinyint": ("tinyint", "smallint"),
    "smallint": ("smallint", "int"),
    "mediumint": ("int", "int"),
    "int": ("int", "bigint"),
    "bigint": ("bigint", "decimal(20,0)"),
    "year": ("int", "int"),
}
_OTHER = {
    "float": ("float", "number"),
    "double": ("double", "number"),
    "date": ("date", "date"),
    "datetime": ("timestamp_ntz", "timestamp"),
    # A moment in time: the session reads it in UTC.
    "timestamp": ("timestamp", "timestamp"),
    "time": ("string", "other"),
}
_TEXTS = (
    "char",
    "varchar",
    "tinytext",
    "text",
    "mediumtext",
    "longtext",
    "json",
    "enum",
    "set",
    "uuid",
    "inet4",
)
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")

BIT = "bit"
"""The one type whose truth values are bytes and not digits."""


def column_of(name: str, kind: str, full: str, *, precision: int = 0, scale: int = 0) -> FoundColumn:
    """A column from what information_schema says of it: `column_of("id", "int", "int unsigned")`."""
    if full in ("tinyint(1)", "bit(1)"):
        families = ("bool", "number") if kind == "tinyint" else ("bool",)
        return FoundColumn(name, "boolean", families, full)
    if kind in _WHOLE:
        return FoundColumn(name, _WHOLE[kind]["unsigned" in full], ("number",), full)
    if kind == "decimal":
        # Beyond 38 digits no number of Spark's is wide enough.
        spark = f"decimal({precision},{scale})" if precision <= MAX_PRECISION else "string"
        return FoundColumn(name, spark, ("number",), full)
    if kind in _OTHER:
        spark, family = _OTHER[kind]
        return FoundColumn(name, spark, (family,), full)
    if kind in _TEXTS:
        return FoundColumn(name, "string", ("text",), full)
    if kind in (*_BYTES, BIT):
        return FoundColumn(name, "binary", (RAW,), full)
    return FoundColumn(name, "string", (), full, "Its values are written in a form of MySQL's own.")


def array_of(values: list[str | bytes | None], column: FoundColumn, *, wants_truth: bool) -> pa.Array:
    """The texts of a column; truth values become words, as they are read."""
    if RAW in column.families:
        return pa.array(values, pa.binary())
    if not wants_truth:
        return pa.array(values, pa.string())
    if column.shown.startswith(BIT):
        bits = [None if value is None else "false" if value == b"\0" else "true" for value in values]
        return pa.array(bits, pa.string())
    return pc.if_else(pc.equal(pa.array(values, pa.string()), "0"), "false", "true")
