"""JSON as MySQL stores it, written as MySQL shows it: `{"a": 1, "b": [true, null]}`.

A document is a byte for its type and a body. Objects and arrays hold a count, their size, and a list of entries; what
is small stands in the entry itself, everything else behind an offset.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from decimal import Decimal

from headwater.log.binlog_decimals import decimal_text
from headwater.log.binlog_times import datetime_text, time_text

_LITERALS = {0: "null", 1: "true", 2: "false"}
_INT16, _UINT16, _INT32, _UINT32, _INT64, _UINT64, _DOUBLE = range(5, 12)
_STRING, _OPAQUE, _LITERAL = 0x0C, 0x0F, 0x04

_NUMBERS: dict[int, Callable[[bytes, int], tuple[int]]] = {
    _INT16: struct.Struct("<h").unpack_from,
    _UINT16: struct.Struct("<H").unpack_from,
    _INT32: struct.Struct("<i").unpack_from,
    _UINT32: struct.Struct("<I").unpack_from,
    _INT64: struct.Struct("<q").unpack_from,
    _UINT64: struct.Struct("<Q").unpack_from,
}
_double = struct.Struct("<d").unpack_from

_PLACES = 15

_DECIMAL, _DATE, _TIME = 246, 10, 11
_STAMPS = (7, 12)
"""Types of columns that a document can hold without there being a JSON type for them."""


def json_text(data: bytes) -> bytes:
    """The text of a document; no bytes at all stand for null."""
    return _value(data, data[0], 1).encode() if data else b"null"


def _value(data: bytes, kind: int, at: int) -> str:
    if kind in _NUMBERS:
        return str(_NUMBERS[kind](data, at)[0])
    match kind:
        case 0x00 | 0x01:
            return _object(data, at, large=kind == 0x01)
        case 0x02 | 0x03:
            return _array(data, at, large=kind == 0x03)
        case 0x04:
            return _LITERALS[data[at]]
        case 0x0B:
            return double_text(_double(data, at)[0])
        case 0x0C:
            size, at = _length(data, at)
            return _quoted(data[at : at + size].decode())
        case 0x0F:
            return _opaque(data, at)
    raise ValueError(f"type {kind} of a JSON value is not known")


def double_text(value: float) -> str:
    """A number as MySQL shows it within JSON: in full up to fifteen places before or behind the point."""
    number = Decimal(repr(value))
    if number and not -_PLACES <= number.adjusted() < _PLACES:
        digits, _, power = f"{number.normalize():e}".partition("e")
        return f"{digits}e{int(power)}"
    text = f"{number:f}"
    # A point tells that it is no integer.
    return text if "." in text else f"{text}.0"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _object(data: bytes, at: int, *, large: bool) -> str:
    size = 4 if large else 2
    count, keys = _number(data, at, size), at + 2 * size
    values = keys + count * (size + 2)
    parts = []
    for place in range(count):
        entry = keys + place * (size + 2)
        begin = at + _number(data, entry, size)
        name = data[begin : begin + _number(data, entry + size, 2)].decode()
        told = _entry(data, at, values + place * (size + 1), large=large)
        parts.append(f"{_quoted(name)}: {told}")
    return "{" + ", ".join(parts) + "}"


def _array(data: bytes, at: int, *, large: bool) -> str:
    size = 4 if large else 2
    count, values = _number(data, at, size), at + 2 * size
    told = [_entry(data, at, values + place * (size + 1), large=large) for place in range(count)]
    return "[" + ", ".join(told) + "]"


def _entry(data: bytes, begin: int, entry: int, *, large: bool) -> str:
    kind = data[entry]
    is_inside = kind in (_LITERAL, _INT16, _UINT16) or (large and kind in (_INT32, _UINT32))
    return _value(data, kind, entry + 1 if is_inside else begin + _number(data, entry + 1, 4 if large else 2))


def _opaque(data: bytes, at: int) -> str:
    kind = data[at]
    size, at = _length(data, at + 1)
    body = data[at : at + size]
    if kind == _DECIMAL:
        return decimal_text(body[2:], 0, body[0], body[1]).decode()
    if kind in (_DATE, _TIME, *_STAMPS):
        return _quoted(_moment(kind, int.from_bytes(body, "little", signed=True)))
    return _quoted(f"base64:type{kind}:{base64.b64encode(body).decode()}")


def _moment(kind: int, packed: int) -> str:
    whole, fraction = packed >> 24, packed & 0xFFFFFF
    if kind == _TIME:
        size = abs(packed)
        return time_text(size >> 24, f".{size & 0xFFFFFF:06d}", negative=packed < 0)
    text = datetime_text(whole, f".{fraction:06d}")
    return text[:10] if kind == _DATE else text


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _length(data: bytes, at: int) -> tuple[int, int]:
    """A length of seven bits a byte, the least first."""
    size = shift = 0
    while True:
        byte = data[at]
        size |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return size, at
        shift += 7
