"""Types between Spark and MySQL: what a new column becomes, and which column can take a value."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from headwater.schema import arrow_type

INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal")
TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext")
WORDS = (*TEXTS, "enum", "set", "json", "uuid", "inet4", "inet6")
BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
TIMES = ("datetime", "timestamp")

EXACT = ("utf8mb4_0900_bin", "utf8mb4_nopad_bin")
"""Collations in which only equal texts are equal; in all others the keys of a table may meet."""

KEY_LENGTH = 255
"""How long a text or bytes may be in a key column that is made."""


@dataclass(frozen=True)
class MysqlColumn:
    """A column of a table: `kind` is the name of its type, `shown` the type in full.

    `digits` are those of a second that it keeps, `length` is the bytes or bits it holds.
    """

    name: str
    kind: str
    shown: str
    scale: int | None = None
    digits: int | None = None
    length: int | None = None
    collation: str | None = None
    nullable: bool = True

    @property
    def folds(self) -> bool:
        """True if two different texts may be equal to the server."""
        return self.collation is not None and self.collation not in EXACT


def fits(kind: str, column: MysqlColumn) -> bool:
    """True if a value of a Spark type either has its place in the column or is refused loudly."""
    return _fits(arrow_type(kind), column)


def _fits(kind: pa.DataType, column: MysqlColumn) -> bool:
    is_, name = pa.types, column.kind
    if is_.is_null(kind):
        return True
    if is_.is_boolean(kind):
        return name == "tinyint" or (name == "bit" and column.length == 1)
    # With a scale of their own floating numbers are rounded without a word.
    is_free = column.scale is None
    if is_.is_integer(kind):
        is_float = is_free and (name == "double" or (name == "float" and kind.bit_width <= 16))
        return name in INTEGERS or is_float
    if is_.is_floating(kind):
        return is_free and (name == "double" or (name == "float" and kind.bit_width <= 32))
    if is_.is_decimal(kind):
        return name in (INTEGERS if kind.scale == 0 else ("decimal",)) and (column.scale or 0) >= kind.scale
    if is_.is_string(kind):
        return name in WORDS
    if is_.is_binary(kind):
        return name in BYTES
    if is_.is_date(kind):
        return name in ("date", *TIMES)
    if is_.is_timestamp(kind):
        return name in TIMES
    return name in ("json", *TEXTS)


def mysql_type(kind: str) -> str:
    """The type of a new column: `mysql_type("array<int>")` is `JSON`."""
    found = arrow_type(kind)
    if pa.types.is_decimal(found):
        return f"DECIMAL({found.precision}, {found.scale})"
    return _NEW.get(found, "JSON")


def key_type(kind: str) -> str:
    """The type of a new key column, which needs a length."""
    return _KEYS.get(arrow_type(kind)) or mysql_type(kind)


_NEW: dict[pa.DataType, str] = {
    pa.bool_(): "TINYINT(1)",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "LONGTEXT",
    pa.binary(): "LONGBLOB",
    pa.date32(): "DATE",
    pa.timestamp("us", tz="UTC"): "TIMESTAMP(6)",
    pa.timestamp("us"): "DATETIME(6)",
    pa.null(): "LONGTEXT",
}
_KEYS: dict[pa.DataType, str] = {
    pa.string(): f"VARCHAR({KEY_LENGTH})",
    pa.binary(): f"VARBINARY({KEY_LENGTH})",
}
