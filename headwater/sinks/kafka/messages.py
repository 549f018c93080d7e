"""Changes of a table as messages, a few thousand at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.changes.change_set import BATCH_ROWS, ChangeSet
from headwater.formats.encode import envelopes, messages
from headwater.formats.encode_json import Fields
from headwater.formats.options import DebeziumJson
from headwater.schema import WEIGHT
from headwater.sinks.kafka.target import Target
from headwater.sinks.keyed import identities, pieces

Headers = list[tuple[str, str | bytes | None]]


@dataclass(frozen=True)
class Chunk:
    """Messages of one topic, one list for each part; a list of None where no message has that part."""

    topic: str
    keys: Sequence[str | bytes | None]
    values: Sequence[str | bytes | None]
    partitions: Sequence[int]
    timestamps: Sequence[int]
    headers: Sequence[Headers | None]


BY_KEY = -1
"""The partition of a message that the client chooses by its key, as Java's client does."""


def chunks(target: Target, changes: ChangeSet, *, batch_id: int) -> Iterator[Chunk]:
    """The messages of a batch for one table, in the order in which a reader has to take them."""
    if target.upserts:
        yield from _upserts(target, changes)
    elif isinstance(target.formats.value, DebeziumJson):
        yield from _events(target, changes, batch_id)
    else:
        for number, rows in enumerate(_of_sign(changes, come=True)):
            values = messages(target.formats.value, _fields(target.value_columns, rows))
            yield _chunk(target, rows, values, turn=batch_id, first=number * BATCH_ROWS)


def _upserts(target: Target, changes: ChangeSet) -> Iterator[Chunk]:
    for piece in pieces(target.table, changes):
        for rows, came in piece.parts():
            if came:
                values = messages(target.formats.value, _fields(target.value_columns, rows))
            else:
                values = pa.nulls(rows.num_rows, pa.string())
            yield _chunk(target, rows, values)


def _events(target: Target, changes: ChangeSet, batch_id: int) -> Iterator[Chunk]:
    """All rows that are gone, then all that came: a reader never sees a key with two rows."""
    kind = target.formats.value
    assert isinstance(kind, DebeziumJson)
    for come in (False, True):
        for number, rows in enumerate(_of_sign(changes, come=come)):
            values = envelopes(kind, _fields(target.value_columns, rows), come=come)
            yield _chunk(target, rows, values, turn=batch_id, first=number * BATCH_ROWS)


def _of_sign(changes: ChangeSet, *, come: bool) -> Iterator[pa.RecordBatch]:
    for batch in changes.batches():
        weights = batch.column(WEIGHT)
        rows = batch.filter(pc.greater(weights, 0) if come else pc.less(weights, 0))
        if rows.num_rows:
            yield rows


def _fields(names: Sequence[str], rows: pa.RecordBatch, prefix: str = "") -> Fields:
    return [(name.removeprefix(prefix), rows.column(name)) for name in names]


def _chunk(target: Target, rows: pa.RecordBatch, values: pa.Array, *, turn: int = 0, first: int = 0) -> Chunk:
    keys: list[Any] = [None] * rows.num_rows
    if target.formats.key is not None:
        fields = _fields(target.key_columns, rows, target.formats.key_prefix)
        keys = messages(target.formats.key, fields).to_pylist()
    return Chunk(
        target.topic,
        keys,
        values.to_pylist(),
        _partitions(target, rows, turn=turn, first=first),
        _timestamps(target, rows),
        _headers(target, rows),
    )


def _partitions(target: Target, rows: pa.RecordBatch, *, turn: int, first: int) -> list[int]:
    """Where each message goes; without a key the choice depends on nothing but the batch, so a repeat is equal."""
    count, rows_here = target.partitions, rows.num_rows
    partitioner = "default" if target.upserts else target.table.options.partitioner
    if partitioner == "fixed":
        return [0] * rows_here
    if partitioner == "round-robin":
        return [(first + number) % count for number in range(rows_here)]
    if target.formats.key is not None:
        return [BY_KEY] * rows_here
    if isinstance(target.formats.value, DebeziumJson) and target.table.schema.key:
        texts = identities(target.table, rows).to_pylist()
        return [zlib.crc32(text.encode()) % count for text in texts]
    return [turn % count] * rows_here


def _timestamps(target: Target, rows: pa.RecordBatch) -> list[int]:
    """Milliseconds since 1970; 0 lets the client take the time of sending."""
    name = target.metadata("timestamp")
    if name is None:
        return [0] * rows.num_rows
    micros = rows.column(name).cast(pa.int64()).to_pylist()
    return [0 if value is None else value // 1000 for value in micros]


def _headers(target: Target, rows: pa.RecordBatch) -> list[Headers | None]:
    name = target.metadata("headers")
    if name is None:
        return [None] * rows.num_rows
    found: list[Headers | None] = rows.column(name).to_pylist()
    return found
