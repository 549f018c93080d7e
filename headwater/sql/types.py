"""Flink's types, read and written as Spark's.

Lengths of strings and precisions of times are read and not enforced; TIME becomes text (`12:34:56`), because
Spark computes with no type of that kind.
"""

from __future__ import annotations

import re

from headwater.errors import SqlError
from headwater.nearest import nearest
from headwater.sql.cursor import Cursor, said

SIMPLE = {
    "STRING": "string",
    "BOOLEAN": "boolean",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INT": "int",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BYTES": "binary",
    "DATE": "date",
}
SIZED = {"VARCHAR": "string", "CHAR": "string", "VARBINARY": "binary", "BINARY": "binary", "TIME": "string"}
DECIMALS = ("DECIMAL", "DEC", "NUMERIC")
STAMPS = ("TIMESTAMP", "TIMESTAMP_LTZ")
NESTED = ("ARRAY", "MAP", "ROW")
TYPES = (*SIMPLE, *SIZED, *DECIMALS, *STAMPS, *NESTED)

REFUSED = {
    "MULTISET": "Use ARRAY<...> or MAP<..., INT>.",
    "RAW": "Use BYTES.",
    "INTERVAL": "Use BIGINT with a number of seconds; INTERVAL values may be used inside expressions.",
    "NULL": "Use the type the column has when it is not NULL.",
    "VARIANT": "Use STRING with JSON text.",
}
_ALSO_CALLED = {
    "STRING": ("TEXT", "CHARACTER", "NVARCHAR", "UUID", "JSON", "JSONB", "ENUM"),
    "BOOLEAN": ("BOOL",),
    "TINYINT": ("BYTE", "INT1"),
    "SMALLINT": ("INT2", "SHORT"),
    "INT": ("INT4", "SERIAL", "MEDIUMINT"),
    "BIGINT": ("INT8", "LONG", "BIGSERIAL"),
    "FLOAT": ("REAL", "FLOAT4"),
    "DOUBLE": ("FLOAT8",),
    "DECIMAL": ("NUMBER", "MONEY"),
    "BYTES": ("BYTEA", "BLOB"),
    "TIMESTAMP": ("DATETIME", "TIMESTAMP_NTZ"),
    "TIMESTAMP_LTZ": ("TIMESTAMPTZ",),
    "ROW": ("STRUCT",),
}
MEANT = {other: name for name, others in _ALSO_CALLED.items() for other in others}
"""What other databases call a type, and what it is called here."""

_PLAIN_NAME = re.compile(r"(?!(?:not|select)$)[a-z_][a-z0-9_]*", re.IGNORECASE)
"""Field names that can be read back without quotes; Spark itself prints them so."""
DEPTH = 50


def parse_type(cursor: Cursor, *, depth: int = 0) -> str:
    """Read a type, give Spark's text for it: `ROW<a INT, b DEC(4, 2)>` is `struct<a:int,b:decimal(4,2)>`."""
    if depth > DEPTH:
        raise cursor.error("the type is nested too deeply", hint=f"At most {DEPTH} levels are read.")
    kind = _base(cursor, depth)
    while cursor.takes("ARRAY"):
        kind = f"array<{kind}>"
    if cursor.sees("MULTISET"):
        raise _refused(cursor, "MULTISET")
    return kind


def _base(cursor: Cursor, depth: int) -> str:
    token = cursor.token
    word = token.upper if token is not None else ""
    if not word:
        raise cursor.expected("a type", "Give each column a type: name STRING.")
    if word not in TYPES:
        raise _refused(cursor, word)
    cursor.index += 1
    if word in SIMPLE:
        if word == "DOUBLE":
            cursor.takes("PRECISION")
        return SIMPLE[word]
    if word in SIZED:
        _sizes(cursor, most=1)
        if word == "TIME":
            _zone(cursor)
        return SIZED[word]
    if word in DECIMALS:
        return _decimal(cursor)
    if word in STAMPS:
        return _timestamp(cursor, word)
    return _nested(cursor, word, depth)


def _refused(cursor: Cursor, word: str) -> SqlError:
    if word in REFUSED:
        return cursor.error(f"type {word} is not supported yet", hint=REFUSED[word])
    near = MEANT.get(word) or nearest(word, TYPES)
    listed = f"The types are {', '.join(TYPES)}."
    token = cursor.token
    return cursor.error(
        f"unknown type {said(token)}",
        detail=listed if near else "",
        hint=f"Did you mean {near}?" if near else listed,
    )


