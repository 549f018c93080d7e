"""A truncate that takes only some rows: those of one of the tables from which a declared table has its rows.

State: (north, 1), (south, 1)    events: truncate (north) by its first column    changes: -(north, 1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.events import KIND, SEQ, TRUNCATE, UNCHANGED
from headwater.schema import WEIGHT
from headwater.tables.slices import cut
from headwater.tables.state import State


@dataclass(frozen=True)
class Emptied:
    """Rows that went: all that have these values, and came before an event of this number."""

    values: tuple[tuple[str, str], ...]
    """Columns and what is in them."""
    seq: int

    def has(self, rows: pa.Table) -> pa.ChunkedArray:
        """Which of some rows have these values."""
        found = pa.chunked_array([pa.repeat(True, rows.num_rows)])
        for column, value in self.values:
            found = pc.and_(found, pc.fill_null(pc.equal(rows.column(column), value), False))
        return found

    def stored(self, state: State) -> pa.Table:
        """Those of State, with their weights turned round."""
        (column, value), names = self.values[0], state.schema.names
        rows = cut(state, column, pa.chunked_array([[value]]), columns=names, limit=2**62)
        assert rows is not None
        rows = rows.filter(self.has(rows))
        return rows.set_column(
            rows.column_names.index(WEIGHT), WEIGHT, pc.negate(rows.column(WEIGHT))
        ).combine_chunks()

    def without(self, events: pa.Table) -> pa.Table:
        """Events without those of rows that went."""
        gone = pc.and_(self.has(events), pc.less_equal(events.column(SEQ), self.seq))
        return events.filter(pc.invert(gone))


def whole_truncate(events: pa.Table) -> int | None:
    """The number of the last event that took all rows."""
    numbers = [event[SEQ] for event in _truncates(events) if event[UNCHANGED] is None]
    return max(numbers, default=None)


def each_emptied(events: pa.Table) -> tuple[Emptied, ...]:
    """Every event that took some rows only."""
    return tuple(
        Emptied(tuple((name, event[name]) for name in event[UNCHANGED]), event[SEQ])
        for event in _truncates(events)
        if event[UNCHANGED] is not None
    )


def emptied_in(events: pa.Table) -> tuple[Emptied, ...]:
    """The same, of the same rows only the last one."""
    last: dict[tuple[tuple[str, str], ...], Emptied] = {}
    for one in each_emptied(events):
        if one.values not in last or one.seq > last[one.values].seq:
            last[one.values] = one
    return tuple(last.values())


def _truncates(events: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = events.filter(pc.equal(events.column(KIND), TRUNCATE)).to_pylist()
    return found
