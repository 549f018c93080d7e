"""Events that were read before their transaction was committed, once it is: what was not known then is put in."""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.beside import Told, beside_column
from headwater.log.events import APPENDED, COMMITTED, OP, POSITION, SEQ, TRANSACTION
from headwater.log.layout import Layout
from headwater.log.pgoutput import Begin
from headwater.schema import WEIGHT

_MOMENT = pa.timestamp("us", tz="UTC")


def retold(events: pa.Table, layout: Layout, begun: Begin, *, position: int, after: int) -> pa.Table:
    """Events of a table as those of the transaction `begun`; their numbers follow on `after`."""
    count = len(events)
    known = {
        POSITION: pa.repeat(pa.scalar(position, pa.int64()), count),
        SEQ: pc.add(events.column(SEQ), after),
        COMMITTED: pa.repeat(pa.scalar(round(begun.time * 1e6), _MOMENT), count),
        APPENDED: pa.repeat(pa.scalar(round(time.time() * 1e6), _MOMENT), count),
    }
    if layout.beside:
        commits = pa.repeat(pa.scalar(begun.commit_at, pa.int64()), count)
        weights, ops, names = (events.column(name).combine_chunks() for name in (WEIGHT, OP, TRANSACTION))
        told = Told(weights, ops, names, known[COMMITTED], commits)
        for one in layout.beside:
            name = layout.schema.columns[one.place].name
            known[name] = beside_column(one, layout.schema, told, table=layout.table, place=layout.place)
    columns = [known.get(name, events.column(name)) for name in events.column_names]
    return pa.Table.from_arrays(columns, schema=events.schema)
