"""Values as Postgres writes them in bytes, for clients that ask for that."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable

from headwater.server.postgres.messages import Refusal
from headwater.server.postgres.texts import Write, decimal, json_text, text, wall, whole
from headwater.server.postgres.types import (
    ARRAYS,
    BOOL,
    BPCHAR,
    BYTEA,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    JSON,
    JSONB,
    NUMERIC,
    OID,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    VARCHAR,
)

_DAY_ZERO = datetime.date(2000, 1, 1)
_MOMENT_ZERO = datetime.datetime(2000, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def byte_writer(kind: int) -> Write:
    """How values of a type are written."""
    if kind in ARRAYS:
        return _byte_array(ARRAYS[kind])
    if kind not in _BYTES:
        raise Refusal("0A000", "this type cannot be sent in binary form", hint="Ask for it as text.")
    return _BYTES[kind]


def _byte_array(kind: int) -> Write:
    write = byte_writer(kind)

    def write_array(value: object) -> bytes:
        assert isinstance(value, list), type(value)
        if not value:
            return struct.pack("!iiI", 0, 0, kind)
        has_null = any(one is None for one in value)
        parts = [struct.pack("!iiIii", 1, has_null, kind, len(value), 1)]
        for one in value:
            written = None if one is None else write(one)
            parts.append(
                b"\xff\xff\xff\xff" if written is None else struct.pack("!i", len(written)) + written
            )
        return b"".join(parts)

    return write_array


def _numeric_bytes(value: object) -> bytes:
    """Groups of four digits, the weight of the first, a sign and how many digits stand after the point."""
    number = decimal(value)
    if not number.is_finite():
        sign = 0xC000 if number.is_nan() else 0xD000 if number > 0 else 0xF000
        return struct.pack("!hhHh", 0, 0, sign, 0)
    before, _, part = f"{number.copy_abs():f}".partition(".")
    before = before.lstrip("0")
    before = before.zfill(-(-len(before) // 4) * 4)
    padded = before + part + "0" * (-len(part) % 4)
    groups = [int(padded[at : at + 4]) for at in range(0, len(padded), 4)]
    weight = len(before) // 4 - 1
    while groups and groups[0] == 0:
        groups, weight = groups[1:], weight - 1
    while groups and groups[-1] == 0:
        groups.pop()
    sign = 0x4000 if number < 0 else 0
    head = struct.pack("!hhHh", len(groups), weight if groups else 0, sign, len(part))
    return head + struct.pack(f"!{len(groups)}h", *groups)


def _packed(form: str, turn: Callable[[object], object]) -> Write:
    return lambda value: struct.pack(form, turn(value))


def _date_days(value: object) -> int:
    return (wall(value).date() - _DAY_ZERO).days


def _moment_micros(value: object) -> int:
    return (wall(value) - _MOMENT_ZERO) // _MICROSECOND


_BYTES: dict[int, Write] = {
    BOOL: _packed("!?", bool),
    INT2: _packed("!h", whole),
    INT4: _packed("!i", whole),
    INT8: _packed("!q", whole),
    OID: _packed("!I", whole),
    FLOAT4: _packed("!f", float),  # type: ignore[arg-type]  # what is no number is an error of its own
    FLOAT8: _packed("!d", float),  # type: ignore[arg-type]  # what is no number is an error of its own
    NUMERIC: _numeric_bytes,
    DATE: _packed("!i", _date_days),
    TIMESTAMP: _packed("!q", _moment_micros),
    TIMESTAMPTZ: _packed("!q", _moment_micros),
    BYTEA: bytes,  # type: ignore[dict-item]  # what is no row of bytes is an error of its own
    JSON: lambda value: json_text(value).encode(),
    JSONB: lambda value: b"\x01" + json_text(value).encode(),
    **dict.fromkeys((TEXT, VARCHAR, BPCHAR, UNKNOWN), text),
}
