"""Events of the log as the rows that Spark sees: an update is one row again.

    delete u (1, ann), insert u (1, bob)        u, before (1, ann), after (1, bob)
    upsert u (1, bob)                           u, before NULL,     after (1, bob)
    delete_key d (1)                            d, before (1, NULL), after NULL

It is done by columns; the only Python object is the text of a position, one for each transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.log.events import APPENDED, COMMITTED, OP, POSITION, SEQ, TRANSACTION, UNCHANGED, UPDATED
from headwater.log.positions import Position
from headwater.schema import WEIGHT, Schema, arrow_schema
from headwater.spark_source.columns import COLUMNS

BATCH_ROWS = 10_000


def changes_of(
    files: Sequence[Path], schema: Schema, *, notation: str, names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The changes in some files of the log, in their order; of the columns only those that are named."""
    held: pa.Table | None = None
    for path in files:
        with pq.ParquetFile(path) as opened:
            for batch in opened.iter_batches(batch_size=BATCH_ROWS):
                events = pa.Table.from_batches([batch])
                if held is not None:
                    events = pa.concat_tables([held, events])
                held = _half(events)
                whole = events if held is None else events.slice(0, events.num_rows - 1)
                yield from _changes(whole.combine_chunks(), schema, notation).select(names).to_batches()


def _half(events: pa.Table) -> pa.Table | None:
    """The last event, if it is the first half of an update: the other one begins the next batch."""
    last = events.slice(events.num_rows - 1)
    return last if events.num_rows and pc.any(_first_halves(last)).as_py() else None


def _first_halves(events: pa.Table) -> pa.ChunkedArray:
    """Which events only say what an update took away."""
    return pc.and_(pc.equal(events.column(OP), UPDATED), pc.less(events.column(WEIGHT), 0))


def _changes(events: pa.Table, schema: Schema, notation: str) -> pa.Table:
    count = events.num_rows
    halves = _one(_first_halves(events))
    is_second = pa.concat_arrays([pa.array([False]), halves])[:count]
    weights = _one(events.column(WEIGHT))
    places, nothing = pa.arange(0, count), pa.scalar(None, pa.int64())
    gone = pc.if_else(pc.less(weights, 0), places, nothing)
    before = pc.if_else(is_second, pc.subtract(places, 1), gone)
    after = pc.if_else(pc.greater(weights, 0), places, nothing)
    kept = pc.invert(halves)
    rows = _structs(events, schema)
    told = events.filter(kept)
    columns = [
        told.column(OP),
        rows.take(before.filter(kept)),
        rows.take(after.filter(kept)),
        _shown(_one(told.column(POSITION)), notation),
        told.column(TRANSACTION),
        told.column(COMMITTED),
        told.column(APPENDED),
        told.column(SEQ),
        told.column(UNCHANGED),
    ]
    return pa.Table.from_arrays([_one(column) for column in columns], names=list(COLUMNS))


def _structs(events: pa.Table, schema: Schema) -> pa.StructArray:
    wanted = arrow_schema(schema)
    own = events.select(wanted.names).cast(wanted)
    return pa.StructArray.from_arrays([_one(own.column(name)) for name in wanted.names], fields=list(wanted))


def _shown(positions: pa.Array, notation: str) -> pa.Array:
    """Positions as their source writes them."""
    encoded = positions.dictionary_encode()
    texts = [str(Position(number, notation)) for number in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _one(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
