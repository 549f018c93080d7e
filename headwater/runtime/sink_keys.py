"""Two result rows that want one key of a sink: found in State, before anything is written."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.runtime.program import SinkNode
from headwater.schema import WEIGHT
from headwater.tables.slices import cut
from headwater.tables.state import State


def check_keys(node: SinkNode, changes: ChangeSet, state: State) -> None:
    """Raise if a key that this batch wrote now belongs to more than one row of the result."""
    key = list(node.table.schema.key)
    if not key or node.table.append_only:
        return
    for batch in changes.batches():
        come = batch.filter(pc.equal(batch.column(WEIGHT), 1))
        if not come.num_rows:
            continue
        values = come.column(key[0])
        rows = cut(state, key[0], pa.chunked_array([values]), columns=tuple(key), limit=2**62)
        assert rows is not None
        counted = rows.group_by(key).aggregate([(WEIGHT, "sum")])
        several = counted.filter(pc.greater(counted.column(f"{WEIGHT}_sum"), 1))
        if several.num_rows:
            first = several.slice(0, 1).to_pylist()[0]
            named = ", ".join(f"{name} = {first[name]}" for name in key)
            raise SinkError(
                f'{first[f"{WEIGHT}_sum"]} result rows want the key {named} of "{node.table.name}"',
                detail=f"The table's PRIMARY KEY is ({', '.join(key)}), and the query yields several rows for it.",
                hint="Group by the key in the query, or declare a key that tells the rows apart.",
                place=node.table.place,
            )
