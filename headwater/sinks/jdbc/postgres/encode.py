"""Rows as the text Postgres reads: whole columns by Arrow, nested values one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.csv

from headwater.sinks.jdbc.documents import json_text, scalar_text
from headwater.sinks.jdbc.postgres.types import TargetColumn

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
    return json_text(value, kind) if pa.types.is_nested(kind) else scalar_text(value)


def _array(value: object, kind: pa.DataType) -> str:
    assert isinstance(value, list)
    return "{" + ",".join(_element(part, kind.value_type) for part in value) + "}"


def _element(value: object, kind: pa.DataType) -> str:
    if value is None:
        return "NULL"
    if pa.types.is_list(kind):
        return _array(value, kind)
    text = json_text(value, kind) if pa.types.is_nested(kind) else scalar_text(value)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
