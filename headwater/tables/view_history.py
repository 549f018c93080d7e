"""What a batch did to a view, as rows of their own: the relation behind CHANGES(view)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.changes.change_set import ChangeSet, Files, Rows, weighted_schema
from headwater.log.events import CREATED, DELETED, FIRST
from headwater.schema import WEIGHT, Schema, arrow_schema, with_bounds
from headwater.tables.history import MOMENT, OP_COLUMN, history_schema
from headwater.tables.state import row_count

BATCH_BITS = 32
"""A view's changes are numbered within their batch, so many bits of the number."""


def history_of_changes(
    relation: str, changes: ChangeSet, moment: Any, *, first: bool, batch_id: int, folder: Path
) -> ChangeSet:
    """What a batch did to a view, committed at a moment: its rows go and come. Large ones go through a file."""
    schema = history_schema(changes.schema)
    told = _numbered(_of_view(changes, schema, moment, come=FIRST if first else CREATED), batch_id)
    if changes.is_small:
        return ChangeSet(relation, schema, tuple(map(Rows, told)))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"history-{relation.encode().hex()}.parquet"
    made_of = weighted_schema(schema)
    with pq.ParquetWriter(path, made_of, write_statistics=with_bounds(made_of)) as file:
        for made in told:
            file.write_table(made)
    return ChangeSet(relation, schema, (Files((path,), row_count(path)),))


def _numbered(told: Iterator[pa.Table], batch_id: int) -> Iterator[pa.Table]:
    """Rows with their place in the order of all changes."""
    count = batch_id << BATCH_BITS
    for made in told:
        numbers = pa.array(range(count, count + made.num_rows), pa.int64())
        # What goes is numbered before what comes: of a row that changed, the old one goes first.
        later = pc.if_else(pc.equal(made.column(OP_COLUMN), DELETED), 0, 1 << (BATCH_BITS - 1))
        place = made.column_names.index("sequence")
        yield made.set_column(place, made.schema.field(place), pc.add(numbers, later))
        count += made.num_rows


def _of_view(changes: ChangeSet, schema: Schema, moment: Any, *, come: str) -> Iterator[pa.Table]:
    wanted = arrow_schema(changes.schema)
    final = weighted_schema(schema)
    for batch in changes.batches():
        count = batch.num_rows
        structs = pa.StructArray.from_arrays([batch.column(n) for n in wanted.names], fields=list(wanted))
        is_there = pc.greater(batch.column(WEIGHT), 0)
        places, nothing = pa.array(range(count), pa.int64()), pa.scalar(None, pa.int64())
        columns = [
            pc.if_else(is_there, come, DELETED),
            structs.take(pc.if_else(is_there, nothing, places)),
            structs.take(pc.if_else(is_there, places, nothing)),
            pa.nulls(count, pa.string()),
            pa.nulls(count, pa.string()),
            pa.repeat(pa.scalar(moment, MOMENT), count),
            pa.repeat(pa.scalar(moment, MOMENT), count),
            pa.nulls(count, pa.int64()),
            pa.repeat(pa.scalar(1, pa.int8()), count),
        ]
        yield pa.Table.from_arrays(columns, names=final.names).cast(final)
