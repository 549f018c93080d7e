"""Rows as the literals of a statement: whole columns by Arrow, nested values one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from headwater.sinks.jdbc.documents import json_text
from headwater.sinks.jdbc.mysql.types import MysqlColumn

MICROSECONDS = 6


class NoPlace(Exception):
    """A value that its column would change or drop: the column's name, what happens, what to do."""

    def __init__(self, column: str, what: str, hint: str) -> None:
        super().__init__(what)
        self.column, self.what, self.hint = column, what, hint


def literals(batch: pa.RecordBatch, columns: Sequence[MysqlColumn]) -> list[pa.Array]:
    """Each column as literals, NULL as the word."""
    return [_literal(array, column) for array, column in zip(batch.columns, columns, strict=False)]


def joined(parts: Sequence[pa.Array], between: str, *, around: tuple[str, str]) -> pa.Array:
    """One text for each row: `(1,'ann')` of `1` and `'ann'`."""
    inner = parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, between)
    return pc.binary_join_element_wise(around[0], inner, around[1], "")


def _literal(array: pa.Array, column: MysqlColumn) -> pa.Array:
    if array.null_count and not column.nullable:
        hint = "Make the column nullable, or replace NULL in the query with COALESCE."
        raise NoPlace(column.name, "It is NOT NULL, and gets NULL.", hint)
    if pa.types.is_null(array.type):
        return pa.array(["NULL"] * len(array), pa.string())
    return pc.fill_null(_writer(array.type)(array, column), "NULL")


def _writer(kind: pa.DataType) -> Callable[[pa.Array, MysqlColumn], pa.Array]:
    is_ = pa.types
    for test, writer in (
        (is_.is_boolean, _truth),
        (is_.is_integer, _whole),
        (is_.is_floating, _floating),
        (is_.is_decimal, _decimal),
        (is_.is_string, _text),
        (is_.is_binary, _bytes),
        (is_.is_date, _date),
        (is_.is_timestamp, _time),
    ):
        if test(kind):
            return writer
    return _document


def _truth(array: pa.Array, column: MysqlColumn) -> pa.Array:
    return pc.if_else(array, "1", "0")


def _whole(array: pa.Array, column: MysqlColumn) -> pa.Array:
    return array.cast(pa.string())


def _floating(array: pa.Array, column: MysqlColumn) -> pa.Array:
    if not pc.all(pc.is_finite(array), min_count=0).as_py():
        hint = "Replace NaN and infinity in the query."
        raise NoPlace(column.name, "MySQL has no number that is infinite or not a number.", hint)
    said = array.cast(pa.string())
    # With an exponent it is a floating number to the server too, and keeps all its digits.
    return pc.if_else(pc.match_substring(said, "e"), said, pc.binary_join_element_wise(said, "e0", ""))


def _decimal(array: pa.Array, column: MysqlColumn) -> pa.Array:
    said = array.cast(pa.string())
    if pc.any(pc.match_substring(said, "E"), min_count=0).as_py():
        # With an exponent the server would take it for a floating number.
        plain = [None if value is None else format(value, "f") for value in array.to_pylist()]
        return pa.array(plain, pa.string())
    return said


def _text(array: pa.Array, column: MysqlColumn) -> pa.Array:
    for char, written in (("\\", "\\\\"), ("'", "\\'"), ("\0", "\\0")):
        array = pc.replace_substring(array, char, written)
    return _quoted(array)


def _bytes(array: pa.Array, column: MysqlColumn) -> pa.Array:
    if column.kind == "binary":
        fit = pc.equal(pc.binary_length(array), column.length)
        if not pc.all(fit, min_count=0).as_py():
            what = f"It is {column.shown}, which fills shorter values with zeros."
            raise NoPlace(column.name, what, "Alter the column to VARBINARY.")
    return pa.array([None if v is None else f"x'{v.hex()}'" for v in array.to_pylist()], pa.string())


def _date(array: pa.Array, column: MysqlColumn) -> pa.Array:
    return _quoted(array.cast(pa.string()))


def _time(array: pa.Array, column: MysqlColumn) -> pa.Array:
    plain = array.cast(pa.timestamp("us"))
    unit = 10 ** (MICROSECONDS - (column.digits or 0))
    ticks = plain.cast(pa.int64())
    kept = pc.equal(pc.multiply(pc.divide(ticks, unit), unit), ticks)
    if not pc.all(kept, min_count=0).as_py():
        what = f"It is {column.shown}, which rounds the parts of a second."
        hint = f"Alter the column to {column.kind.upper()}(6), or cut the time in the query with DATE_TRUNC."
        raise NoPlace(column.name, what, hint)
    return _quoted(plain.cast(pa.string()))


def _document(array: pa.Array, column: MysqlColumn) -> pa.Array:
    written = [None if value is None else json_text(value, array.type) for value in array.to_pylist()]
    return _text(pa.array(written, pa.string()), column)


def _quoted(array: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise("'", array, "'", "")
