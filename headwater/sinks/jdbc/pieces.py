"""The pieces of a change set, each looked at for what no table could hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.schema import WEIGHT
from headwater.sinks.base import SinkTable


def checked(
    table: SinkTable, changes: ChangeSet, *, null_key: Callable[[str], SinkError] | None
) -> Iterator[pa.RecordBatch]:
    """Pieces with rows; `null_key` makes the error of a key column that is NULL, None if it may be."""
    for batch in changes.batches():
        if not table.schema.key and lowest_weight(batch) < 0:
            raise SinkError(
                f"a row is taken from sink table '{table.name}', which has no key",
                detail="Without a key no row can be found again.",
                hint="Declare PRIMARY KEY (...) NOT ENFORCED in its CREATE TABLE statement.",
                place=table.place,
            )
        for name in table.schema.key:
            if null_key is not None and batch.column(name).null_count:
                raise null_key(name)
        if len(batch):
            yield batch


def lowest_weight(batch: pa.RecordBatch) -> int:
    """The smallest weight of a piece: negative if a row goes."""
    return pc.min(batch.column(WEIGHT)).as_py() or 0
