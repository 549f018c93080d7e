"""The Spark session: local, quiet, tuned for steps of a few rows."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    # Flink's TIMESTAMP has no zone; so has ours.
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    # A small step is one task: partitions, shuffles and adaptive planning cost more than they save.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.parquet.compression.codec": "zstd",
    # A temporary view that is replaced must not linger in the listings of the session.
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "10",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.log.level": "ERROR",
}


def open_session(java_home: Path, *, name: str) -> SparkSession:
    """A local session on the given Java; an existing session of this process is used as it is."""
    os.environ["JAVA_HOME"] = str(java_home)
    # A driver that dies must not leave its JVM behind, and Ctrl-C is for us to handle, not for the JVM.
    builder = SparkSession.builder.master("local[*]").appName(name)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    java_options = "-XX:+UseSerialGC -XX:TieredStopAtLevel=4 -Dlog4j2.level=error"
    builder = builder.config("spark.driver.extraJavaOptions", java_options)
    builder = builder.config("spark.driver.memory", os.environ.get("HEADWATER_DRIVER_MEMORY", "2g"))
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # PySpark logs every refused query with its whole trace; users read our error instead.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    return session
