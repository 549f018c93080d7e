"""Rows in memory as a frame, with few words between Python and Java.

`createDataFrame` asks Java two dozen things about the session first, which takes longer than to hand over a few rows.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

BATCH_ROWS = 10_000
"""So many rows go to Java in one piece, as Spark itself sends them."""


def local_frame(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows as a frame on one partition, so that nothing above it has to be shuffled.

    A timestamp without a zone has none in Spark either.
    """
    types = spark_types(rows.schema)
    # Spark drops every row after an empty chunk.
    whole = rows.cast(types.arrow).combine_chunks()
    if spark.sparkContext._encryption_enabled:
        return spark.createDataFrame(whole, types.struct).coalesce(1)
    java = _java(spark._jvm)
    with tempfile.NamedTemporaryFile(prefix="headwater-") as file:
        with pa.ipc.new_stream(file, whole.schema) as stream:
            stream.write_table(whole, max_chunksize=BATCH_ROWS)
        file.flush()
        # Java has read all of it when this returns.
        batches = java.readArrowStreamFromFile(file.name)
    frame: Any = java.toDataFrame(batches, types.said, spark._jsparkSession)
    return DataFrame(frame.coalesce(1), spark)


@dataclass(frozen=True)
class SparkTypes:
    """The types of some columns in Spark, as Java reads them, and in Arrow as Spark reads them."""

    struct: StructType
    said: str
    arrow: pa.Schema


def spark_types(schema: pa.Schema) -> SparkTypes:
    """What Spark makes of the columns of Arrow."""
    # By its bytes: to Arrow two maps are equal if one of them may hold NULL and the other may not.
    return _types(schema.serialize().to_pybytes())


@lru_cache(maxsize=1024)
def _types(schema: bytes) -> SparkTypes:
    struct = from_arrow_schema(pa.ipc.read_schema(pa.py_buffer(schema)), prefer_timestamp_ntz=True)
    return SparkTypes(struct, struct.json(), to_arrow_schema(struct))


@lru_cache(maxsize=1)
def _java(machine: Any) -> Any:
    """What takes rows in Java; to find it takes a question for each part of its name."""
    return machine.org.apache.spark.sql.api.python.PythonSQLUtils
