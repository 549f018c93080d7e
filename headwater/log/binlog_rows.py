"""Rows of a binary log, each a list of texts as the server would show them in UTC.

    read = row_reader(table_map, columns)
    at = 0
    while at < len(data):
        row, at = read(data, at)

The bytes of a row are a bit for each column that is NULL, and the values of the others without anything between.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headwater.log.binlog import TableMap
from headwater.log.binlog_decimals import decimal_reader, decimal_size
from headwater.log.binlog_json import json_text
from headwater.log.binlog_times import date_text, datetime_text, fraction_text, stamp_text, time_text
from headwater.log.pgoutput import Value

Cell = tuple[bytes, int]
"""A value as text, and where the next one begins."""
ReadCell = Callable[[bytes, int], Cell]
Row = list[Value]


class Code:
    """The numbers of the types."""

    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    YEAR = 13
    NEWDATE = 14
    VARCHAR = 15
    BIT = 16
    TIMESTAMP2 = 17
    DATETIME2 = 18
    TIME2 = 19
    VECTOR = 242
    JSON = 245
    NEWDECIMAL = 246
    ENUM = 247
    SET = 248
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


_INTEGERS = {Code.TINY: 1, Code.SHORT: 2, Code.INT24: 3, Code.LONG: 4, Code.LONGLONG: 8}
_ONE_BYTE = {
    Code.FLOAT,
    Code.DOUBLE,
    Code.BLOB,
    Code.GEOMETRY,
    Code.JSON,
    Code.VECTOR,
    Code.TIMESTAMP2,
    Code.DATETIME2,
    Code.TIME2,
}
_TWO_BYTES = {Code.VARCHAR, Code.BIT, Code.NEWDECIMAL, Code.VAR_STRING, Code.STRING, Code.ENUM, Code.SET}
"""How long the metadata of a type is; of the others there is none."""


@dataclass(frozen=True)
class RowColumn:
    """What is known of a column beyond its type in the log."""

    name: str
    unsigned: bool = False
    labels: tuple[bytes, ...] = ()
    """Of an ENUM or SET, in UTF-8."""
    codec: str | None = None
    """How its texts are encoded, None for UTF-8 and for bytes that are no text."""
    padded: bool = False
    """True for BINARY(n), whose trailing zeros the log leaves out."""


@dataclass(frozen=True)
class LogType:
    """A column's type as the log has it: `LogType(Code.NEWDECIMAL, 10, 2)`."""

    code: int
    first: int = 0
    second: int = 0


def types_of(table: TableMap) -> tuple[LogType, ...]:
    """The types of a table's columns."""
    return tuple(_types(table.types, table.metadata))


def _types(types: bytes, metadata: bytes) -> Iterator[LogType]:
    at = 0
    for code in types:
        if code in _ONE_BYTE:
            yield LogType(code, metadata[at])
            at += 1
        elif code in _TWO_BYTES:
            yield _two_bytes(code, metadata[at], metadata[at + 1])
            at += 2
        else:
            yield LogType(code)


def _two_bytes(code: int, first: int, second: int) -> LogType:
    if code in (Code.VARCHAR, Code.VAR_STRING):
        return LogType(Code.VARCHAR, first + 256 * second)
    if code == Code.BIT:
        return LogType(Code.BIT, second * 8 + first)
    if code != Code.STRING:
        return LogType(code, first, second)
    if first & 0x30 != 0x30:
        # Two bits of a long CHAR's length stand, inverted, in the byte of its type.
        return LogType(first | 0x30, second | ((first & 0x30) ^ 0x30) << 4)
    return LogType(first, second)


def row_reader(
    types: Sequence[LogType], columns: Sequence[RowColumn]
) -> Callable[[bytes, int], tuple[Row, int]]:
    """Reads one row of a table after the other."""
    cells = [_cell(kind, column) for kind, column in zip(types, columns, strict=True)]
    size, whole = (len(cells) + 7) // 8, (1 << len(cells)) - 1
    places = range(len(cells))

    def read(data: bytes, at: int) -> tuple[Row, int]:
        # MariaDB sets the bits behind the last column.
        nulls = int.from_bytes(data[at : at + size], "little") & whole
        at += size
        row: Row = [None] * len(cells)
        if not nulls:
            for place in places:
                row[place], at = cells[place](data, at)
            return row, at
        for place in places:
            if not nulls >> place & 1:
                row[place], at = cells[place](data, at)
        return row, at

    return read


