"""Rows of an answer, in the types and forms that a client was told."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import pyarrow as pa

from headwater.server.postgres.binaries import byte_writer
from headwater.server.postgres.messages import Field, Refusal
from headwater.server.postgres.texts import text_writer


def rows_of(batch: pa.RecordBatch, fields: Sequence[Field]) -> Iterable[tuple[bytes | None, ...]]:
    """The rows of a batch in the types and forms that the client was told."""
    if batch.num_columns != len(fields):
        raise Refusal("XX000", f"{len(fields)} columns were told, {batch.num_columns} came")
    columns = [_column(column, field) for column, field in zip(batch.columns, fields, strict=True)]
    return zip(*columns, strict=True) if columns else [()] * batch.num_rows


def _column(column: pa.Array, field: Field) -> list[bytes | None]:
    write = byte_writer(field.type) if field.format else text_writer(field.type)
    # A map comes as a list of pairs, which JSON writes as an object.
    values = (
        column.to_pylist(maps_as_pydicts="lossy") if pa.types.is_nested(column.type) else column.to_pylist()
    )
    try:
        return [None if value is None else write(value) for value in values]
    except (TypeError, ValueError, ArithmeticError, struct.error) as problem:
        raise Refusal(
            "22000",
            f'column "{field.name}" has a value that its type cannot hold',
            detail=f"It is computed as {column.type}. {problem}",
            hint="CAST it in the query.",
        ) from None
