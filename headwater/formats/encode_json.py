"""Columns as JSON, whole columns at a time; values within values one by one.

    objects([("id", [1, 2]), ("name", ["a", None])], JsonText())
    {"id":1,"name":"a"}
    {"id":2,"name":null}

Forms are Flink's: binary as base64, timestamps by a standard, decimals plain, numbers JSON has no word for as text.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Fields = Sequence[tuple[str, pa.Array]]
"""Columns with the names they have in the text."""


@dataclass(frozen=True)
class JsonText:
    """How values are written."""

    timestamps: str = "SQL"
    """`SQL` is 2020-12-30 12:13:14.123, `ISO-8601` has a T in the middle; those with a zone end with Z."""
    ignore_nulls: bool = False
    """True leaves out a field that is NULL, at every depth."""


def objects(fields: Fields, form: JsonText) -> pa.Array:
    """One JSON object for each row."""
    if not fields:
        raise ValueError("an object needs a field")
    pieces: list[Any] = []
    for name, array in fields:
        label = "," + quoted(name) + ":"
        text = column(array, form)
        if form.ignore_nulls:
            pieces.append(_join(label, text).fill_null(""))
        else:
            pieces += [label, text.fill_null("null")]
    opened = pc.binary_replace_slice(_join(*pieces), start=0, stop=1, replacement="{")
    return _join(opened, "}")


def column(array: pa.Array, form: JsonText) -> pa.Array:
    """Each value of a column as JSON text, NULL as NULL."""
    kind = array.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return array.cast(pa.string())
    if pa.types.is_floating(kind):
        return _floats(array.cast(pa.string()))
    if pa.types.is_decimal(kind):
        return decimals(array)
    if pa.types.is_string(kind):
        return _strings(array)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _join('"', times(array, form.timestamps), '"')
    write = writer(kind, form)
    return pa.array([None if value is None else write(value) for value in array.to_pylist()], pa.string())


def decimals(array: pa.Array) -> pa.Array:
    """Decimals as plain numbers: Arrow itself writes small ones as 1E-8."""
    text = array.cast(pa.string())
    short = pc.match_substring(text, "E")
    if not pc.any(short).as_py():
        return text
    plain = [None if value is None else format(value, "f") for value in array.to_pylist()]
    return pa.array(plain, pa.string())


def times(array: pa.Array, standard: str) -> pa.Array:
    """Dates and timestamps as text; of a second's parts only those that are not zero."""
    text = array.cast(pa.string())
    if pa.types.is_date(array.type):
        return text
    zone = "Z" if array.type.tz is not None else ""
    text = pc.replace_substring_regex(text, r"\.?0*Z?$", zone) if array.type.unit != "s" else text
    return pc.replace_substring(text, " ", "T", max_replacements=1) if standard == "ISO-8601" else text


def quoted(text: str) -> str:
    """A string as JSON has it."""
    return json.dumps(text, ensure_ascii=False)


def _floats(text: pa.Array) -> pa.Array:
    """Arrow's text of floats as JSON: 1 as 1.0, and words for what is not finite."""
    whole = pc.match_substring_regex(text, r"^-?\d+$")
    text = pc.if_else(whole, _join(text, ".0"), text)
    if not pc.any(pc.match_substring_regex(text, "[nf]")).as_py():
        return text
    for said, word in (("nan", '"NaN"'), ("inf", '"Infinity"'), ("-inf", '"-Infinity"')):
        text = pc.if_else(pc.equal(text, said), word, text)
    return text


def _strings(array: pa.Array) -> pa.Array:
    special = pc.match_substring_regex(array, r'[\x00-\x1f"\\]')
    if pc.any(special).as_py():
        escaped = [None if text is None else quoted(text)[1:-1] for text in array.filter(special).to_pylist()]
        array = pc.replace_with_mask(array, special.fill_null(False), pa.array(escaped, pa.string()))
    return _join('"', array, '"')


def _join(*parts: Any) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")


Writer = Callable[[Any], str]


def writer(kind: pa.DataType, form: JsonText) -> Writer:
    """A function that writes one value of a type, itself not NULL, as JSON."""
    if pa.types.is_struct(kind):
        return _struct_writer(kind, form)
    if pa.types.is_map(kind):
        return _map_writer(kind, form)
    if pa.types.is_list(kind):
        inner = _or_null(writer(kind.value_type, form))
        return lambda value: "[" + ",".join(inner(part) for part in value) + "]"
    if pa.types.is_timestamp(kind):
        return lambda value: f'"{_timestamp(value, form.timestamps)}"'
    return scalar


def _struct_writer(kind: pa.DataType, form: JsonText) -> Writer:
    parts = [(field.name, quoted(field.name), _or_null(writer(field.type, form))) for field in kind]

    def write(value: Any) -> str:
        told = [
            f"{label}:{inner(value[name])}"
            for name, label, inner in parts
            if not (form.ignore_nulls and value[name] is None)
        ]
        return "{" + ",".join(told) + "}"

    return write


def _map_writer(kind: pa.DataType, form: JsonText) -> Writer:
    inner = _or_null(writer(kind.item_type, form))

    def write(value: Any) -> str:
        told = (f"{quoted(plain(key, form.timestamps))}:{inner(item)}" for key, item in value)
        return "{" + ",".join(told) + "}"

    return write


def _or_null(write: Writer) -> Writer:
    return lambda value: "null" if value is None else write(value)


def scalar(value: Any) -> str:
    """One value that is not nested, as JSON."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value) if math.isfinite(value) else f'"{_WORDS[str(value)]}"'
        case int() | Decimal():
            return format(value, "f" if isinstance(value, Decimal) else "d")
        case _:
            return quoted(plain(value, "SQL"))


_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def plain(value: Any, timestamps: str) -> str:
    """One value that is not nested, as text without quotes: a map's key, a part of a CSV array."""
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            return _timestamp(value, timestamps)
        case date():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case _:
            return str(value)


def _timestamp(value: datetime, standard: str) -> str:
    text = value.replace(tzinfo=None).isoformat("T" if standard == "ISO-8601" else " ")
    short = re.sub(r"\.?0*$", "", text) if "." in text else text
    return short + ("Z" if value.tzinfo is not None else "")
