"""Tables of a lake, opened in a session of their own.

What a write tells Delta or Iceberg is set in that session, where nobody else sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headwater.errors import SinkError
from headwater.spark import delta, iceberg
from headwater.spark.lake_writes import FEW_ROWS


@dataclass
class SparkLake:
    """The lake of a pipeline; nothing is made before a table is opened."""

    spark: SparkSession
    _own: SparkSession | None = field(default=None, init=False)

    def delta(self, path: str) -> delta.DeltaTable:
        """The Delta table at a path."""
        extension = delta.AT_START["spark.sql.extensions"]
        extensions = self.spark.conf.get("spark.sql.extensions", None) or ""
        if not self._knows(extension) or extension not in extensions.split(","):
            raise _without("delta")
        session = self._session()
        for name, value in delta.TUNING.items():
            session.conf.set(name, value)
        return delta.DeltaTable(session, path)

    def iceberg(self, warehouse: str, database: str, name: str) -> iceberg.IcebergTable:
        """The Iceberg table of this name in a warehouse that is a folder."""
        if not self._knows(iceberg.CATALOG):
            raise _without("iceberg")
        return iceberg.IcebergTable(self._session(), warehouse, database=database, name=name)

    def _session(self) -> SparkSession:
        if self._own is None:
            self._own = self.spark.newSession()
            for name, value in FEW_ROWS.items():
                self._own.conf.set(name, value)
        return self._own

    def _knows(self, name: str) -> bool:
        java: Any = self.spark._jvm
        return bool(java.org.apache.spark.util.Utils.classIsLoadable(name))


def settings_at_start(jars: Sequence[Path]) -> dict[str, str]:
    """What Spark must be told at its start to use these jars."""
    return dict(delta.AT_START) if any(jar.name.startswith("delta-spark_") for jar in jars) else {}


def _without(connector: str) -> SinkError:
    return SinkError(
        f"Spark of this process was started without what connector '{connector}' needs",
        detail="Its packages can only be added when Spark starts, and an earlier pipeline of this process started it.",
        hint="Start again, and let a script with such a table be the first one.",
    )
