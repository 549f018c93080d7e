"""A table of Iceberg: the batch id stands in the summary of the snapshot that a commit makes.

Snapshots expire. The latest one never does, and whenever the table is opened what they say is copied into its
properties, which stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.changes.change_set import ChangeSet
from headwater.schema import Column, Schema
from headwater.spark import lake_sql
from headwater.spark.lake_writes import FAILURE, columns_of, run_write, said, settings, trace

CATALOG = "org.apache.iceberg.spark.SparkCatalog"

CONFLICTS = (
    "org.apache.iceberg.exceptions.CommitFailedException",
    "org.apache.iceberg.exceptions.CommitStateUnknownException",
    "Found conflicting files",
    "Found new conflicting",
    "Missing required files to delete",
)

_SNAPSHOT_PROPERTY = "spark.sql.iceberg.snapshot-property."


class IcebergTable:
    """The table of a name in a warehouse that is a folder."""

    failure = FAILURE

    def __init__(self, spark: SparkSession, warehouse: str, *, database: str, name: str) -> None:
        self._spark = spark
        catalog = f"lake_{hashlib.sha256(warehouse.encode()).hexdigest()[:12]}"
        for key, value in {
            "": CATALOG,
            ".type": "hadoop",
            ".warehouse": warehouse,
            # What others commit must be seen at once: their snapshots are asked which batches are there.
            ".cache-enabled": "false",
        }.items():
            spark.conf.set(f"spark.sql.catalog.{catalog}{key}", value)
        self._name = exp.table_(name, db=database, catalog=catalog, quoted=True)

    def columns(self) -> tuple[tuple[Column, bool], ...] | None:
        """Its columns as they are now; None if there is no table."""
        if not self._spark.catalog.tableExists(self._name.sql(dialect="spark")):
            return None
        return columns_of(self._spark, self._name)

    def create(self, schema: Schema, properties: Mapping[str, str]) -> None:
        """Make it, without rows."""
        self._spark.sql(lake_sql.create(self._name, schema, using="iceberg", properties=properties))

    def last(self, writer: str) -> int | None:
        """What the nearest snapshot of this writer says, else what was kept in the table's properties."""
        table = self._loaded()
        kept = table.properties().get(_mark(writer))
        found = next((text for one in _ancestors(table) if (text := one.summary().get(_mark(writer)))), kept)
        return None if found is None else int(found)

    def write(self, changes: ChangeSet, *, writer: str, batch_id: int) -> None:
        """One commit with the writer and the batch id in it."""
        with settings(self._spark, {_SNAPSHOT_PROPERTY + _mark(writer): str(batch_id)}):
            run_write(self._spark, self._name, changes)

    def settle(self, writer: str) -> None:
        """Copy the last batch into the table's properties."""
        last, table = self.last(writer), self._loaded()
        if last is not None and table.properties().get(_mark(writer)) != str(last):
            table.updateProperties().set(_mark(writer), str(last)).commit()

    def said(self, problem: Exception) -> str:
        """What a failure says."""
        return said(problem)

    def is_conflict(self, problem: Exception) -> bool:
        """True if somebody else's commit came in between."""
        return any(name in trace(problem) for name in CONFLICTS)

    def _loaded(self) -> Any:
        java: Any = self._spark._jvm
        loader = java.org.apache.iceberg.spark.Spark3Util
        return loader.loadIcebergTable(self._spark._jsparkSession, self._name.sql(dialect="spark"))


def _ancestors(table: Any) -> Iterator[Any]:
    """The snapshots that lead to what the table is now, the last one first, as far as they are kept."""
    snapshot = table.currentSnapshot()
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)


def _mark(writer: str) -> str:
    return f"headwater.batch.{writer}"
