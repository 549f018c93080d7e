"""Events of a stream that wait, as text, to be typed and written."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

import pyarrow as pa

from headwater.errors import Place
from headwater.log.events import WEIGHTS, told_schema
from headwater.log.pgoutput import Begin, Value
from headwater.log.text_values import is_bytes, typed_column
from headwater.schema import Schema


@dataclass(frozen=True)
class Layout:
    """How the rows of the stream become rows of a declared table."""

    table: str
    schema: Schema
    places: tuple[int, ...]
    """Where each declared column stands in a row of the stream."""
    families: tuple[str, ...]
    snapshot: int | None = None
    """Transactions up to here are in the table's snapshot."""
    place: Place | None = None

    @cached_property
    def pick(self) -> Callable[[Sequence[Value]], tuple[Value, ...]]:
        """Takes the declared columns out of a row."""
        if len(self.places) == 1:
            only = self.places[0]
            return lambda row: (row[only],)
        return itemgetter(*self.places)


@dataclass
class Pending:
    """Events of one table as text."""

    layout: Layout
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    unchanged: list[list[str] | None] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    times: list[int | None] = field(default_factory=list)

    def add(
        self, kind: str, row: tuple[Value, ...], *, op: str, seq: int, unchanged: list[str] | None = None
    ) -> None:
        """One more event."""
        self.rows.append(row)
        self.kinds.append(kind)
        self.ops.append(op)
        self.seqs.append(seq)
        self.unchanged.append(unchanged)

    def extend(self, other: Pending, position: int, begun: Begin) -> None:
        """Take over the events of a transaction that ended at `position`."""
        other.settle(position, begun)
        self.rows += other.rows
        self.kinds += other.kinds
        self.ops += other.ops
        self.seqs += other.seqs
        self.unchanged += other.unchanged
        self.positions += other.positions
        self.names += other.names
        self.times += other.times

    def settle(self, position: int, begun: Begin) -> None:
        """All events here belong to one transaction."""
        count = len(self.rows)
        self.positions = [position] * count
        self.names = [begun.name or (str(begun.xid) if begun.xid else None)] * count
        self.times = [round(begun.time * 1e6) if begun.time else None] * count

    def typed(self) -> pa.Table:
        """The events as columns of their declared types."""
        layout = self.layout
        columns = []
        for values, column, family in zip(
            zip(*self.rows, strict=True), layout.schema, layout.families, strict=True
        ):
            raw = pa.array(values, pa.binary())
            texts = raw if is_bytes(family) else raw.cast(pa.string())
            columns.append(typed_column(texts, column, family=family, table=layout.table, place=layout.place))
        weights = [WEIGHTS[kind] for kind in self.kinds]
        columns += [self.kinds, weights, self.positions, self.seqs, self.unchanged]
        appended = [round(time.time() * 1e6)] * len(weights)
        columns += [self.ops, self.names, self.times, appended]
        schema = told_schema(layout.schema)
        arrays = [
            pa.array(column, wanted.type) if isinstance(column, list) else column
            for column, wanted in zip(columns, schema, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=schema)
