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

_ODD_ARRAYS = ("box",)
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


def _scalar(kind: ServerType) -> str:
    if kind.name == "numeric":
        return _decimal(kind.modifier)
    return _SPARK.get(kind.name, "string")


def _decimal(modifier: int) -> str:
    if modifier < 0:
        return f"decimal({MAX_PRECISION},18)"
    # Four bytes are added to the modifier; the scale is a signed number of eleven bits.
    precision = (modifier - 4) >> 16 & 0xFFFF
    scale = ((modifier - 4 & 0x7FF) ^ 1024) - 1024
    digits, fraction = max(precision - min(scale, 0), scale), max(scale, 0)
    if digits > MAX_PRECISION:
        return f"decimal({MAX_PRECISION},18)"
    return f"decimal({digits},{fraction})"
