"""Change sets and States as frames, and the names that statements call them by."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Rows
from headwater.incremental.weights import bag
from headwater.schema import WEIGHT
from headwater.spark.text import to_text
from headwater.spark.types import struct_of
from headwater.tables.state import State


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
