"""The Spark session: local, quiet, tuned for steps of a few rows."""

from __future__ import annotations

import logging
import os
import shlex
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from headwater.errors import ServiceError
from headwater.spark.cluster import Cluster
from headwater.spark.java_process import start_java
from headwater.spark.lake import settings_at_start
from headwater.spark.pace import GENERATED

UNSOUND_RULES = ",".join(
    f"org.apache.spark.sql.catalyst.optimizer.{name}"
    for name in (
        # It asks EXISTS of rows before it has left out those that OFFSET and LIMIT leave out, by a join that changes
        # their order, and then leaves out others.
        "PushProjectionThroughLimitAndOffset",
        # It knows nothing of a tied scalar subquery's own columns: "key not found" if one is selected beside UNION.
        "PushProjectionThroughUnion",
    )
)
"""Rules of Spark's optimiser that change answers, or that break on a sound query."""

JAVA_OPTIONS = "spark.driver.extraJavaOptions"

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # Flink's TIMESTAMP has no zone; so has ours.
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    # Of a key that comes twice, in a map or in JSON, Flink takes the last.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.variant.allowDuplicateKeys": "true",
    "spark.sql.optimizer.excludedRules": UNSOUND_RULES,
    # What is no text in a charset becomes the replacement character, as in Java; it is no error.
    "spark.sql.legacy.codingErrorAction": "true",
    # The defaults, said again: an earlier pipeline of this process may have had maps that need others.
    **GENERATED,
    # Every step runs the statements of the last one again. Of a pipeline with many views all their code has to be kept:
    # with the default, 100, the 22 views of TPC-H compile theirs anew in each step, which takes half of its time.
    "spark.sql.codegen.cache.maxEntries": "2000",
    # A small step is one task: partitions, shuffles and adaptive planning cost more than they save.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Rows are handed to Java in Arrow's usual form.
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.parquet.compression.codec": "zstd",
    # Arrow reads the older form as nanoseconds, which end in the year 2262.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Steps come for ever; what Spark remembers of each must not. It forgets a tenth at a time, not one by one.
    "spark.sql.ui.retainedExecutions": "50",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "50",
    # Spark describes every statement it runs to its own UI, at some length; nobody reads that.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.catalogImplementation": "in-memory",
    # Every file that Hadoop makes on a local disk costs a process, `chmod`, and nobody looks at these.
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.log.level": "ERROR",
    # A task that finds no memory fails, and with it what it computes. With the default Spark ends its whole process:
    # one reader's query would end all pipelines of a server.
    "spark.executor.killOnFatalError.depth": "0",
    # Nothing is cached in the heap: State is read from files, so a small heap is enough for any size of it.
    "spark.driver.memory": "2g",
    JAVA_OPTIONS: " ".join(
        [
            # On few cores with short-lived objects the serial collector costs the least.
            "-XX:+UseSerialGC",
            # Most of what runs in the first minute runs a few thousand times, and Java would spend half of its time to
            # optimise it. What runs over many rows is optimised a moment later. To the twentieth step: 22 s, not 27.
            "-XX:Tier4InvocationThreshold=50000",
            "-XX:Tier4MinInvocationThreshold=10000",
            "-XX:Tier4CompileThreshold=150000",
            "-XX:Tier4BackEdgeThreshold=200000",
        ]
    ),
}

ON_THIS_MACHINE = {
    "spark.master": "local[*]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
ON_A_CLUSTER = {
    # Files say how long they are on the disk. What they hold takes more in memory, and what is broadcast passes through
    # the driver, whose heap stays small.
    "spark.sql.sources.fileCompressionFactor": "4.0",
}

_TAKEN = threading.Lock()
"""Held by the pipeline that works in the first session of this process."""


def spark_classes() -> Path:
    """The folder with the jars that Spark itself consists of."""
    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent) / "jars"


def open_session(
    java_home: Path,
    *,
    name: str,
    jars: Sequence[Path] = (),
    java_options: Sequence[str] = (),
    cluster: Cluster | None = None,
) -> SparkSession:
    """A session on the given Java, with these jars, local or with executors on a cluster.

    An existing session of this process is used as it is.
    """
    os.environ["JAVA_HOME"] = str(java_home)
    # Workers must be of our own Python, whatever else is called python3 on the machine.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = SETTINGS | settings_at_start(jars) | {"spark.app.name": name}
    settings[JAVA_OPTIONS] = " ".join([SETTINGS[JAVA_OPTIONS], *map(shlex.quote, java_options)])
    if cluster is None or cluster.is_local:
        # Its own pages, if somebody asks for them, are for this machine only.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= ON_THIS_MACHINE
    if cluster is not None:
        settings |= {**ON_A_CLUSTER, **cluster.settings, "spark.master": cluster.master}
    if jars:
        settings["spark.jars"] = ",".join(map(str, jars))
    start_java(settings)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    with _told(cluster):
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    _write_no_checksums(session)
    # PySpark logs every refused query with its whole trace; users read our error instead.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return session


@contextmanager
def _told(cluster: Cluster | None) -> Iterator[None]:
    """What becomes of a start on a cluster that does not take us is one of our errors."""
    try:
        yield
    except Py4JJavaError as problem:
        if cluster is None:
            raise
        said = next((line for line in str(problem).splitlines()[1:] if line.strip()), "It said nothing.")
        raise ServiceError(
            f"the cluster at {cluster.master} does not run this",
            detail=said.lstrip(": "),
            hint="Is its master there, has it workers, and have they the same Spark? See spark.log in the state folder.",
        ) from problem


def _write_no_checksums(session: SparkSession) -> None:
    """Leave out the file of checksums beside each file on a local disk: Arrow, which reads ours, never asks for it.

    With the mark that a write is whole, which is left out too, a small write takes 0.10 s instead of 0.15.
    """
    java: Any = session._jvm
    hadoop: Any = session._jsc.hadoopConfiguration()
    java.org.apache.hadoop.fs.FileSystem.getLocal(hadoop).setWriteChecksum(False)


def own_session(session: SparkSession, closing: ExitStack) -> SparkSession:
    """A session whose views nobody else names: this one, or, while somebody of this process has it, one beside it.

    It is given back when `closing` is closed. All of them share one Spark.
    """
    if _TAKEN.acquire(blocking=False):
        closing.callback(_TAKEN.release)
        return session
    return session.newSession()


def borrowed_session(session: SparkSession) -> SparkSession:
    """A session beside one of somebody else's, on the same Spark: our settings and views stay out of it."""
    beside = session.newSession()
    for key, value in SETTINGS.items():
        if beside.conf.isModifiable(key):
            beside.conf.set(key, value)
    return beside


def running_cores() -> int | None:
    """The cores of this process's Spark; None before it was started."""
    context = SparkContext._active_spark_context
    return None if context is None else context.defaultParallelism


def refuse_late_jars(needed: Sequence[Path], hint: str) -> None:
    """Raise if Spark was started without some jars: it takes packages only then."""
    there = running_jars()
    missing = [] if there is None else [jar for jar in needed if str(jar) not in there]
    if missing:
        raise ServiceError(
            "Spark runs already, without the packages that this needs",
            detail=f"Missing is {missing[0].name}. Spark takes packages only when it starts.",
            hint=hint,
        )


def running_jars() -> list[str] | None:
    """The jars this process's Spark was started with; None before it was started."""
    context = SparkContext._active_spark_context
    return None if context is None else context.getConf().get("spark.jars", "").split(",")
