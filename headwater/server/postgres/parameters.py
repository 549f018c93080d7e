"""What a client gives for the parameters of a query, as expressions of Spark's SQL."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from headwater.log.text_arrays import elements
from headwater.server.postgres.messages import Body, Refusal
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
    JSONB,
    NUMERIC,
    OID,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    spark_type,
)

_NUMBERS = {INT2: "!h", INT4: "!i", INT8: "!q", OID: "!I", FLOAT4: "!f", FLOAT8: "!d"}
_DAY_ZERO = datetime.date(2000, 1, 1)
_MOMENT_ZERO = datetime.datetime(2000, 1, 1)


def expressions(
    values: Sequence[bytes | None], kinds: Sequence[int], formats: Sequence[int]
) -> list[exp.Expression]:
    """An expression for each value; formats say which are in bytes, one format is for all, none means texts."""
    forms = [*formats] if len(formats) > 1 else [*(formats or (0,))] * len(values)
    if not len(values) == len(kinds) == len(forms):
        raise Refusal("08P01", f"{len(kinds)} parameters are needed, {len(values)} came")
    return [_expression(*one) for one in zip(values, kinds, forms, strict=True)]


def _expression(value: bytes | None, kind: int, form: int) -> exp.Expression:
    try:
        if kind in ARRAYS:
            return _array(value, kind, form)
        text = None if value is None else (_text_of(value, kind) if form else value.decode())
        return _literal(text, kind)
    except (UnicodeDecodeError, struct.error, ValueError, InvalidOperation, OverflowError):
        raise Refusal("22P03", "a parameter has an impossible value") from None


def _array(value: bytes | None, kind: int, form: int) -> exp.Expression:
    inner = ARRAYS[kind]
    if value is None:
        return exp.Null()
    items = _items(value, inner) if form else elements(value.decode())
    return exp.Array(expressions=[_literal(item, inner) for item in items])


def _items(value: bytes, kind: int) -> list[str | None]:
    body = Body(value)
    dimensions, _, _ = body.number("i"), body.number("i"), body.number("I")
    if dimensions == 0:
        return []
    if dimensions != 1:
        raise Refusal("0A000", "an array of arrays cannot be a parameter")
    count, _ = body.number("i"), body.number("i")
    found = (body.value() for _ in range(count))
    return [None if item is None else _text_of(item, kind) for item in found]


def _literal(text: str | None, kind: int) -> exp.Expression:
    if kind == NUMERIC:
        return _decimal(text)
    if kind == BYTEA and text is not None:
        return exp.HexString(this=text.removeprefix("\\x"))
    if kind == BOOL and text is not None:
        return exp.Boolean(this=text.strip().lower() in ("t", "true", "y", "yes", "on", "1"))
    value = exp.Null() if text is None else exp.Literal.string(text)
    return exp.cast(value, spark_type(kind), dialect="spark")


def _decimal(text: str | None) -> exp.Expression:
    if text is None:
        return exp.cast(exp.Null(), "DECIMAL(38, 10)", dialect="spark")
    number = Decimal(text.strip())
    if not number.is_finite():
        return exp.cast(exp.Literal.string(str(number)), "DOUBLE", dialect="spark")
    exponent = number.as_tuple().exponent
    scale = max(0, -int(exponent))
    digits = max(len(f"{number.copy_abs():f}".replace(".", "").lstrip("0")), scale, 1)
    return exp.cast(exp.Literal.string(f"{number:f}"), f"DECIMAL({digits}, {scale})", dialect="spark")


def _text_of(value: bytes, kind: int) -> str:
    """A value in bytes, as a text."""
    if kind in _NUMBERS:
        return str(struct.unpack(_NUMBERS[kind], value)[0])
    match kind:
        case _ if kind == BOOL:
            return "t" if value == b"\x01" else "f"
        case _ if kind == NUMERIC:
            return _numeric(value)
        case _ if kind == DATE:
            (days,) = struct.unpack("!i", value)
            return str(_DAY_ZERO + datetime.timedelta(days))
        case _ if kind in (TIMESTAMP, TIMESTAMPTZ):
            (micros,) = struct.unpack("!q", value)
            moment = _MOMENT_ZERO + datetime.timedelta(microseconds=micros)
            return f"{moment}{'+00:00' if kind == TIMESTAMPTZ else ''}"
        case _ if kind == BYTEA:
            return value.hex()
        case _ if kind == UUID:
            text = value.hex()
            return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
        case _ if kind == JSONB:
            return value[1:].decode()
    return value.decode()


def _numeric(value: bytes) -> str:
    count, weight, sign, scale = struct.unpack("!hhHh", value[:8])
    if sign in (0xC000, 0xD000, 0xF000):
        return {0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"}[sign]
    groups = struct.unpack(f"!{count}h", value[8:])
    # By its digits: numbers of Python are rounded when they are computed with.
    digits = "".join(f"{group:04}" for group in groups) + "0000" * max(0, weight + 1 - count)
    digits = "0000" * max(0, -weight - 1) + digits
    before = 4 * max(0, weight + 1)
    part = digits[before:].ljust(scale, "0")[:scale]
    return f"{'-' if sign == 0x4000 else ''}{digits[:before] or '0'}{'.' + part if part else ''}"
