"""What happened to each row of a table, as rows of their own: the relation behind CHANGES(t).

State: (1, ann)    events: update (1, ann) to (1, bob)    history: u, before (1, ann), after (1, bob)

An update stands in the log as two halves, or as a row whose predecessor has to be looked up; here it is one row again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.changes.change_set import ChangeSet, Files, Rows, weighted_schema
from headwater.log.events import (
    APPENDED,
    COMMITTED,
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
    TRANSACTION,
    TRUNCATE,
    UPDATED,
    Events,
)
from headwater.log.positions import Position
from headwater.schema import Column, Schema, arrow_schema, with_bounds
from headwater.tables.emptied import each_emptied
from headwater.tables.state import State
from headwater.tables.upsert import filled, rows_before

OP_COLUMN, BEFORE, AFTER = "op", "before", "after"
MOMENT = pa.timestamp("us", tz="UTC")
_MISSING = {OP: pa.string(), TRANSACTION: pa.string(), COMMITTED: MOMENT, APPENDED: MOMENT}


def history_schema(schema: Schema) -> Schema:
    """The columns of a relation's history."""
    row = f"struct<{','.join(f'`{column.name}`:{column.type}' for column in schema)}>"
    return Schema(
        (
            Column(OP_COLUMN, "string"),
            Column(BEFORE, row),
            Column(AFTER, row),
            Column("position", "string"),
            Column("transaction_id", "string"),
            Column("committed_at", "timestamp"),
            Column("appended_at", "timestamp"),
            Column("sequence", "bigint"),
        )
    )


@dataclass
class History:
    """Makes the history of one table; files of it go to a folder."""

    relation: str
    """What the history itself is called."""
    schema: Schema
    """The table's own columns."""
    notation: str
    """How positions are written."""
    folder: Path
    parks: bool = False
    """True if the table has only rows that fit: one that goes and was not there is nobody's business."""
    _files: list[Path] = field(default_factory=list)

    def of(self, events: Events, state: State, everything: Callable[[], pa.Table | Files]) -> ChangeSet:
        """What some events did, given what was true before them; `everything` gives all of that."""
        if events.rows is None and events.whole_rows:
            return self._changes(Files(*self._written(events)))
        rows = events.rows if events.rows is not None else _read(events.files)
        ordered = _told(rows).sort_by(SEQ)
        if events.whole_rows:
            return self._changes(Rows(self._whole(ordered)))
        if pc.any(pc.equal(ordered.column(KIND), TRUNCATE)).as_py():
            # Every row that was there goes, or every one of a shard, one by one.
            found = everything()
            known = _read(found.paths) if isinstance(found, Files) else found
            return self._changes(Rows(self._looked_up(ordered, known)))
        if not self.schema.key:
            return self._changes(Rows(self._whole(ordered)))
        return self._changes(Rows(self._looked_up(ordered, rows_before(ordered, state))))

    def _changes(self, part: Rows | Files) -> ChangeSet:
        return ChangeSet(self.relation, history_schema(self.schema), (part,))

    def _written(self, events: Events) -> tuple[tuple[Path, ...], int]:
        """Large events file by file: both halves of an update stand in one file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        count = 0
        for place, path in enumerate(events.files):
            made = self._whole(_told(pq.read_table(path, partitioning=None)).sort_by(SEQ))
            self._files.append(self.folder / f"history-{self.relation.encode().hex()}-{place}.parquet")
            pq.write_table(made, self._files[-1], write_statistics=with_bounds(made.schema))
            count += made.num_rows
        return tuple(self._files), count

    def _whole(self, rows: pa.Table) -> pa.Table:
        """Events that carry whole rows: an update's second half follows its first."""
        kinds, ops, count = rows.column(KIND), rows.column(OP), rows.num_rows
        is_update = pc.fill_null(pc.equal(ops, UPDATED), fill_value=False)
        is_second = pc.and_(is_update, pc.equal(kinds, INSERT))
        places = pa.array(range(count), pa.int64())
        nothing = pa.scalar(None, pa.int64())
        after = pc.if_else(is_update, pc.add(places, 1), pc.if_else(pc.equal(kinds, INSERT), places, nothing))
        before = pc.if_else(pc.equal(kinds, DELETE), places, nothing)
        told = pc.if_else(
            pc.equal(kinds, DELETE), DELETED, pc.if_else(pc.equal(kinds, TRUNCATE), "t", CREATED)
        )
        first = pc.invert(is_second)
        return self._made(
            rows.filter(first),
            rows,
            before=before.filter(first),
            after=after.filter(first),
            ops=pc.coalesce(ops, told).filter(first),
        )

    def _looked_up(self, rows: pa.Table, known: pa.Table) -> pa.Table:
        """Events that say what became of a row: what was there is known, or was told by an event before."""
        names, key = self.schema.names, self.schema.key
        whole = filled(rows, known, key, table=self.relation) if key else rows
        stored = known.select(names)
        both = pa.concat_tables([stored, whole.select(names).cast(stored.schema)]).combine_chunks()
        fold = _Fold(len(stored), is_keyed=bool(key), parks=self.parks)
        for place, row_key in enumerate(_keys(stored, key or names)):
            fold.last.setdefault(row_key, []).append(place)
        emptied = {one.seq: one for one in each_emptied(whole)}
        for kind, op, row_key, seq in zip(
            whole.column(KIND).to_pylist(),
            whole.column(OP).to_pylist(),
            _keys(whole, key or names),
            whole.column(SEQ).to_pylist(),
            strict=True,
        ):
            if seq in emptied:
                fold.empty(emptied[seq].has(both).to_pylist())
            else:
                fold.take(kind, op, row_key)
        index = pa.int64()
        return self._made(
            whole.take(pa.array(fold.events, index)),
            both,
            before=pa.array(fold.before, index),
            after=pa.array(fold.after, index),
            ops=pa.array(fold.ops, pa.string()),
        )

    def _made(self, events: pa.Table, rows: pa.Table, *, before: Any, after: Any, ops: Any) -> pa.Table:
        wanted = arrow_schema(self.schema)
        whole = rows.select(wanted.names).cast(wanted).combine_chunks()
        structs = pa.StructArray.from_arrays(
            [_one(whole.column(name)) for name in wanted.names], fields=list(wanted)
        )
        if POSITION in events.column_names:
            numbers = events.column(POSITION).to_pylist()
            shown = {number: str(Position(number, self.notation)) for number in set(numbers) - {None}}
            places = pa.array([shown.get(number) for number in numbers], pa.string())
        else:
            places = pa.nulls(events.num_rows, pa.string())
        columns = [
            ops,
            structs.take(_one(before)),
            structs.take(_one(after)),
            places,
            events.column(TRANSACTION),
            events.column(COMMITTED),
            events.column(APPENDED),
            events.column(SEQ),
            pa.repeat(pa.scalar(1, pa.int8()), events.num_rows),
        ]
        final = weighted_schema(history_schema(self.schema))
        return pa.Table.from_arrays([_one(column) for column in columns], names=final.names).cast(final)