def _sizes(cursor: Cursor, *, most: int) -> list[int]:
    """Numbers in parentheses, if there are any."""
    if not cursor.takes("("):
        return []
    sizes: list[int] = []
    while True:
        token = cursor.token
        if token is None or token.kind != "number" or not token.raw.isdecimal():
            raise cursor.expected("a whole number")
        if len(sizes) == most or len(token.raw) > 10:
            raise cursor.error(f"unexpected {token.raw}", hint="Give the type fewer or smaller numbers.")
        sizes.append(int(token.raw))
        cursor.index += 1
        if not cursor.takes(","):
            cursor.expect(")")
            return sizes


def _decimal(cursor: Cursor) -> str:
    at = cursor.token
    precision, scale = (*_sizes(cursor, most=2), 0, 0)[:2] if cursor.sees("(") else (10, 0)
    if not 1 <= precision <= 38 or scale > precision:
        raise cursor.error(
            f"a decimal of precision {precision} and scale {scale} does not exist",
            hint="The precision is 1 to 38, the scale 0 to the precision.",
            token=at,
        )
    return f"decimal({precision},{scale})"


def _timestamp(cursor: Cursor, word: str) -> str:
    at = cursor.token
    if any(size > 9 for size in _sizes(cursor, most=1)):
        raise cursor.error(
            "a timestamp has at most 9 digits of a second", hint="Write TIMESTAMP(6).", token=at
        )
    if word == "TIMESTAMP_LTZ":
        return "timestamp"
    return "timestamp" if _zone(cursor) else "timestamp_ntz"


def _zone(cursor: Cursor) -> bool:
    """Step over a time zone clause; True if it says WITH LOCAL TIME ZONE."""
    if cursor.takes("WITHOUT"):
        cursor.expect("TIME", "ZONE")
    elif cursor.sees("WITH", "TIME"):
        raise cursor.error(
            "type TIMESTAMP WITH TIME ZONE is not supported yet",
            hint="Write TIMESTAMP_LTZ: a moment in time, shown in the session's zone.",
        )
    elif cursor.takes("WITH"):
        cursor.expect("LOCAL", "TIME", "ZONE")
        return True
    return False


def _nested(cursor: Cursor, word: str, depth: int) -> str:
    closing = ")" if cursor.sees("(") else ">"
    if not cursor.takes("(" if closing == ")" else "<"):
        shape = {"ARRAY": "ARRAY<INT>", "MAP": "MAP<STRING, INT>", "ROW": "ROW<a INT, b STRING>"}[word]
        raise cursor.expected("<", f"Write it as {shape}.")
    if word == "ROW":
        inner = _fields(cursor, depth)
    else:
        inner = _element(cursor, depth)
        if word == "MAP":
            cursor.expect(",", hint="A map has a key type and a value type: MAP<STRING, INT>.")
            inner += "," + _element(cursor, depth)
    cursor.expect(closing)
    return f"{'struct' if word == 'ROW' else word.lower()}<{inner}>"


def _fields(cursor: Cursor, depth: int) -> str:
    fields: list[str] = []
    while True:
        name = cursor.column("a field name")
        shown = name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"
        fields.append(f"{shown}:{_element(cursor, depth)}")
        token = cursor.token
        if token is not None and token.kind == "string":
            cursor.index += 1  # a comment
        if not cursor.takes(","):
            return ",".join(fields)


def _element(cursor: Cursor, depth: int) -> str:
    kind = parse_type(cursor, depth=depth + 1)
    if not cursor.takes("NOT", "NULL"):
        cursor.takes("NULL")
    return kind


_WRITTEN = {"timestamp_ntz": "TIMESTAMP", "timestamp": "TIMESTAMP_LTZ", "binary": "BYTES"}


def written(kind: str) -> str:
    """How a type is written in a CREATE TABLE: `written("array<timestamp_ntz>")` is `ARRAY<TIMESTAMP>`."""
    return re.sub(r"(?<![\w`])[a-z_]+(?![\w`:])", lambda word: _WRITTEN.get(word[0], word[0].upper()), kind)
