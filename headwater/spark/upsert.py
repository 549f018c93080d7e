"""From many events to weighted rows, by executors: what `tables.upsert` does for those that fit into the driver.

State: (1, ann)    events: upsert (1, bob), delete_key (2)    changes: -(1, ann) +(1, bob)
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StringType, StructType

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.log.events import DELETE, DELETE_KEY, KIND, SEQ, TRUNCATE, UNCHANGED, Events
from headwater.schema import WEIGHT
from headwater.spark.engine import Engine
from headwater.spark.frames import quoted, weighted
from headwater.spark.types import struct_of
from headwater.tables.state import State


def changes_by_key(engine: Engine, events: Events, state: State) -> ChangeSet | None:
    """The change that events in files make, of a table with a key; None if they have to be told in their order.

    So it is where all rows go, and where an update left out values that did not change. Values that hold others are left
    to the driver too.
    """
    key = list(state.schema.key)
    if not key or events.rows is not None or any("<" in column.type for column in state.schema):
        return None
    engine.pace.suit(None)
    columns = [quoted(name) for name in state.schema.names]
    told = engine.spark.read.schema(_event_struct(state)).parquet(*map(str, events.files))
    if not told.where((F.col(KIND) == TRUNCATE) | F.col(UNCHANGED).isNotNull()).isEmpty():
        return None
    last = told.groupBy(*map(quoted, key)).agg(F.max_by(F.struct(*columns, KIND), SEQ).alias("e"))
    after = last.where(~F.col(f"e.{KIND}").isin(DELETE, DELETE_KEY)).select("e.*").drop(KIND)
    keys = told.select(
        *[F.col(quoted(name)).alias(f"__hw_key_{at}") for at, name in enumerate(key)]
    ).distinct()
    stored = weighted(engine.spark, state)
    is_same = [stored[quoted(name)].eqNullSafe(keys[f"__hw_key_{at}"]) for at, name in enumerate(key)]
    before = _there(stored.join(keys, is_same, "left_semi"), state)
    rows = before.withColumn(WEIGHT, F.lit(-1).cast("tinyint")).unionAll(
        after.withColumn(WEIGHT, F.lit(1).cast("tinyint"))
    )
    made = engine.saved(rows)
    return ChangeSet(state.relation, state.schema, (made if isinstance(made, Files) else Rows(made),))


def _there(stored: DataFrame, state: State) -> DataFrame:
    """The rows that are true, bit by bit as they are stored: to Spark -0.0 and 0.0 would be one."""
    floating = [column.name for column in state.schema if column.type in ("float", "double")]
    others = [quoted(name) for name in state.schema.names if name not in floating]
    as_written = [F.col(quoted(name)).cast("string").alias(f"__hw_as_{name}") for name in floating]
    net = stored.groupBy(*others, *as_written).agg(
        F.sum(WEIGHT).alias(WEIGHT), *[F.first(quoted(name)).alias(name) for name in floating]
    )
    return net.where(F.col(WEIGHT) > 0).select(*map(quoted, state.schema.names))


def _event_struct(state: State) -> StructType:
    struct = StructType(list(struct_of(state.schema).fields))
    for name, kind in ((KIND, StringType()), (SEQ, LongType()), (UNCHANGED, ArrayType(StringType()))):
        struct = struct.add(name, kind)
    return struct
