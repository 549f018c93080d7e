"""The changes of a batch as a merge takes them: each key once.

-1 | 1 | a
+1 | 1 | b      +1 | 1 | b
-1 | 2 | c      -1 | 2 | c
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.errors import SinkError
from headwater.schema import WEIGHT
from headwater.sinks.base import SinkTable
from headwater.sinks.keyed import Piece, pieces

LOCAL_ROWS = 50_000
"""Up to so many rows are handed to Spark as they are; more are read by it from files."""


@contextmanager
def written_rows(table: SinkTable, changes: ChangeSet, folder: Path | None) -> Iterator[ChangeSet]:
    """The rows to write, in memory if they are few, else in files that go when the batch is written.

    The files lie in `folder`, or, if none is given, somewhere on this machine.
    """
    if not table.schema.key:
        _check_nothing_goes(table, changes)
        yield ChangeSet(table.name, table.schema, changes.parts)
        return
    found = map(_whole, pieces(table, changes))
    if changes.is_small and changes.count <= LOCAL_ROWS:
        yield ChangeSet(table.name, table.schema, tuple(Rows(rows) for rows in found if rows.num_rows))
        return
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="headwater-", dir=folder) as made:
        yield ChangeSet(table.name, table.schema, (_in_files(found, Path(made)),))


def _whole(piece: Piece) -> pa.Table:
    return pa.Table.from_batches([piece.gone, piece.come])


def _in_files(found: Iterator[pa.Table], folder: Path) -> Files:
    paths, count = [], 0
    for number, rows in enumerate(found):
        paths.append(folder / f"{number}.parquet")
        pq.write_table(rows, paths[-1], compression="zstd")
        count += rows.num_rows
    return Files(tuple(paths), count)


def _check_nothing_goes(table: SinkTable, changes: ChangeSet) -> None:
    """Without a key no row can be found again."""
    lowest = [pc.min(weights).as_py() for weights in _weights(changes) if len(weights)]
    if lowest and min(lowest) < 0:
        raise SinkError(
            f"a row is taken from sink table '{table.name}', which has no key",
            detail="Without a key no row can be found again.",
            hint="Declare PRIMARY KEY (...) NOT ENFORCED in its CREATE TABLE statement.",
            place=table.place,
        )


def _weights(changes: ChangeSet) -> Iterator[pa.ChunkedArray]:
    for part in changes.parts:
        if isinstance(part, Rows):
            yield part.table.column(WEIGHT)
            continue
        for path in part.paths:
            weights = pq.read_table(path, columns=[WEIGHT], partitioning=None).column(WEIGHT)
            yield pc.negate(weights) if part.negated else weights
