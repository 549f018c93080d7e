"""Changes of a table as the lines of bulk requests."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from headwater.changes.change_set import BATCH_ROWS, ChangeSet
from headwater.errors import SinkError
from headwater.formats.encode_json import JsonText, column, objects
from headwater.schema import WEIGHT
from headwater.sinks.base import SinkTable
from headwater.sinks.keyed import pieces, together
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
    """Without a key documents are named after what they hold, equal ones numbered.

    A batch that comes again writes the same ones, in whatever order its rows are then.
    """
    prefix = f"{owner}-{target.table.name}-{batch_id}-"
    for alike in together(changes, partial(_documents, target)):
        seen: Counter[str] = Counter()
        for batch in alike.to_batches(max_chunksize=BATCH_ROWS):
            rows = batch.filter(pc.greater(batch.column(WEIGHT), 0))
            names = [prefix + name for name in _numbered(_documents(target, rows), seen)]
            yield _actions(target, rows, pa.array(names, pa.string()), verb="index", version=batch_id)


def _numbered(documents: pa.Array, seen: Counter[str]) -> Iterator[str]:
    """A name for each document: its fingerprint, and how many like it came before."""
    for text in documents.to_pylist():
        name = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        yield f"{name}-{seen[name]}"
        seen[name] += 1


def _documents(target: Target, rows: pa.RecordBatch) -> pa.Array:
    return objects([(name, rows.column(name)) for name in target.table.schema.names], target.form)


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
        parts += [_documents(target, rows), "\n"]
    lines = pc.binary_join_element_wise(*parts, "")
    return Actions(tuple(pc.unique(places).to_pylist()), lines.to_pylist())
