"""Values as databases write them, typed column by column.

    typed(pa.array(["1", None]), "int", "number")       # int32: 1, null

Snapshot and stream both come through here, so that a value is the same whichever way it came. A value that
does not fit raises `Unfit`; nothing ever becomes NULL in silence.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import Place, SourceError
from headwater.log import mysql_values
from headwater.log.shards import shown_name
from headwater.log.text_arrays import split_arrays
from headwater.log.text_decimals import decimals
from headwater.schema import Column, arrow_type

FAMILIES = ("bool", "number", "text", "bytea", "date", "timestamp", "timestamptz", "array", "other")
"""Kinds of Postgres types whose text is read alike; an array is written `array of <family>`."""

ARRAY_OF = "array of "

RAW = "raw"
"""The family of what is no text of Postgres at all, but bytes that an application wrote."""

SHOWN = 100
"""So many letters of a value are shown."""

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
_TIMES = ("timestamp", "timestamptz")


class Unfit(Exception):
    """A text that cannot be a value of the wanted type."""

    def __init__(self, value: str, reason: str) -> None:
        super().__init__(f"{value!r}: {reason}")
        self.value = value
        self.reason = reason


def is_bytes(family: str) -> bool:
    """True if values of a family are bytes and no text."""
    return family == RAW or family in mysql_values.BYTES


def can_read(family: str, kind: str) -> bool:
    """True if values of a family can be read as a Spark type at all."""
    if family == RAW:
        return kind in ("string", "binary")
    if mysql_values.is_mysql(family):
        return mysql_values.readable(family, kind)
    if kind == "string":
        return True
    if family.startswith(ARRAY_OF):
        element = _element(kind)
        return element is not None and (
            can_read(family.removeprefix(ARRAY_OF), element) or can_read(family, element)
        )
    if family == "text":
        return kind in (*_NUMBERS, "boolean", "date", "timestamp", "timestamp_ntz") or _is_decimal(kind)
    if kind in ("timestamp", "timestamp_ntz"):
        return family in _TIMES
    if kind in _NUMBERS or _is_decimal(kind):
        return family == "number"
    return (family, kind) in (("bool", "boolean"), ("bytea", "binary"), ("date", "date"))


def typed(texts: pa.Array, kind: str, family: str) -> pa.Array:
    """The typed column of a column of texts; NULL stays NULL, and nothing else becomes it."""
    convert = _converter(kind, family)
    try:
        return convert(texts)
    except (pa.ArrowInvalid, ValueError) as error:
        raise _first_unfit(texts, convert, error) from error


def typed_column(
    texts: pa.Array,
    column: Column,
    *,
    family: str,
    table: str,
    place: Place | None = None,
    otherwise: str = "",
) -> pa.Array:
    """`typed`, with an error that says where the value stands; `otherwise` is what else can be done about it."""
    try:
        return typed(texts, column.type, family)
    except Unfit as unfit:
        shown = unfit.value if len(unfit.value) <= SHOWN else unfit.value[:SHOWN] + "..."
        always = "BYTES" if family == RAW else "STRING"
        raise SourceError(
            misfit(column, table),
            detail=f"The value is '{shown}' ({unfit.reason}).",
            hint=f"Declare the column with a type that holds it; '{column.name} {always}' always does.{otherwise}",
            place=place,
        ) from unfit


def misfit(column: Column, table: str) -> str:
    """What is said of a value that does not fit."""
    return f"a value of column '{column.name}' of table '{shown_name(table)}' does not fit its type {column.type}"


def fitting(texts: pa.Array, kind: str, family: str) -> tuple[pa.Array, pa.Array | None]:
    """`typed` where a value fits and NULL where it does not, and why not; None instead of reasons if all of them fit."""
    convert = _converter(kind, family)
    try:
        return convert(texts), None
    except (pa.ArrowInvalid, ValueError):
        # What does not fit is often the same: each text is tried once.
        told = texts.dictionary_encode()
    reasons = pa.array(_reasons(told.dictionary, convert), pa.string()).take(told.indices)
    return convert(pc.if_else(pc.is_null(reasons), texts, pa.scalar(None, texts.type))), reasons


def _reasons(texts: pa.Array, convert: Callable[[pa.Array], pa.Array]) -> list[str | None]:
    """Why each of some texts does not convert; None for those that do. A part that converts is looked at no further."""
    try:
        convert(texts)
        return [None] * len(texts)
    except (pa.ArrowInvalid, ValueError) as error:
        if len(texts) == 1:
            return [_brief(error)]
    # Into eight, not two: where nothing fits, fewer are tried in vain.
    size = -(-len(texts) // 8)
    parts = (texts[begin : begin + size] for begin in range(0, len(texts), size))
    return [reason for part in parts for reason in _reasons(part, convert)]


def _brief(error: Exception) -> str:
    return str(error).splitlines()[0][:200]


def _converter(kind: str, family: str) -> Callable[[pa.Array], pa.Array]:
    if mysql_values.is_mysql(family):
        return mysql_values.converter(kind, family)
    if family.startswith(ARRAY_OF) and kind != "string":
        return lambda texts: _arrays(texts, kind, family)
    match kind:
        case "string" | "binary" if family == RAW:
            return lambda raw: raw.cast(arrow_type(kind))
        case "string":
            return _truth_words if family == "bool" else lambda texts: texts
        case "boolean":
            return _booleans
        case "binary":
            return _bytes
        case "float":
            return _floats
        case "timestamp" if family == "timestamp":
            return lambda texts: texts.cast(pa.timestamp("us")).cast(arrow_type(kind))
        case "timestamp_ntz" if family == "timestamptz":
            return lambda texts: texts.cast(pa.timestamp("us", tz="UTC")).cast(arrow_type(kind))
    wanted = arrow_type(kind)
    if pa.types.is_decimal(wanted):
        return lambda texts: decimals(texts, wanted)
    return lambda texts: texts.cast(wanted)


def _first_unfit(texts: pa.Array, convert: Callable[[pa.Array], pa.Array], error: Exception) -> Unfit:
    """The first value that does not convert, found by halving: every half that fails is looked at again."""
    if len(texts) <= 1:
        value = texts[0].as_py() if len(texts) else ""
        return Unfit(str(value), _brief(error))
    middle = len(texts) // 2
    for half in (texts[:middle], texts[middle:]):
        try:
            convert(half)
        except (pa.ArrowInvalid, ValueError) as found:
            return _first_unfit(half, convert, found)
    raise AssertionError("a column does not convert, but both of its halves do") from error


_TRUE, _FALSE = ("t", "true"), ("f", "false")
_WORDS = pa.array([*_TRUE, *_FALSE])


def _booleans(texts: pa.Array) -> pa.Array:
    known = pc.is_in(texts, value_set=_WORDS)
    if pc.any(pc.and_(pc.is_valid(texts), pc.invert(known))).as_py():
        raise ValueError("it is neither true nor false")
    truth = pc.is_in(texts, value_set=pa.array(_TRUE))
    return pc.if_else(pc.is_valid(texts), truth, pa.scalar(None, pa.bool_()))


def _truth_words(texts: pa.Array) -> pa.Array:
    return _booleans(texts).cast(pa.string())


def _bytes(texts: pa.Array) -> pa.Array:
    values = []
    for text in texts.to_pylist():
        if text is not None and not text.startswith("\\x"):
            raise ValueError("bytes are expected in hexadecimal form")
        values.append(None if text is None else bytes.fromhex(text[2:]))
    return pa.array(values, pa.binary())


def _floats(texts: pa.Array) -> pa.Array:
    narrow = texts.cast(pa.float32())
    # Arrow turns what is too large for a float into infinity without a word.
    if pc.any(pc.and_(pc.is_inf(narrow), pc.is_finite(texts.cast(pa.float64())))).as_py():
        raise ValueError("it is too large for a float")
    return narrow


def _arrays(texts: pa.Array, kind: str, family: str) -> pa.Array:
    element = _element(kind)
    assert element is not None
    offsets, items = split_arrays(texts.to_pylist(), nested=_element(element) is not None)
    inner = family if _element(element) is not None else family.removeprefix(ARRAY_OF)
    values = _converter(element, inner)(pa.array(items, pa.string()))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def _element(kind: str) -> str | None:
    return kind[len("array<") : -1] if kind.startswith("array<") else None


def _is_decimal(kind: str) -> bool:
    return kind.startswith("decimal")
