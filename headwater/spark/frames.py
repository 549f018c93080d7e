"""Change sets and States as frames, and the names that statements call them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Rows
from headwater.incremental.weights import bag
from headwater.schema import WEIGHT, arrow_schema
from headwater.spark.local_rows import local_frame
from headwater.spark.text import to_text
from headwater.spark.types import struct_of
from headwater.tables import slices
from headwater.tables.bags import can_count, counted
from headwater.tables.lookup import has_order
from headwater.tables.state import Run, State, runs_with_gone

MOST_GONE, MOST_GONE_SHARE = 2_000_000, 0.25
"""Up to so many rows of runs in which rows went, and to such a share of all, are looked at one by one."""

MOST_MOVED = 200_000
"""Up to so many rows with a key of one that went are brought together in memory. The limit is not measured."""

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
    with the key of one of these are, or that look like one; the others are there as they stand.
    """
    rows = _called(weighted(spark, state), columns)
    with_gone = runs_with_gone(state)
    if not with_gone:
        return rows.drop(WEIGHT)
    if sum(run.rows for run in with_gone) > min(MOST_GONE, MOST_GONE_SHARE * state.rows):
        return plain(view, rows)
    apart = _apart_by_key(view, rows, state, with_gone, columns)
    return _apart_by_look(view, rows, state, with_gone, columns) if apart is None else apart


def _apart_by_key(
    view: str, rows: DataFrame, state: State, with_gone: tuple[Run, ...], columns: Mapping[str, str]
) -> DataFrame | None:
    """The rows with a key of one that went are cut out by Arrow; None where there are too many, or no such key."""
    kinds = arrow_schema(state.schema)
    key = next((name for name in state.schema.key if has_order(kinds.field(name).type)), None)
    if key is None:
        return None
    spark, went = rows.sparkSession, slices.went(state, with_gone, key)
    cut = None if went.null_count else slices.cut(state, key, went, columns=tuple(columns), limit=MOST_MOVED)
    if cut is None:
        return None
    moved = cut.select([*columns, WEIGHT]).rename_columns([*columns.values(), WEIGHT])
    together = (
        local_frame(spark, counted(moved)) if can_count(moved) else plain(view, local_frame(spark, moved))
    )
    keys = F.broadcast(local_frame(spark, pa.table({_LOOK: went})))
    read = weighted(spark, state).select(*map(quoted, columns), F.col(quoted(key)).alias(_LOOK))
    at_rest = read.join(keys, _LOOK, "left_anti").drop(_LOOK).toDF(*columns.values())
    return at_rest.unionAll(together)


def _apart_by_look(
    view: str, rows: DataFrame, state: State, with_gone: tuple[Run, ...], columns: Mapping[str, str]
) -> DataFrame:
    """The rows that look like one that went, by a hash of their columns, are brought together by Spark."""
    spark = rows.sparkSession
    kinds = {column.name: column.type for column in state.schema}
    looked_at = [name for stored, name in columns.items() if kinds[stored].split("(")[0] in _EXACT]
    if not looked_at:
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
    name, adding_up = added_up(view, rows.columns[:-1])
    register(name, rows)
    return rows.sparkSession.sql(adding_up)


def added_up(view: str, names: Sequence[str]) -> tuple[str, str]:
    """What the weighted rows of a view are called, and the text that gives each of them as often as it is there."""
    name = f"{view}__weighted"
    all_of_them = exp.select("*").from_(exp.to_table(quoted(name), dialect="spark"))
    return name, to_text(bag(all_of_them, names))


def register(view: str, frame: DataFrame) -> None:
    """Call a frame by a name in the statements that follow."""
    frame.createOrReplaceTempView(quoted(view))


def quoted(view: str) -> str:
    """A name as Spark takes it."""
    return "`" + view.replace("`", "``") + "`"
