"""Events of a stream that wait, as text, to be typed and written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SourceError
from headwater.log.beside import Beside, Told, beside_column
from headwater.log.events import (
    COMMITTED,
    DELETE,
    DELETE_KEY,
    INSERT,
    KIND,
    OP,
    POSITION,
    SEQ,
    TRANSACTION,
    UPDATED,
    UPSERT,
    WEIGHTS,
    told_schema,
)
from headwater.log.layout import Layout
from headwater.log.letters import Read
from headwater.log.packed import pieces
from headwater.log.parted import parted
from headwater.log.pgoutput import Begin, Value, read_row
from headwater.log.row_events import row_events
from headwater.log.text_values import fitting, is_bytes, typed_column
from headwater.schema import WEIGHT

FEW_MESSAGES = 500
"""Up to so many messages are read one by one: to take a few apart at once costs more than it saves. They break even near
1,000 rows of 20 columns."""


@dataclass
class _Packed:
    """Messages of one relation as they came, each with the last number of its events."""

    layout: Layout
    payloads: list[bytes] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    told: _Transactions = field(default_factory=lambda: _Transactions())


@dataclass
class _Transactions:
    """Of which transaction each of some rows is."""

    positions: list[int] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    times: list[int | None] = field(default_factory=list)

    def settle(self, count: int, position: int, begun: Begin) -> None:
        """All of them, so many, belong to one transaction."""
        self.positions = [position] * count
        self.names = [begun.name or (str(begun.xid) if begun.xid else None)] * count
        self.times = [round(begun.time * 1e6) if begun.time else None] * count

    def extend(self, other: _Transactions) -> None:
        """Those of another one come after these."""
        self.positions += other.positions
        self.names += other.names
        self.times += other.times

    def columns(self) -> list[pa.Array]:
        """As arrays."""
        moment = pa.timestamp("us", tz="UTC")
        return [
            pa.array(self.positions, pa.int64()),
            pa.array(self.names, pa.string()),
            pa.array(self.times, moment),
        ]


@dataclass
class Pending:
    """Events of one table as text."""

    layout: Layout
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    unchanged: list[list[str] | None] = field(default_factory=list)
    _told: _Transactions = field(default_factory=_Transactions)
    _packed: dict[int, _Packed] = field(default_factory=dict)
    """By the layout itself, not by what is in it: to compare that for every row would take longer than all the rest."""
    _commits: dict[int, int] = field(default_factory=dict)
    """Of each position here, where the commit of its transaction stands."""

    def add(
        self, kind: str, row: tuple[Value, ...], *, op: str, seq: int, unchanged: list[str] | None = None
    ) -> None:
        """One more event."""
        self.rows.append(row)
        self.kinds.append(kind)
        self.ops.append(op)
        self.seqs.append(seq)
        self.unchanged.append(unchanged)

    def add_packed(self, layout: Layout, payload: bytes, seq: int) -> None:
        """One more message that is a row, as it came; `seq` is the last number of its events."""
        packed = self._packed.get(id(layout))
        if packed is None:
            packed = self._packed[id(layout)] = _Packed(layout)
        packed.payloads.append(payload)
        packed.seqs.append(seq)

    def extend(self, other: Pending, position: int, begun: Begin) -> None:
        """Take over the events of a transaction that ended at `position`."""
        other.settle(position, begun)
        self.rows += other.rows
        self.kinds += other.kinds
        self.ops += other.ops
        self.seqs += other.seqs
        self.unchanged += other.unchanged
        self._told.extend(other._told)
        self._commits |= other._commits
        for key, packed in other._packed.items():
            mine = self._packed.setdefault(key, _Packed(packed.layout))
            mine.payloads += packed.payloads
            mine.seqs += packed.seqs
            mine.told.extend(packed.told)

    def settle(self, position: int, begun: Begin) -> None:
        """All events here belong to one transaction."""
        self._commits[position] = begun.commit_at
        self._told.settle(len(self.rows), position, begun)
        for packed in self._packed.values():
            packed.told.settle(len(packed.seqs), position, begun)

    def by_name(self) -> dict[str, pa.Table]:
        """The events, and letters for rows that are put aside, by the names under which the log takes them."""
        layout = self.layout
        try:
            return {layout.table: self.typed()}
        except SourceError:
            if not layout.parks:
                raise
        texts = self._texts()
        values = tuple(self._values(texts, place) for place in range(len(layout.own)))
        found = [
            fitting(one, column.type, family)
            for one, column, family in zip(values, layout.own, layout.families, strict=True)
        ]
        read = Read(layout.table, layout.own, values, tuple(reasons for _, reasons in found))
        return parted(self._made(texts, [one for one, _ in found]), read, layout.schema, self._places(texts))

    def typed(self) -> pa.Table:
        """The events in their order, as columns of their declared types."""
        texts = self._texts()
        return self._made(texts, [self._typed(texts, place) for place in range(len(self.layout.own))])

    def _texts(self) -> pa.Table:
        """The events in their order, as text."""
        found = [self._plain()] if self.rows else []
        for packed in self._packed.values():
            found += _unpacked(packed) if len(packed.seqs) > FEW_MESSAGES else _one_by_one(packed)
        texts = pa.concat_tables(found) if found else _schema(self.layout).empty_table()
        return texts.take(pc.sort_indices(texts.column(SEQ))) if len(found) > 1 else texts

    def _made(self, texts: pa.Table, values: list[pa.Array]) -> pa.Table:
        """Events of typed values; all else that is told of them is in `texts`."""
        own = len(values)
        if self.layout.beside:
            told = self._all_told(texts)
            for one in self.layout.beside:
                values.insert(one.place, self._beside(one, told))
        columns = [*values, *(texts.column(name) for name in texts.column_names[own:])]
        made = pa.Table.from_arrays(columns, schema=told_schema(self.layout.schema)).combine_chunks()
        return _looked_up(made) if self.layout.by_key else made

    def _places(self, texts: pa.Table) -> pa.Array:
        """Where the commit of each event stands."""
        positions = texts.column(POSITION).combine_chunks().dictionary_encode()
        commits = pa.array([self._commits[p] for p in positions.dictionary.to_pylist()], pa.int64())
        return commits.take(positions.indices)

    def _all_told(self, texts: pa.Table) -> Told:
        weights, ops, transactions, committed = (
            texts.column(name).combine_chunks() for name in (WEIGHT, OP, TRANSACTION, COMMITTED)
        )
        return Told(weights, ops, transactions, committed, self._places(texts))

    def _beside(self, one: Beside, told: Told) -> pa.Array:
        layout = self.layout
        return beside_column(one, layout.schema, told, table=layout.table, place=layout.place)

    def _typed(self, texts: pa.Table, place: int) -> pa.Array:
        layout = self.layout
        column, family = layout.own[place], layout.families[place]
        return typed_column(
            self._values(texts, place),
            column,
            family=family,
            table=layout.table,
            place=layout.place,
            otherwise=layout.otherwise,
        )

    def _values(self, texts: pa.Table, place: int) -> pa.Array:
        raw = texts.column(place).combine_chunks()
        return raw if is_bytes(self.layout.families[place]) else raw.cast(pa.string())

    def _plain(self) -> pa.Table:
        """The events that came one by one."""
        values = [pa.array(v, pa.binary()) for v in zip(*self.rows, strict=True)]
        positions, names, times = self._told.columns()
        return _events(
            self.layout,
            values,
            [
                pa.array(self.kinds),
                pa.array([WEIGHTS[kind] for kind in self.kinds], pa.int8()),
                positions,
                pa.array(self.seqs, pa.int64()),
                pa.array(self.unchanged, pa.list_(pa.string())),
                pa.array(self.ops),
                names,
                times,
            ],
        )


def _unpacked(packed: _Packed) -> list[pa.Table]:
    """The events of messages that were kept as they came."""
    layout, told = packed.layout, packed.told.columns()
    names = [column.name for column in layout.own]
    made = []
    for piece in pieces(packed.payloads, packed.seqs, places=layout.places, names=names, every=layout.by_key):
        count = len(piece.seqs)
        positions, transactions, times = (column.take(piece.messages) for column in told)
        weights = pa.repeat(pa.scalar(WEIGHTS[piece.kind], pa.int8()), count)
        beside = [pa.repeat(piece.kind, count), weights, positions, piece.seqs, piece.unchanged]
        made.append(_events(layout, piece.values, [*beside, pa.repeat(piece.op, count), transactions, times]))
    return made


def _one_by_one(packed: _Packed) -> list[pa.Table]:
    """The same of a few messages."""
    events, told, own = Pending(packed.layout), packed.told, _Transactions()
    for number, (payload, last) in enumerate(zip(packed.payloads, packed.seqs, strict=True)):
        found = row_events(packed.layout, read_row(payload))
        for seq, event in enumerate(found, last - len(found) + 1):
            events.add(event.kind, event.row, op=event.op, seq=seq, unchanged=event.unchanged)
        own.positions += told.positions[number : number + 1] * len(found)
        own.names += told.names[number : number + 1] * len(found)
        own.times += told.times[number : number + 1] * len(found)
    events._told = own
    return [events._plain()] if events.rows else []


def _looked_up(events: pa.Table) -> pa.Table:
    """Events that say only what became of a key, so that the row that goes is the one that is stored."""
    kinds = events.column(KIND)
    kinds = pc.if_else(pc.equal(kinds, DELETE), DELETE_KEY, kinds)
    is_new = pc.and_(pc.equal(kinds, INSERT), pc.equal(events.column(OP), UPDATED))
    kinds = pc.if_else(is_new, UPSERT, kinds)
    return events.set_column(events.column_names.index(KIND), KIND, kinds)


def _events(layout: Layout, values: Sequence[pa.Array], beside: Sequence[pa.Array]) -> pa.Table:
    moment = pa.scalar(round(time.time() * 1e6), pa.timestamp("us", tz="UTC"))
    appended = pa.repeat(moment, len(beside[0]))
    return pa.Table.from_arrays([*values, *beside, appended], schema=_schema(layout))


def _schema(layout: Layout) -> pa.Schema:
    """The columns of events whose values are still text."""
    own = [pa.field(column.name, pa.binary()) for column in layout.own]
    return pa.schema([*own, *list(told_schema(layout.schema))[len(layout.schema.columns) :]])
