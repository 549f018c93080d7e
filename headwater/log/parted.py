"""Which events of a stream are still told of a table when rows with a value that does not fit are put aside.

The table has the rows that fit, so that

    insert of a row that does not fit   a letter
    delete of one                       nothing: it was never there
    upsert of one                       a letter, and what its key had before goes: delete_key
    delete_key                          as it is, and nothing if the key itself does not fit

Whether a row fits is seen from its text alone, so that a row which comes and goes is judged both times alike.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.events import (
    CREATED,
    DELETE,
    DELETE_KEY,
    DELETED,
    HISTORY,
    INSERT,
    KIND,
    OP,
    POSITION,
    SEQ,
    UNCHANGED,
    UPDATED,
    UPSERT,
    WEIGHTS,
)
from headwater.log.letters import Read, letters, letters_name
from headwater.schema import WEIGHT, Schema

_COMES = pa.array([INSERT, UPSERT])
_WHOLE = pa.array([INSERT, DELETE])


def parted(events: pa.Table, read: Read, schema: Schema, places: pa.Array) -> dict[str, pa.Table]:
    """Events whose values are NULL where they do not fit, as those of the table that has only rows that fit, and letters.

    `places` is where the commit of each event stands.
    """
    unfit, no_key = read.unfit(), read.unfit(schema.key)
    kinds = _column(events, KIND)
    rejected = pc.and_(unfit, pc.is_in(kinds, value_set=_COMES))
    dropped = pc.and_(unfit, pc.or_(no_key, pc.is_in(kinds, value_set=_WHOLE)))
    events = _halved(events, rejected, dropped)
    found = {read.table: _turned(events, rejected, schema).filter(pc.invert(dropped)).combine_chunks()}
    if pc.any(rejected).as_py():
        some = events.filter(rejected).combine_chunks()
        beside = {name: _column(some, name) for name in (POSITION, SEQ, UNCHANGED, *HISTORY)}
        found[letters_name(read.table)] = letters(read.filter(rejected), beside, places.filter(rejected))
    return found


def _turned(events: pa.Table, rejected: pa.Array, schema: Schema) -> pa.Table:
    """Upserts of rows that do not fit as what they mean for the table: the row that their key had goes.

    They are told as deletes: what comes next is not the other half of an update, and has to find its values elsewhere.
    """
    turned = pc.and_(rejected, pc.equal(_column(events, KIND), UPSERT))
    if not pc.any(turned).as_py():
        return events
    new = {KIND: DELETE_KEY, OP: DELETED, WEIGHT: pa.scalar(WEIGHTS[DELETE_KEY], pa.int8())}
    new |= {name: None for name in (*schema.names, UNCHANGED) if name not in schema.key}
    columns = []
    for field in events.schema:
        column = _column(events, field.name)
        if field.name in new:
            column = pc.if_else(turned, pa.scalar(new[field.name], field.type), column)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=events.schema)


def _halved(events: pa.Table, rejected: pa.Array, dropped: pa.Array) -> pa.Table:
    """An update of which one half is not told is a delete, or an insert, for whoever wants to know what happened."""
    ops, seqs = _column(events, OP), _column(events, SEQ)
    is_update = pc.fill_null(pc.equal(ops, UPDATED), fill_value=False)
    is_last = pc.is_in(seqs, value_set=pc.subtract(seqs.filter(rejected), 1))
    is_first = pc.is_in(seqs, value_set=pc.add(seqs.filter(pc.and_(dropped, is_update)), 1))
    kinds = _column(events, KIND)
    goes = pc.invert(pc.is_in(kinds, value_set=_COMES))
    ops = pc.if_else(pc.and_(is_update, pc.and_(goes, is_last)), DELETED, ops)
    # An upsert stays an update: what it did not send is not looked for in a row that went before it.
    is_insert = pc.and_(is_update, pc.equal(kinds, INSERT))
    ops = pc.if_else(pc.and_(is_insert, is_first), CREATED, ops)
    return events.set_column(events.column_names.index(OP), OP, ops)


def _column(events: pa.Table, name: str) -> pa.Array:
    column = events.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
