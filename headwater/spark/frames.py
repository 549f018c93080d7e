"""Change sets and States as frames, and the names that statements call them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Rows
from headwater.incremental.weights import bag
from headwater.schema import WEIGHT
from headwater.spark.text import to_text
from headwater.spark.types import struct_of
from headwater.tables.state import State, runs_with_gone

MOST_GONE, MOST_GONE_SHARE = 2_000_000, 0.25
"""Up to so many rows of runs in which rows went, and to such a share of all, are looked at one by one."""

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "decimal")
_EXACT = frozenset((*_NUMBERS, "string", "binary", "boolean", "date", "timestamp", "timestamp_ntz"))
"""Types of which equal values have equal hashes: not so floating numbers, and what may hold them."""

_LOOK = "__hw_look"


def frame_of(spark: SparkSession, changes: ChangeSet) -> DataFrame:
    """The weighted rows of a change set, whatever it is made of."""
    struct = struct_of(changes.schema, weighted=True)
    frames = []
    for part in changes.parts:
        if isinstance(part, Rows):
            frames.append(spark.createDataFrame(part.table.combine_chunks()).to(struct))
            continue
        read = spark.read.schema(struct).parquet(*map(str, part.paths)) if part.paths else None
        if read is not None:
            frames.append(read.withColumn(WEIGHT, (-read[WEIGHT]).cast("tinyint")) if part.negated else read)
    whole = frames[0] if frames else spark.createDataFrame([], struct)
    for other in frames[1:]:
        whole = whole.unionAll(other)
    return whole


def weighted(spark: SparkSession, state: State) -> DataFrame:
    """All weighted rows of a State."""
    struct = struct_of(state.schema, weighted=True)
    if not state.runs:
        return spark.createDataFrame([], struct)
    return spark.read.schema(struct).parquet(*map(str, state.paths))


def bag_of(spark: SparkSession, view: str, state: State, columns: Mapping[str, str]) -> DataFrame:
    """The rows that are true in a State, each as often as it is there: some of its columns, and what they are called.

    To add up the weights of all rows, all of them would have to be brought together. Where few rows went, only those
    that look like one of these are; the others are there as they stand.
    """
    rows = _called(weighted(spark, state), columns)
    with_gone = runs_with_gone(state)
    if not with_gone:
        return rows.drop(WEIGHT)
    kinds = {column.name: column.type for column in state.schema}
    looked_at = [name for stored, name in columns.items() if kinds[stored].split("(")[0] in _EXACT]
    most = min(MOST_GONE, MOST_GONE_SHARE * state.rows)
    if not looked_at or sum(run.rows for run in with_gone) > most:
        return plain(view, rows)
    look = F.xxhash64(*[F.col(quoted(name)) for name in looked_at]).alias(_LOOK)
    went = _called(weighted(spark, replace(state, runs=with_gone)), columns).where(F.col(WEIGHT) < 0)
    looks = F.broadcast(went.select(look).distinct())
    marked = rows.withColumn(_LOOK, look)
    at_rest = marked.join(looks, _LOOK, "left_anti").drop(_LOOK, WEIGHT)
    moved = marked.join(looks, _LOOK, "left_semi").drop(_LOOK)
    return at_rest.unionAll(plain(view, moved))


def _called(rows: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    return rows.select(*map(quoted, columns), WEIGHT).toDF(*columns.values(), WEIGHT)


def plain(view: str, rows: DataFrame) -> DataFrame:
    """Weighted rows, each as often as it is there; `view` is what they are called by meanwhile."""
    register(f"{view}__weighted", rows)
    all_of_them = exp.select("*").from_(exp.to_table(quoted(f"{view}__weighted"), dialect="spark"))
    return rows.sparkSession.sql(to_text(bag(all_of_them, rows.columns[:-1])))


def register(view: str, frame: DataFrame) -> None:
    """Call a frame by a name in the statements that follow."""
    frame.createOrReplaceTempView(quoted(view))


def quoted(view: str) -> str:
    """A name as Spark takes it."""
    return f"`{view}`"