def _cell(kind: LogType, column: RowColumn) -> ReadCell:
    code, first = kind.code, kind.first
    if code in _INTEGERS:
        return _integer(_INTEGERS[code], unsigned=column.unsigned)
    match code:
        case Code.NEWDECIMAL:
            return _decimal(first, kind.second)
        case Code.FLOAT:
            return _float("<f", 4)
        case Code.DOUBLE:
            return _float("<d", 8)
        case Code.VARCHAR | Code.STRING:
            return _text(1 if first < 256 else 2, column, length=first)
        case Code.BLOB | Code.GEOMETRY | Code.VECTOR:
            return _text(first, column)
        case Code.JSON:
            return _json(first)
        case Code.ENUM:
            return _enum(first, column.labels)
        case Code.SET:
            return _set(first, column.labels)
        case Code.BIT:
            return _bits((first + 7) // 8)
    return _time(code, first)


def _integer(size: int, *, unsigned: bool) -> ReadCell:
    formats = {1: "b", 2: "h", 4: "i", 8: "q"}
    if size in formats:
        letter = formats[size].upper() if unsigned else formats[size]
        unpack = struct.Struct("<" + letter).unpack_from
        return lambda data, at: (b"%d" % unpack(data, at)[0], at + size)
    return lambda data, at: (
        b"%d" % int.from_bytes(data[at : at + size], "little", signed=not unsigned),
        at + size,
    )


def _float(form: str, size: int) -> ReadCell:
    unpack = struct.Struct(form).unpack_from
    return lambda data, at: (repr(unpack(data, at)[0]).encode(), at + size)


def _decimal(precision: int, scale: int) -> ReadCell:
    size, read = decimal_size(precision, scale), decimal_reader(precision, scale)
    return lambda data, at: (read(data, at), at + size)


def _text(size: int, column: RowColumn, *, length: int = 0) -> ReadCell:
    codec, padded = column.codec, column.padded

    def read(data: bytes, at: int) -> Cell:
        begin = at + size
        end = begin + int.from_bytes(data[at:begin], "little")
        return data[begin:end], end

    if codec is not None:
        return lambda data, at: _recoded(read(data, at), codec)
    if padded:
        return lambda data, at: _padded(read(data, at), length)
    return read


def _recoded(cell: Cell, codec: str) -> Cell:
    return cell[0].decode(codec, "replace").encode(), cell[1]


def _padded(cell: Cell, length: int) -> Cell:
    return cell[0].ljust(length, b"\0"), cell[1]


def _json(size: int) -> ReadCell:
    def read(data: bytes, at: int) -> Cell:
        begin = at + size
        end = begin + int.from_bytes(data[at:begin], "little")
        return json_text(data[begin:end]), end

    return read


def _enum(size: int, labels: Sequence[bytes]) -> ReadCell:
    # Zero is what the server stored for a value it did not know.
    words = (b"", *labels)
    return lambda data, at: (words[int.from_bytes(data[at : at + size], "little")], at + size)


def _set(size: int, labels: Sequence[bytes]) -> ReadCell:
    def read(data: bytes, at: int) -> Cell:
        bits = int.from_bytes(data[at : at + size], "little")
        chosen = [label for place, label in enumerate(labels) if bits >> place & 1]
        return b",".join(chosen), at + size

    return read


def _bits(size: int) -> ReadCell:
    return lambda data, at: (data[at : at + size], at + size)


def _time(code: int, digits: int) -> ReadCell:
    extra = (digits + 1) // 2
    match code:
        case Code.YEAR:
            return lambda data, at: (b"%04d" % (1900 + data[at] if data[at] else 0), at + 1)
        case Code.DATE | Code.NEWDATE:
            return lambda data, at: (date_text(int.from_bytes(data[at : at + 3], "little")), at + 3)
        case Code.DATETIME2:
            return lambda data, at: (
                datetime_text(
                    int.from_bytes(data[at : at + 5], "big") - (1 << 39), _fraction(data, at + 5, digits)
                ).encode(),
                at + 5 + extra,
            )
        case Code.TIMESTAMP2:
            return lambda data, at: (
                stamp_text(
                    int.from_bytes(data[at : at + 4], "big"), _fraction(data, at + 4, digits)
                ).encode(),
                at + 4 + extra,
            )
        case Code.TIME2:
            return lambda data, at: (_length_of_time(data, at, digits), at + 3 + extra)
    raise ValueError(f"type {code} of a binary log is not known")


def _fraction(data: bytes, at: int, digits: int) -> str:
    return fraction_text(int.from_bytes(data[at : at + (digits + 1) // 2], "big"), digits)


def _length_of_time(data: bytes, at: int, digits: int) -> bytes:
    extra = (digits + 1) // 2
    packed = int.from_bytes(data[at : at + 3 + extra], "big") - (1 << 23 + 8 * extra)
    size = abs(packed)
    fraction = fraction_text(size & (1 << 8 * extra) - 1, digits)
    return time_text(size >> 8 * extra, fraction, negative=packed < 0).encode()


def known(kind: LogType) -> bool:
    """True if values of a type can be read."""
    try:
        _cell(kind, RowColumn(""))
    except ValueError:
        return False
    return True
