"""The oracle: Spark batch, from nothing, over rows that the test has kept itself."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headwater.spark.pace import AS_IT_STANDS
from headwater.spark.session import UNSOUND_RULES
from headwater.spark.types import struct_of
from tests.random_queries.tables import TABLES

SETTINGS = {
    # A query that runs once over a dozen rows is done before code for it would be compiled.
    **AS_IT_STANDS,
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # As a value, `x IN (SELECT ...)` is never NULL in Spark (docs/operators/semi-join.md), unless it sees before it runs
    # that x stands beside an empty table: what a query gives must not depend on that.
    "spark.sql.optimizer.excludedRules": (
        f"org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation,{UNSOUND_RULES}"
    ),
}


@dataclass(frozen=True)
class Oracle:
    """Spark in a session of its own, where tables and views are plain temporary views."""

    spark: SparkSession

    def take(self, rows: Mapping[str, pa.Table]) -> None:
        """From now on the tables hold these rows."""
        for table in TABLES:
            frame = self.spark.createDataFrame(rows[table.name].combine_chunks(), struct_of(table.schema))
            # On one partition nothing above has to be shuffled.
            frame.coalesce(1).createOrReplaceTempView(table.name)

    def answers(self, queries: Mapping[str, str]) -> dict[str, pa.Table | str]:
        """What each query gives now, or what Spark says against it; later ones may read earlier ones by name."""
        frames = {name: self._known_as(name, sql) for name, sql in queries.items()}
        with ThreadPoolExecutor(2) as pool:
            return dict(zip(frames, pool.map(_collected, frames.values()), strict=True))

    def _known_as(self, name: str, sql: str) -> DataFrame | str:
        try:
            frame = self.spark.sql(sql)
            frame.createOrReplaceTempView(name)
        except PySparkException as problem:
            return str(problem)
        return frame


def _collected(frame: DataFrame | str) -> pa.Table | str:
    if isinstance(frame, str):
        return frame
    try:
        return frame.toArrow()
    except (PySparkException, Py4JError) as problem:
        return str(problem)


def oracle_beside(spark: SparkSession) -> Oracle:
    """An oracle in the same Spark, which sees nothing of what others do there."""
    session = spark.newSession()
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    return Oracle(session)
