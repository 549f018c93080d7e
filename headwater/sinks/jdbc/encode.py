"""Rows as the text Postgres reads: whole columns by Arrow, nested values one by one."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv

from headwater.sinks.jdbc.types import TargetColumn

Cells = tuple[str | None, ...]


def texts(batch: pa.RecordBatch, columns: Sequence[TargetColumn]) -> list[pa.Array]:
    """Each column as text that its target column reads, NULL as NULL."""
    return [_text(array, column) for array, column in zip(batch.columns, columns, strict=False)]


def cells(batch: pa.RecordBatch, columns: Sequence[TargetColumn]) -> Iterator[tuple[Cells, int]]:
    """Each row as text with its weight."""
    encoded = [array.to_pylist() for array in texts(batch, columns)]
    weights = batch.column(batch.num_columns - 1).to_pylist()
    yield from zip(zip(*encoded, strict=True), weights, strict=True)


def csv(arrays: Sequence[pa.Array]) -> bytes:
    """Text columns as the CSV of COPY: every text in quotes, so that NULL and '' differ."""
    table = pa.table(list(arrays), names=[str(number) for number in range(len(arrays))])
    out = pa.BufferOutputStream()
    style = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    pyarrow.csv.write_csv(table, out, style)
    return bytes(out.getvalue().to_pybytes())


def _text(array: pa.Array, column: TargetColumn) -> pa.Array:
    kind = array.type
    if pa.types.is_string(kind):
        return array
    if pa.types.is_nested(kind) or pa.types.is_binary(kind):
        return pa.array([_literal(value, kind, column) for value in array.to_pylist()], pa.string())
    return array.cast(pa.string())


def _literal(value: object, kind: pa.DataType, column: TargetColumn) -> str | None:
    if value is None:
        return None
    if column.kind.startswith("_"):
        return _array(value, kind)
    return _json(value, kind) if pa.types.is_nested(kind) else _scalar(value)


def _array(value: object, kind: pa.DataType) -> str:
    assert isinstance(value, list)
    return "{" + ",".join(_element(part, kind.value_type) for part in value) + "}"


def _element(value: object, kind: pa.DataType) -> str:
    if value is None:
        return "NULL"
    if pa.types.is_list(kind):
        return _array(value, kind)
    text = _json(value, kind) if pa.types.is_nested(kind) else _scalar(value)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _scalar(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return f"\\x{value.hex()}"
        case datetime():
            return value.isoformat(" ")
        case _:
            return str(value)


def _json(value: object, kind: pa.DataType) -> str:
    """A value as JSON; numbers JSON has no word for become strings, bytes base64."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value) if math.isfinite(value) else f'"{_NOT_FINITE[str(value)]}"'
        case int() | Decimal():
            return format(value, "f" if isinstance(value, Decimal) else "d")
        case bytes():
            return f'"{base64.b64encode(value).decode()}"'
        case date():
            return f'"{value.isoformat()}"'
        case dict():
            parts = (f"{_name(field.name)}:{_json(value[field.name], field.type)}" for field in kind)
            return "{" + ",".join(parts) + "}"
        case list() if pa.types.is_map(kind):
            return "{" + ",".join(f"{_name(_scalar(k))}:{_json(v, kind.item_type)}" for k, v in value) + "}"
        case list():
            return "[" + ",".join(_json(part, kind.value_type) for part in value) + "]"
        case _:
            return _name(str(value))


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _name(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
