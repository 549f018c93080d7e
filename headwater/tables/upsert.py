"""From events to weighted rows, for tables whose log does not carry the row before.

`upsert` and `delete_key` say what became of a key; what was there before is looked up in State:

    State: (1, ann)    events: upsert (1, bob), delete_key (2)    changes: -(1, ann) +(1, bob)
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.changes.change_set import ChangeSet, Files, Rows, weighted_schema
from headwater.errors import SourceError
from headwater.log.events import (
    CREATED,
    DELETE,
    DELETE_KEY,
    DELETED,
    KIND,
    OP,
    SEQ,
    TRUNCATE,
    UNCHANGED,
    Events,
)
from headwater.schema import WEIGHT
from headwater.tables.emptied import emptied_in, whole_truncate
from headwater.tables.slices import cut
from headwater.tables.state import State

_ORDER = "__hw_order"


def changes_of(events: Events, state: State) -> ChangeSet:
    """The change a table's events make, given what is true before them."""
    names = weighted_schema(state.schema).names
    if events.whole_rows:
        part = (
            Rows(events.rows.select(names)) if events.rows is not None else Files(events.files, events.count)
        )
        return ChangeSet(state.relation, state.schema, (part,))
    rows = events.rows if events.rows is not None else _read(events)
    parts: list[Rows | Files] = []
    truncated = whole_truncate(rows)
    if truncated is not None:
        parts.append(Files(state.paths, state.rows, negated=True))
        state = State(state.relation, state.schema, state.folder)
        rows = rows.filter(pc.greater(rows.column(SEQ), truncated))
    emptied = emptied_in(rows)
    for one in emptied:
        parts.append(Rows(one.stored(state).select(names)))
        rows = one.without(rows)
    if not state.schema.key:
        parts.append(Rows(rows.select(names)))
    else:
        before = rows_before(rows, state)
        for one in emptied:
            before = before.filter(pc.invert(one.has(before)))
        after = _rows_after(filled(rows, before, state.schema.key, table=state.relation), state.schema.key)
        gone = before.set_column(before.num_columns - 1, WEIGHT, pa.array([-1] * len(before), pa.int8()))
        parts.append(Rows(pa.concat_tables([gone.select(names), after.select(names)]).combine_chunks()))
    return ChangeSet(state.relation, state.schema, tuple(parts))


def _read(events: Events) -> pa.Table:
    return pa.concat_tables([pq.read_table(path, partitioning=None) for path in events.files])


def _rows_after(rows: pa.Table, key: tuple[str, ...]) -> pa.Table:
    """Of each key the last event, if it leaves a row."""
    last = rows.group_by(list(key)).aggregate([(SEQ, "max")]).column(f"{SEQ}_max")
    final = rows.filter(pc.is_in(rows.column(SEQ), value_set=last.combine_chunks()))
    return final.filter(pc.invert(pc.is_in(final.column(KIND), value_set=pa.array([DELETE, DELETE_KEY]))))


def rows_before(rows: pa.Table, state: State) -> pa.Table:
    """The rows that State holds for the keys of some events, each with weight +1, weight last."""
    key = list(state.schema.key)
    stored = cut(state, key[0], rows.column(key[0]), columns=state.schema.names, limit=2**62)
    assert stored is not None
    stored = stored.select(weighted_schema(state.schema).names)
    stored = stored.append_column(_ORDER, pa.array(range(stored.num_rows), pa.int64()))
    alive = stored.group_by(key).aggregate([(WEIGHT, "sum")])
    alive = alive.filter(pc.greater(alive.column(f"{WEIGHT}_sum"), 0)).select(key)
    come = stored.filter(pc.equal(stored.column(WEIGHT), 1))
    # Runs are in the order of their batches, so the last row that came for a living key is the one that is there.
    last = come.group_by(key).aggregate([(_ORDER, "max")]).rename_columns([*key, _ORDER])
    living = last.join(alive, keys=key, join_type="left semi")
    touched = living.join(rows.select(key), keys=key, join_type="left semi")
    found = stored.filter(pc.is_in(stored.column(_ORDER), value_set=touched.column(_ORDER).combine_chunks()))
    return found.drop_columns([_ORDER])


def filled(rows: pa.Table, before: pa.Table, key: tuple[str, ...], *, table: str) -> pa.Table:
    """Values that an update did not send because they did not change, taken from the row before it.

    Only rows with such gaps are looked at one by one; they are rare (large values that were left alone).
    """
    if rows.column(UNCHANGED).null_count == rows.num_rows:
        return rows
    known = {tuple(row[k] for k in key): row for row in before.to_pylist()}
    ordered = rows.sort_by(SEQ)
    columns = {name: ordered.column(name).to_pylist() for name in before.column_names}
    gaps, kinds = ordered.column(UNCHANGED).to_pylist(), ordered.column(KIND).to_pylist()
    ops = ordered.column(OP).to_pylist() if OP in ordered.column_names else [None] * ordered.num_rows
    gone: dict[str, object] | None = None
    for place in range(ordered.num_rows):
        if kinds[place] == TRUNCATE:
            # What it names is no gap.
            continue
        row_key = tuple(columns[k][place] for k in key)
        if kinds[place] in (DELETE, DELETE_KEY):
            gone = known.pop(row_key, None)
            continue
        if gaps[place]:
            moved = gone if place and _is_moved(ops[place - 1], ops[place]) else None
            found = known.get(row_key, moved)
            if found is None:
                raise _never_seen(table, gaps[place], dict(zip(key, row_key, strict=True)))
            for name in gaps[place]:
                columns[name][place] = found[name]
        known[row_key], gone = {name: values[place] for name, values in columns.items()}, None
    for name, values in columns.items():
        index = ordered.column_names.index(name)
        ordered = ordered.set_column(index, name, pa.array(values, ordered.schema.field(name).type))
    return ordered


def _is_moved(gone: str | None, came: str | None) -> bool:
    """True if a key that went and a row with gaps that came right after it are the two halves of one update.

    Debezium tells an update that changes the key as a delete and a create, and only such a create has gaps.
    """
    return gone != DELETED or came == CREATED


def _never_seen(table: str, names: list[str], key: dict[str, object]) -> SourceError:
    row = ", ".join(f"{name} = {value}" for name, value in key.items())
    return SourceError(
        f"table '{table}' has an update of a row that was never seen, and not all of the row was sent",
        detail=f"Of the row with {row} the log leaves out {', '.join(names)}: large values that did not change. What they"
        " are is not in the state: it did not begin with the table's first rows, or the row did not fit before, and was"
        " put into headwater.dead_letters.",
        hint="Let the log tell whole rows (ALTER TABLE ... REPLICA IDENTITY FULL) before changes are read, or begin with"
        " all rows ('scan.startup.mode' = 'initial'). Either way remove the state and start anew; after a dead letter set"
        f" REPLICA IDENTITY FULL and let the table be read again (headwater resnapshot {table}).",
    )
