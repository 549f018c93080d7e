"""The rows of a relation, for whoever looks on."""

from __future__ import annotations

import pyarrow as pa

from headwater.spark.engine import Engine
from headwater.tables import slices
from headwater.tables.bags import can_count, counted
from headwater.tables.small_runs import is_small
from headwater.tables.state import State


def stored_rows(engine: Engine, state: State, limit: int) -> pa.Table:
    """What is true in a State, at most `limit` rows of it; a small one is read without Spark."""
    if state.schema.names and is_small(state):
        stored = slices.whole(state, state.schema.names)
        if can_count(stored):
            return counted(stored).slice(0, limit)
    view = f"{state.relation}__shown"
    return engine.query(f"SELECT * FROM `{view}`", {view: state}).limit(limit).toArrow()
