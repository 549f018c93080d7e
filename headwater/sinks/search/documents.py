"""Changes of a table as the lines of bulk requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.formats.encode_json import JsonText, column, objects
from headwater.schema import WEIGHT
from headwater.sinks.base import SinkTable
from headwater.sinks.keyed import pieces
from headwater.sinks.search.names import IndexName, ids, indices

_PLAIN = JsonText()


@dataclass(frozen=True)
class Target:
    """A table, the name of its index, and how its documents are written."""

    table: SinkTable
    name: IndexName
    form: JsonText


@dataclass(frozen=True)
class Actions:
    """Lines of bulk requests, and the indices they go to."""

    indices: tuple[str, ...]
    lines: list[str]


def actions(target: Target, changes: ChangeSet, *, batch_id: int, owner: str) -> Iterator[Actions]:
    """What a batch does to the documents of a table, each document once."""
    if target.table.schema.key:
        yield from _by_key(target, changes, batch_id)
    else:
        yield from _appended(target, changes, batch_id=batch_id, owner=owner)


def _by_key(target: Target, changes: ChangeSet, batch_id: int) -> Iterator[Actions]:
    """A row that moved to another index is deleted in the old one: index and id together say which document it is."""
    for piece in pieces(target.table, changes, identity=partial(_place, target)):
        for rows, came in piece.parts():
            names = ids(target.table, rows)
            yield _actions(target, rows, names, verb="index" if came else "delete", version=batch_id)


def _appended(target: Target, changes: ChangeSet, *, batch_id: int, owner: str) -> Iterator[Actions]:
    """Without a key documents are numbered, so that a batch that comes again writes the same ones."""
    count = 0
    for batch in changes.batches():
        rows = batch.filter(pc.greater(batch.column(WEIGHT), 0))
        prefix = f"{owner}-{target.table.name}-{batch_id}-"
        names = pa.array([f"{prefix}{count + number}" for number in range(rows.num_rows)], pa.string())
        yield _actions(target, rows, names, verb="index", version=batch_id)
        count += rows.num_rows


def _place(target: Target, rows: pa.RecordBatch) -> pa.Array:
    return pc.binary_join_element_wise(_indices(target, rows), ids(target.table, rows), "\n")


def _indices(target: Target, rows: pa.RecordBatch) -> pa.Array:
    found = indices(target.name, rows)
    if found.null_count:
        row = rows.filter(pc.is_null(found)).select(target.table.schema.names).slice(0, 1).to_pylist()[0]
        raise SinkError(
            f"a row of sink table '{target.table.name}' has no index to go to",
            detail=f"Option 'index' is '{target.table.options.index}', and in the row {row} a part of it is NULL.",
            hint="Filter such rows, or give them a value with COALESCE.",
            place=target.table.place,
        )
    return found


def _actions(target: Target, rows: pa.RecordBatch, names: pa.Array, *, verb: str, version: int) -> Actions:
    places = _indices(target, rows)
    parts: list[object] = [
        f'{{"{verb}":{{"_index":',
        column(places, _PLAIN),
        ',"_id":',
        column(names, _PLAIN),
        f',"version":{version},"version_type":"external_gte"}}}}\n',
    ]
    if verb == "index":
        fields = [(name, rows.column(name)) for name in target.table.schema.names]
        parts += [objects(fields, target.form), "\n"]
    lines = pc.binary_join_element_wise(*parts, "")
    return Actions(tuple(pc.unique(places).to_pylist()), lines.to_pylist())
