"""Columns as CSV lines, and one column as the bytes of a message.

lines([("id", [1, 2]), ("name", ["a,b", None])], CsvText())
1,"a,b"
2,
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.formats.encode_json import Fields, decimals, plain, times


@dataclass(frozen=True)
class CsvText:
    """How values are separated and quoted; `quote` is empty where quoting is switched off."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    null: str = ""
    array_delimiter: str = ";"


def lines(fields: Fields, form: CsvText) -> pa.Array:
    """One line, without its end, for each row; quotes stand only where they are needed."""
    if not fields:
        raise ValueError("a line needs a field")
    cells = [_cells(array, form) for _, array in fields]
    return pc.binary_join_element_wise(*cells, form.delimiter)


def _cells(array: pa.Array, form: CsvText) -> pa.Array:
    text = _text(array, form)
    if form.quote and (pa.types.is_string(array.type) or pa.types.is_nested(array.type)):
        text = _quoted(text, form)
    return text.fill_null(form.null)


def _text(array: pa.Array, form: CsvText) -> pa.Array:
    kind = array.type
    if pa.types.is_decimal(kind):
        return decimals(array)
    if pa.types.is_timestamp(kind):
        return times(array, "SQL")
    if pa.types.is_nested(kind) or pa.types.is_binary(kind):
        return pa.array([_joined(value, kind, form) for value in array.to_pylist()], pa.string())
    return array.cast(pa.string())


def _joined(value: Any, kind: pa.DataType, form: CsvText) -> str | None:
    """Values within a value, one after the other: CSV has one level of them."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        value = [value[field.name] for field in kind]
    if not isinstance(value, list):
        return plain(value, "SQL")
    return form.array_delimiter.join(form.null if part is None else plain(part, "SQL") for part in value)


def _quoted(text: pa.Array, form: CsvText) -> pa.Array:
    special = "".join(
        re.escape(sign) for sign in {form.delimiter, form.quote, form.escape, "\r", "\n"} if sign
    )
    needed = pc.match_substring_regex(text, f"[{special}]")
    if not pc.any(needed).as_py():
        return text
    escaped = pc.replace_substring(text, form.escape, form.escape * 2) if form.escape else text
    escaped = pc.replace_substring(escaped, form.quote, (form.escape or form.quote) + form.quote)
    return pc.if_else(needed, pc.binary_join_element_wise(form.quote, escaped, form.quote, ""), text)


def raw(array: pa.Array, *, charset: str = "UTF-8", endianness: str = "big-endian") -> pa.Array:
    """Each value as bytes: text in a charset, numbers as Java lays them out, NULL as NULL."""
    kind = array.type
    if pa.types.is_binary(kind):
        return array
    if pa.types.is_string(kind) and charset.replace("-", "").upper() == "UTF8":
        return array.cast(pa.binary())
    pack = _packer(kind, charset, endianness)
    return pa.array([None if value is None else pack(value) for value in array.to_pylist()], pa.binary())


RAW_LAYOUTS: dict[pa.DataType, str] = {
    pa.bool_(): "?",
    pa.int8(): "b",
    pa.int16(): "h",
    pa.int32(): "i",
    pa.int64(): "q",
    pa.float32(): "f",
    pa.float64(): "d",
}
"""The types, besides strings and bytes, that can be a message as they stand."""


def _packer(kind: pa.DataType, charset: str, endianness: str) -> Callable[[Any], bytes]:
    if pa.types.is_string(kind):
        return lambda value: bytes(value.encode(charset))
    layout = struct.Struct((">" if endianness == "big-endian" else "<") + RAW_LAYOUTS[kind])
    return layout.pack
