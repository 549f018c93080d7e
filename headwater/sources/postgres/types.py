"""Postgres types: what they are in Spark, and which of them are written alike."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.log.text_values import ARRAY_OF


@dataclass(frozen=True)
class ServerType:
    """A type as the server's catalog has it, domains already resolved: `ServerType("numeric", (10, 2))`."""

    name: str
    modifier: int = -1
    is_array: bool = False


_SPARK = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "int",
    "int8": "bigint",
    "oid": "bigint",
    "float4": "float",
    "float8": "double",
    "bytea": "binary",
    "date": "date",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
}

_FAMILY = {
    "bool": "bool",
    "bytea": "bytea",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
} | dict.fromkeys(("int2", "int4", "int8", "oid", "float4", "float8", "numeric"), "number")
_FAMILY |= dict.fromkeys(("text", "varchar", "bpchar", "name", "citext"), "text")

_ODD_ARRAYS = ("box", "geometry", "geography")
"""Arrays whose elements are not separated by commas; they are read as a whole."""

MAX_PRECISION = 38


def spark_type(kind: ServerType) -> str:
    """The Spark type of a Postgres type; what Spark has no type for is a string.

    >>> spark_type(ServerType("int4", is_array=True))
    'array<int>'
    """
    if kind.is_array:
        return "string" if kind.name in _ODD_ARRAYS else f"array<{_scalar(kind)}>"
    return _scalar(kind)


def family(kind: ServerType) -> str:
    """Which types are written alike, as `text_values` knows them."""
    scalar = _FAMILY.get(kind.name, "other")
    if not kind.is_array:
        return scalar
    return "other" if kind.name in _ODD_ARRAYS else ARRAY_OF + scalar


_INTS = ("int2", "int4", "int8")
_SAME_TEXT = ("varchar", "text")
_PRECISE = ("timestamp", "timestamptz", "time", "timetz", "interval")


def keeps_values(before: ServerType, now: ServerType, *, as_text: bool) -> bool:
    """True if a column that changes its type from one to the other keeps every value; `as_text` also as it is written.

    >>> keeps_values(ServerType("int4"), ServerType("int8"), as_text=True)
    True
    """
    if before == now:
        return True
    if before.is_array != now.is_array:
        return False
    names = before.name, now.name
    if names[0] in _INTS and names[1] in _INTS:
        # What does not fit into a narrower one makes the server refuse the change.
        return True
    if names[1] == "numeric" and names[0] in (*_INTS, "numeric"):
        if now.modifier < 0:
            return True
        if before.name == "numeric" and before.modifier < 0:
            return False
        scale = _digits(before)[1] if before.name == "numeric" else 0
        return not as_text and _digits(now)[1] >= scale
    if all(name in _SAME_TEXT for name in names):
        return now.modifier < 0 or 0 <= before.modifier <= now.modifier
    is_finer = now.modifier < 0 or 0 <= before.modifier <= now.modifier
    return before.name == now.name and before.name in _PRECISE and is_finer


def shown_type(kind: ServerType) -> str:
    """A type as it is named in an error: `numeric(10,2)`, `int4[]`."""
    size = ""
    if kind.modifier >= 0 and kind.name == "numeric":
        size = "({},{})".format(*_digits(kind))
    elif kind.modifier >= 0 and kind.name in ("varchar", "bpchar"):
        size = f"({kind.modifier - 4})"
    return f"{kind.name}{size}{'[]' if kind.is_array else ''}"


def _digits(kind: ServerType) -> tuple[int, int]:
    """Precision and scale of a numeric that has them."""
    # Four bytes are added to the modifier; the scale is a signed number of eleven bits.
    return (kind.modifier - 4) >> 16 & 0xFFFF, ((kind.modifier - 4 & 0x7FF) ^ 1024) - 1024


def _scalar(kind: ServerType) -> str:
    if kind.name == "numeric":
        return _decimal(kind)
    return _SPARK.get(kind.name, "string")


def _decimal(kind: ServerType) -> str:
    if kind.modifier < 0:
        return f"decimal({MAX_PRECISION},18)"
    precision, scale = _digits(kind)
    digits, fraction = max(precision - min(scale, 0), scale), max(scale, 0)
    if digits > MAX_PRECISION:
        return f"decimal({MAX_PRECISION},18)"
    return f"decimal({digits},{fraction})"
