"""Made-up columns: each value is a pure function of the table's name, the column's name and the row's number.

Everything is Arrow arithmetic on whole columns. Chance is a counter put through the finisher of splitmix64.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from headwater.schema import Column, arrow_type

MICROS = 1_000_000
DAY_MICROS = 86_400 * MICROS
WORD = 1 << 64


@dataclass(frozen=True)
class Field:
    """How one column is made up. `low` and `high` are in the type's own unit: microseconds, days, cents."""

    table: str
    column: Column
    kind: str = "random"
    low: int | float | None = None
    high: int | float | None = None
    length: int = 100
    null_rate: float = 0.0

    @property
    def type(self) -> pa.DataType:
        """The Arrow type."""
        return arrow_type(self.column.type)


@dataclass(frozen=True)
class Span:
    """Rows `first` to `first + count` of a table that joined at a position."""

    first: int
    count: int
    joined: int = 0


def column_of(field: Field, span: Span, moments: pa.Array) -> pa.Array:
    """The values of a column for a span of rows; `moments` is when each is released, in microseconds."""
    made = _sequence(field, span) if field.kind == "sequence" else _random(field, span, moments)
    if field.null_rate <= 0:
        return made
    gone = pc.less(_fractions(_words(field, span, "null")), field.null_rate)
    return pc.if_else(gone, pa.scalar(None, made.type), made)


def _sequence(field: Field, span: Span) -> pa.Array:
    start = int(field.low or 0) + span.first
    return pa.array(range(start, start + span.count), pa.int64()).cast(field.type)


def _random(field: Field, span: Span, moments: pa.Array) -> pa.Array:
    kind = field.type
    words = _words(field, span, "value")
    if pa.types.is_boolean(kind):
        return pc.equal(_modulo(words, 2), pa.scalar(1, pa.uint64()))
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _letters(field, span)
    if pa.types.is_floating(kind):
        assert field.low is not None and field.high is not None
        spread = pc.multiply(_fractions(words), float(field.high) - float(field.low))
        return pc.add(spread, float(field.low)).cast(kind)
    if field.low is None or field.high is None:
        return _moment(moments, kind)
    whole = _between(words, int(field.low), int(field.high))
    if pa.types.is_decimal(kind):
        return whole.cast(pa.decimal128(19, 0)).view(kind)
    return whole.cast(pa.int32()).view(kind) if pa.types.is_date32(kind) else _as_integer(whole, kind)


def _as_integer(whole: pa.Array, kind: pa.DataType) -> pa.Array:
    return whole.view(kind) if pa.types.is_timestamp(kind) else whole.cast(kind)


def _moment(moments: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_date32(kind):
        return pc.divide(moments, pa.scalar(DAY_MICROS, pa.int64())).cast(pa.int32()).view(kind)
    return moments.view(kind)


def _letters(field: Field, span: Span) -> pa.Array:
    """Strings of `length` hexadecimal digits, or as many bytes."""
    binary = pa.types.is_binary(field.type)
    per_word = 8 if binary else 16
    words_each = max(1, -(-field.length // per_word))
    wide = Span(span.first * words_each, span.count * words_each)
    raw = _words(field, wide, "value").buffers()[1].to_pybytes()[: wide.count * 8]
    width = words_each * per_word
    data = raw if binary else raw.hex().encode()
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), span.count, [None, pa.py_buffer(data)])
    return pc.binary_slice(fixed.cast(pa.binary()), 0, field.length).cast(field.type)


def _words(field: Field, span: Span, purpose: str) -> pa.Array:
    """One random 64-bit word for each row."""
    name = f"{field.table}\0{field.column.name}\0{purpose}".encode()
    seed = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big")
    word = pa.array(range(span.first, span.first + span.count), pa.uint64())
    word = pc.add(pc.multiply(word, _word(0x9E3779B97F4A7C15)), _word(seed))
    word = pc.multiply(pc.bit_wise_xor(word, pc.shift_right(word, _word(30))), _word(0xBF58476D1CE4E5B9))
    word = pc.multiply(pc.bit_wise_xor(word, pc.shift_right(word, _word(27))), _word(0x94D049BB133111EB))
    return pc.bit_wise_xor(word, pc.shift_right(word, _word(31)))


def _word(value: int) -> pa.Scalar:
    return pa.scalar(value % WORD, pa.uint64())


def _modulo(words: pa.Array, by: int) -> pa.Array:
    return pc.subtract(words, pc.multiply(pc.divide(words, _word(by)), _word(by)))


def _between(words: pa.Array, low: int, high: int) -> pa.Array:
    span = high - low + 1
    within = words if span >= WORD else _modulo(words, span)
    # Unsigned addition wraps, so a negative low is added as its two's complement.
    return pc.add(within, _word(low)).view(pa.int64())


def _fractions(words: pa.Array) -> pa.Array:
    """Words as floating numbers from 0 up to, not with, 1."""
    return pc.multiply(pc.shift_right(words, _word(11)).cast(pa.float64()), 2.0**-53)
