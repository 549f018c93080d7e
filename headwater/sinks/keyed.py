"""Changes of a table with a key as one row a key, in pieces that fit in memory.

-1 | 1 | a
+1 | 1 | b      come: (1, b)
-1 | 2 | c      gone: (2, c)
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.changes.change_set import BATCH_ROWS, ChangeSet, Rows, weighted_schema
from headwater.formats.encode_json import JsonText, objects
from headwater.schema import WEIGHT
from headwater.sinks.base import SinkTable
from headwater.sinks.by_key import two_rows

PIECE_ROWS = 200_000
"""Up to so many weighted rows are held at once; more are first split by key into files."""

PIECE_BYTES = 256 * 1024 * 1024
"""Up to so many bytes of rows are held at once, as far as files tell: rows may be large and few."""

MOST_BUCKETS = 256

Identity = Callable[[pa.RecordBatch], pa.Array]
"""One text for each row, equal for rows of which only one can be."""


@dataclass(frozen=True)
class Piece:
    """All changes of some keys: `gone` are the last rows of keys that have none now, `come` are the new rows."""

    gone: pa.RecordBatch
    come: pa.RecordBatch

    def parts(self) -> Iterator[tuple[pa.RecordBatch, bool]]:
        """Rows in small parts, those that are gone first; True for those that came."""
        for rows, came in ((self.gone, False), (self.come, True)):
            for start in range(0, rows.num_rows, BATCH_ROWS):
                yield rows.slice(start, BATCH_ROWS), came


def pieces(table: SinkTable, changes: ChangeSet, *, identity: Identity | None = None) -> Iterator[Piece]:
    """The changes of a table with a key, each key in one piece; two new rows of one key are an error.

    `identity` says which rows are one in place of the key.
    """
    identity = identity or partial(identities, table)
    for rows in together(changes, identity):
        yield _piece(table, rows, identity)


def together(changes: ChangeSet, identity: Identity) -> Iterator[pa.Table]:
    """All weighted rows in tables that fit in memory; rows that are one by their identity are in the same."""
    count = min(MOST_BUCKETS, max(-(-changes.count // PIECE_ROWS), -(-_size(changes) // PIECE_BYTES)))
    if count <= 1:
        yield changes.table()
        return
    with tempfile.TemporaryDirectory(prefix="headwater-") as folder:
        for path in _buckets(changes, identity, count=count, folder=Path(folder)):
            with pa.OSFile(str(path)) as file:
                yield pa.ipc.open_file(file).read_all()
            path.unlink()


def identities(table: SinkTable, rows: pa.RecordBatch) -> pa.Array:
    """One text for each row that is equal for equal keys."""
    return objects([(name, rows.column(name)) for name in table.schema.key], JsonText())


def _piece(table: SinkTable, rows: pa.Table, identity: Identity) -> Piece:
    came = pc.greater(rows.column(WEIGHT), 0)
    come, gone = _whole(rows.filter(came)), _whole(rows.filter(pc.invert(came)))
    keys = identity(come)
    if len(pc.unique(keys)) < len(keys):
        come = _last_of_each(table, come, keys)
    if gone.num_rows:
        gone = gone.filter(pc.invert(pc.is_in(identity(gone), value_set=keys)))
    return Piece(gone, come)


def _last_of_each(table: SinkTable, come: pa.RecordBatch, keys: pa.Array) -> pa.RecordBatch:
    numbered = pa.table({"key": keys, "row": pa.array(range(len(keys)), pa.int64())})
    if table.append_only:
        last = numbered.group_by("key").aggregate([("row", "max")]).column("row_max")
        return come.take(last.combine_chunks().sort())
    counted = pc.value_counts(keys)
    twice = counted.field("values").filter(pc.greater(counted.field("counts"), 1))[0]
    rows = come.filter(pc.equal(keys, twice)).select(table.schema.names).slice(0, 2).to_pylist()
    raise two_rows(
        table,
        [rows[0][name] for name in table.schema.key],
        [tuple(row.values()) for row in rows],
    )


def _size(changes: ChangeSet) -> int:
    """The bytes of all rows; those in files are counted before compression."""
    return sum(
        part.table.nbytes if isinstance(part, Rows) else sum(map(_file_size, part.paths))
        for part in changes.parts
    )


def _file_size(path: Path) -> int:
    found = pq.read_metadata(path)
    return sum(found.row_group(number).total_byte_size for number in range(found.num_row_groups))


def _buckets(changes: ChangeSet, identity: Identity, *, count: int, folder: Path) -> list[Path]:
    """The changes in files, every key in one of them."""
    schema = weighted_schema(changes.schema)
    paths = [folder / f"{number}.arrow" for number in range(count)]
    with ExitStack() as closing:
        writers = [closing.enter_context(pa.ipc.new_file(str(path), schema)) for path in paths]
        for batch in changes.batches():
            texts = identity(batch).to_pylist()
            places = pa.array([zlib.crc32(text.encode()) % count for text in texts], pa.int32())
            for number, writer in enumerate(writers):
                part = batch.filter(pc.equal(places, number))
                if part.num_rows:
                    writer.write_batch(part)
    return paths


def _whole(table: pa.Table) -> pa.RecordBatch:
    """The rows of a table in one piece."""
    return pa.concat_batches(table.to_batches()) if table.num_rows else _empty(table.schema)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
