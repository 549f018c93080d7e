"""Values as Postgres writes them in texts.

A value is written as the type that the client was told, whatever Spark computed it as.
"""

from __future__ import annotations

import datetime
import json
import math
import struct
from collections.abc import Callable
from decimal import Decimal

from headwater.server.postgres.types import (
    ARRAYS,
    BOOL,
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
    TIMESTAMP,
    TIMESTAMPTZ,
)

Write = Callable[[object], bytes]


def text_writer(kind: int) -> Write:
    """How values of a type are written; what is not known is written as a text."""
    return _text_array(kind) if kind in ARRAYS else _TEXTS.get(kind, text)


def text(value: object) -> bytes:
    """Any value as a text."""
    return plain(value).encode()


def plain(value: object) -> str:
    """Any value as a text, in Python's form."""
    match value:
        case bool():
            return "true" if value else "false"
        case datetime.datetime():
            return _moment(value).decode()
        case dict() | list():
            return json_text(value)
        case bytes():
            return _bytea(value).decode()
        case float():
            return _float(value).decode()
    return str(value)


def _bool(value: object) -> bytes:
    return b"t" if value else b"f"


def whole(value: object) -> int:
    """A whole number, of whatever kind it was computed as; days, of a length of time."""
    if isinstance(value, datetime.timedelta):
        return value.days
    assert isinstance(value, (int, float, Decimal, str)), type(value)
    number = int(value)
    if number != value and not isinstance(value, str):
        raise ValueError(f"{value} is not whole.")
    return number


def _int(value: object) -> bytes:
    return str(whole(value)).encode()


def _float(value: object) -> bytes:
    number = float(value)  # type: ignore[arg-type]  # what is no number is an error of its own
    if math.isnan(number):
        return b"NaN"
    if math.isinf(number):
        return b"Infinity" if number > 0 else b"-Infinity"
    return repr(number).removesuffix(".0").encode()


def _float4(value: object) -> bytes:
    number = float(value)  # type: ignore[arg-type]  # what is no number is an error of its own
    if math.isfinite(number):
        # The shortest text that is this number and no other.
        near = (f"{number:.{digits}g}" for digits in range(1, 10))
        return next((text for text in near if _single(float(text)) == number), repr(number)).encode()
    return _float(number)


def _single(number: float) -> float:
    return float(struct.unpack("!f", struct.pack("!f", number))[0])


def decimal(value: object) -> Decimal:
    """An exact number, of whatever kind it was computed as."""
    if isinstance(value, float):
        # The shortest text of a floating number is what it was meant to be.
        return Decimal(repr(value))
    return Decimal(value)  # type: ignore[arg-type]  # what is no number is an error of its own


def _numeric(value: object) -> bytes:
    number = decimal(value)
    return (f"{number:f}" if number.is_finite() else _float(float(number)).decode()).encode()


def _date(value: object) -> bytes:
    if isinstance(value, datetime.datetime):
        value = value.date()
    assert isinstance(value, datetime.date), type(value)
    return value.isoformat().encode()


def wall(value: object) -> datetime.datetime:
    """A moment on the clock of UTC."""
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
    assert isinstance(value, datetime.date), type(value)
    return datetime.datetime(value.year, value.month, value.day)


def _moment(value: object) -> bytes:
    text = wall(value).isoformat(" ")
    return (text.rstrip("0") if "." in text else text).encode()


def _moment_utc(value: object) -> bytes:
    return _moment(value) + b"+00"


def _bytea(value: object) -> bytes:
    assert isinstance(value, bytes), type(value)
    return b"\\x" + value.hex().encode()


def json_text(value: object) -> str:
    """A value in JSON; exact numbers stay exact."""
    match value:
        case dict():
            pairs = (f"{_quoted(_key(key))}: {json_text(one)}" for key, one in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(map(json_text, value)) + "]"
        case None | bool() | int() | str():
            return json.dumps(value, ensure_ascii=False)
        case Decimal():
            return f"{value:f}"
        case float() if math.isfinite(value):
            return repr(value)
    return _quoted(plain(value))


def _key(value: object) -> str:
    return value if isinstance(value, str) else plain(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _json(value: object) -> bytes:
    return (value if isinstance(value, str) else json_text(value)).encode()


def _text_array(kind: int) -> Write:
    write = text_writer(ARRAYS[kind])

    def write_array(value: object) -> bytes:
        assert isinstance(value, list), type(value)
        return b"{" + b",".join(b"NULL" if one is None else _element(write(one)) for one in value) + b"}"

    return write_array


def _element(text: bytes) -> bytes:
    """An element of an array, in quotes if it needs them."""
    is_plain = (
        text and text.upper() != b"NULL" and not any(letter in b'{},"\\' or letter <= 32 for letter in text)
    )
    return text if is_plain else b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


_TEXTS: dict[int, Write] = {
    BOOL: _bool,
    INT2: _int,
    INT4: _int,
    INT8: _int,
    OID: _int,
    FLOAT4: _float4,
    FLOAT8: _float,
    NUMERIC: _numeric,
    DATE: _date,
    TIMESTAMP: _moment,
    TIMESTAMPTZ: _moment_utc,
    BYTEA: _bytea,
    JSON: _json,
    JSONB: _json,
}
