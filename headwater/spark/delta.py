"""A table of Delta Lake: every commit of ours carries who wrote it and which batch, as Delta's own transaction id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.changes.change_set import ChangeSet
from headwater.schema import Column, Schema
from headwater.spark import lake_sql
from headwater.spark.lake_writes import FAILURE, columns_of, run_write, said, settings, trace

AT_START = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
"""What Spark has to be told when it starts, or it cannot write such tables."""

TUNING = {
    # The log of a table is read on one partition: fifty, the default, are for tables of millions of files.
    "spark.databricks.delta.snapshotPartitions": "1",
    # Our rows do not change between two passes over them, so no copy of them is needed.
    "spark.databricks.delta.merge.materializeSource": "none",
}

_APP, _VERSION = "spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion"

CONFLICTS = ("DELTA_CONCURRENT_", "ConcurrentModificationException", "ConcurrentWriteException")


class DeltaTable:
    """The table at a path."""

    failure = FAILURE

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark, self._path = spark, path
        self._name = exp.table_(path, db="delta", quoted=True)
        self._reader: Any = None

    def columns(self) -> tuple[tuple[Column, bool], ...] | None:
        """Its columns as they are now; None if there is no table."""
        java: Any = self._spark._jvm
        if not java.io.delta.tables.DeltaTable.isDeltaTable(self._spark._jsparkSession, self._path):
            return None
        return columns_of(self._spark, self._name)

    def create(self, schema: Schema, properties: Mapping[str, str]) -> None:
        """Make it, without rows."""
        self._spark.sql(lake_sql.create(self._name, schema, using="delta", properties=properties))

    def last(self, writer: str) -> int | None:
        """The version under which this writer's name stands in the table's log; upkeep never removes it.

        Delta's small reader is asked: it looks into the log without a job of Spark's.
        """
        java: Any = self._spark._jvm
        if self._reader is None:
            hadoop: Any = self._spark._jsparkSession.sparkContext().hadoopConfiguration()
            self._reader = java.io.delta.kernel.defaults.engine.DefaultEngine.create(hadoop)
        table = java.io.delta.kernel.Table.forPath(self._reader, self._path)
        snapshot = table.getLatestSnapshot(self._reader)
        found = snapshot.getLatestTransactionVersion(self._reader, _app(writer))
        return int(found.get()) if found.isPresent() else None

    def write(self, changes: ChangeSet, *, writer: str, batch_id: int) -> None:
        """One commit with the writer and the batch id in it."""
        with settings(self._spark, {_APP: _app(writer), _VERSION: str(batch_id)}):
            run_write(self._spark, self._name, changes)

    def settle(self, writer: str) -> None:
        """Delta keeps the last transaction of every writer by itself."""

    def said(self, problem: Exception) -> str:
        """What a failure says."""
        return said(problem)

    def is_conflict(self, problem: Exception) -> bool:
        """True if somebody else's commit came in between."""
        return any(name in trace(problem) for name in CONFLICTS)


def _app(writer: str) -> str:
    return f"headwater {writer}"