@dataclass
class _Fold:
    """Events in their order; each entry of the four lists is one row of the history."""

    base: int
    """The place of the first event's row."""
    is_keyed: bool
    """False if equal rows may stand side by side."""
    parks: bool = False
    """True if nothing is told of a row that goes and was not there."""
    last: dict[str, list[int]] = field(default_factory=dict)
    """Of each key the places of the rows that are there."""
    events: list[int] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    before: list[int | None] = field(default_factory=list)
    after: list[int | None] = field(default_factory=list)
    _place: int = -1
    _moved: int | None = None
    _is_moving: bool = False

    def take(self, kind: str, op: str | None, key: str) -> None:
        """One more event."""
        self._place += 1
        row = self.base + self._place
        if kind == TRUNCATE:
            for places in self.last.values():
                for place in places:
                    self._add(DELETED, place, None)
            self.last.clear()
        elif kind in (DELETE, DELETE_KEY):
            was = self._taken(key)
            if op == UPDATED:
                # The first half of an update.
                self._moved, self._is_moving = was, True
                return
            if was is not None or not self.parks:
                self._add(DELETED, row if was is None else was, None)
        else:
            was = self._moved if self._is_moving else self._taken(key) if self.is_keyed else None
            self._is_moving = False
            self._add(op or (CREATED if was is None else UPDATED), was, row)
            self.last.setdefault(key, []).append(row)

    def empty(self, goes: Sequence[bool]) -> None:
        """All rows go whose places are marked."""
        self._place += 1
        for key, places in self.last.items():
            for place in places:
                if goes[place]:
                    self._add(DELETED, place, None)
            self.last[key] = [place for place in places if not goes[place]]

    def _taken(self, key: str) -> int | None:
        places = self.last.get(key)
        return places.pop() if places else None

    def _add(self, op: str, before: int | None, after: int | None) -> None:
        self.events.append(self._place)
        self.ops.append(op)
        self.before.append(before)
        self.after.append(after)


def _read(paths: Sequence[Path]) -> pa.Table:
    pieces = [pq.read_table(path, partitioning=None) for path in paths]
    return pa.concat_tables(pieces, promote_options="default")


def _told(rows: pa.Table) -> pa.Table:
    """Events with columns for their history, of which a source may know nothing."""
    for name in HISTORY:
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(rows.num_rows, _MISSING[name]))
    return rows


def _keys(rows: pa.Table, key: Sequence[str]) -> list[str]:
    """What tells rows apart, as text: values may be lists."""
    return [repr(values) for values in zip(*(rows.column(name).to_pylist() for name in key), strict=True)]


def _one(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
