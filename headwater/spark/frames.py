"""Change sets as frames."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from headwater.changes.change_set import ChangeSet, Rows
from headwater.schema import WEIGHT
from headwater.spark.types import struct_of


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
