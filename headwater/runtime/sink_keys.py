"""Two result rows that want one key of a sink: found in State, before anything is written."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.runtime.program import SinkNode
from headwater.schema import WEIGHT
from headwater.spark.engine import Engine
from headwater.tables.slices import cut
from headwater.tables.state import State


def check_keys(node: SinkNode, changes: ChangeSet, state: State, engine: Engine) -> None:
    """Raise if a key that this batch wrote now belongs to more than one row of the result."""
    key = list(node.table.schema.key)
    if not key or node.table.append_only:
        return
    # Arrow tells rows apart by plain values only.
    is_plain = not any("<" in column.type for column in state.schema if column.name in key)
    is_small = changes.is_small and is_plain
    several = _among(changes, state, key) if is_small else _in_all(state, key, engine)
    if several.num_rows:
        first = several.slice(0, 1).to_pylist()[0]
        named = ", ".join(f"{name} = {first[name]}" for name in key)
        raise SinkError(
            f'{first["rows"]} result rows want the key {named} of "{node.table.name}"',
            detail=f"The table's PRIMARY KEY is ({', '.join(key)}), and the query yields several rows for it.",
            hint="Group by the key in the query, or declare a key that tells the rows apart.",
            place=node.table.place,
        )


def _among(changes: ChangeSet, state: State, key: list[str]) -> pa.Table:
    """The keys of rows that came and now belong to several rows; only these keys are read from State."""
    rows = changes.table()
    come = rows.filter(pc.equal(rows.column(WEIGHT), 1))
    stored = cut(state, key[0], come.column(key[0]), columns=tuple(key), limit=2**62)
    assert stored is not None
    counted = stored.group_by(key).aggregate([(WEIGHT, "sum")]).rename_columns([*key, "rows"])
    return counted.filter(pc.greater(counted.column("rows"), 1))


def _in_all(state: State, key: list[str], engine: Engine) -> pa.Table:
    """A key of the whole State that belongs to several rows, found by Spark."""
    names = [exp.column(name, quoted=True) for name in key]
    engine.register("keyed", engine.weighted(state))
    query = exp.select(*names, f"SUM({WEIGHT}) AS `rows`", dialect="spark").from_("keyed")
    grouped = query.group_by(*[name.copy() for name in names]).having(f"SUM({WEIGHT}) > 1").limit(1)
    return engine.sql(grouped).toArrow()
