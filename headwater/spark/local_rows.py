"""Rows in memory as a frame, with few words between Python and Java.

`createDataFrame` asks Java two dozen things about the session first, which takes longer than to hand over a few rows.
"""

from __future__ import annotations

import tempfile
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
    struct, said, typed = _types(rows.schema.serialize().to_pybytes())
    # Spark drops every row after an empty chunk.
    whole = rows.cast(typed).combine_chunks()
    if spark.sparkContext._encryption_enabled:
        return spark.createDataFrame(whole, struct).coalesce(1)
    java = _java(spark._jvm)
    with tempfile.NamedTemporaryFile(prefix="headwater-") as file:
        with pa.ipc.new_stream(file, whole.schema) as stream:
            stream.write_table(whole, max_chunksize=BATCH_ROWS)
        file.flush()
        # Java has read all of it when this returns.
        batches = java.readArrowStreamFromFile(file.name)
    frame: Any = java.toDataFrame(batches, said, spark._jsparkSession)
    return DataFrame(frame.coalesce(1), spark)


@lru_cache(maxsize=1024)
def _types(schema: bytes) -> tuple[StructType, str, pa.Schema]:
    """The types of a schema in Spark, as Java reads them, and in Arrow as Spark reads them.

    By its bytes: to Arrow two maps are equal if one of them may hold NULL and the other may not.
    """
    struct = from_arrow_schema(pa.ipc.read_schema(pa.py_buffer(schema)), prefer_timestamp_ntz=True)
    return struct, struct.json(), to_arrow_schema(struct)


@lru_cache(maxsize=1)
def _java(machine: Any) -> Any:
    """What takes rows in Java; to find it takes a question for each part of its name."""
    return machine.org.apache.spark.sql.api.python.PythonSQLUtils
