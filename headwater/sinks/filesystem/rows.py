"""The changes of a table as rows of a file: those that came, or all with their signs.

-1 | 1 | ann          op | id | name
+1 | 1 | anne         -U | 1  | ann
+1 | 2 | bob          +U | 1  | anne
                      +I | 2  | bob
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from headwater.changes.change_set import BATCH_ROWS, ChangeSet
from headwater.formats.encode_json import Fields
from headwater.schema import WEIGHT
from headwater.sinks.filesystem.target import Target
from headwater.sinks.keyed import identities, together


def rows_of(target: Target, changes: ChangeSet) -> Iterator[pa.RecordBatch]:
    """The rows that a batch adds, as they stand in a file."""
    if target.mode == "append":
        found = of_sign(target, changes, come=True)
    elif target.table.schema.key:
        found = _by_key(target, changes)
    else:
        found = _by_sign(target, changes)
    for fields in found:
        yield target.layout.encode(fields)


def of_sign(target: Target, changes: ChangeSet, *, come: bool) -> Iterator[Fields]:
    """The rows that came, or those that are gone."""
    for batch in changes.batches():
        weights = batch.column(WEIGHT)
        rows = batch.filter(pc.greater(weights, 0) if come else pc.less(weights, 0))
        if rows.num_rows:
            yield fields_of(target, rows)


def fields_of(target: Target, rows: pa.RecordBatch) -> Fields:
    """The columns of the table."""
    return [(name, rows.column(name)) for name in target.table.schema.names]


def _by_sign(target: Target, changes: ChangeSet) -> Iterator[Fields]:
    """Without a key a row that changes goes and another comes; those that go are first."""
    for come, sign in ((False, "-D"), (True, "+I")):
        for fields in of_sign(target, changes, come=come):
            signs = pa.array([sign] * len(fields[0][1]))
            yield [(target.table.options.op_column, signs), *fields]


def _by_key(target: Target, changes: ChangeSet) -> Iterator[Fields]:
    """Old and new row of one key stand together, in the order in which the keys are first met."""
    for rows in together(changes, partial(identities, target.table)):
        if not rows.num_rows:
            continue
        whole = rows.combine_chunks().to_batches()[0]
        codes = identities(target.table, whole).dictionary_encode().indices
        came = pc.greater(whole.column(WEIGHT), 0)
        new, old = codes.filter(came), codes.filter(pc.invert(came))
        replaced = pc.and_(pc.is_in(codes, value_set=new), pc.is_in(codes, value_set=old))
        signs = pc.if_else(came, pc.if_else(replaced, "+U", "+I"), pc.if_else(replaced, "-U", "-D"))
        # Behind the sign stands the place, so that of several new rows the last one stays the last.
        numbered = pa.table({"key": codes, "sign": whole.column(WEIGHT), "row": range_of(whole.num_rows)})
        order = pc.sort_indices(numbered, [("key", "ascending"), ("sign", "ascending"), ("row", "ascending")])
        for start in range(0, whole.num_rows, BATCH_ROWS):
            places = order.slice(start, BATCH_ROWS)
            yield [
                (target.table.options.op_column, signs.take(places)),
                *fields_of(target, whole.take(places)),
            ]


def range_of(count: int) -> pa.Array:
    """The numbers from 0 on."""
    return pa.array(range(count), pa.int64())
