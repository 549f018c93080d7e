"""What Delta and Iceberg have in common: how rows reach a statement, and what failures say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.changes.change_set import ChangeSet
from headwater.schema import Column
from headwater.spark import lake_sql
from headwater.spark.engine import Engine
from headwater.spark.pace import AS_IT_STANDS, GENERATED
from headwater.spark.types import type_text

FAILURE: tuple[type[Exception], ...] = (PySparkException, Py4JJavaError)
"""How Spark refuses. That it has ended is no refusal."""

FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # To compile the code for the log of a table takes longer than to read the log without.
    **AS_IT_STANDS,
}
"""The settings of a session for writes of a few rows."""

_CODE = re.compile(r"^\[[A-Z_.0-9]+\] ")


def run_write(spark: SparkSession, table: exp.Table, changes: ChangeSet) -> None:
    """Merge the rows by the key of their schema, or add them if it has none."""
    frame = Engine(spark, Path()).frame(changes)
    frame.createOrReplaceTempView(lake_sql.SOURCE)
    schema = changes.schema
    text = lake_sql.merge(table, schema) if schema.key else lake_sql.insert(table, schema.names)
    try:
        with settings(spark, {} if changes.is_small else _for_many_rows(spark)):
            spark.sql(text)
    finally:
        spark.catalog.dropTempView(lake_sql.SOURCE)


@contextmanager
def settings(spark: SparkSession, given: Mapping[str, str]) -> Iterator[None]:
    """While this lasts the session has these settings."""
    before = {name: spark.conf.get(name, None) for name in given}
    try:
        for name, value in given.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, former in before.items():
            if former is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, former)


def _for_many_rows(spark: SparkSession) -> dict[str, str]:
    """A large write uses all cores, and code that is compiled for it."""
    return {
        "spark.sql.shuffle.partitions": str(spark.sparkContext.defaultParallelism),
        "spark.sql.adaptive.enabled": "true",
        **GENERATED,
    }


def columns_of(spark: SparkSession, table: exp.Table) -> tuple[tuple[Column, bool], ...]:
    """The columns of a table that is there, each with True if it must not be NULL."""
    fields = spark.table(table.sql(dialect="spark")).schema.fields
    return tuple((Column(f.name, type_text(f.dataType)), not f.nullable) for f in fields)


def said(problem: Exception) -> str:
    """The first line of what Spark says, or the innermost cause of a Java trace, without codes and classes."""
    if isinstance(problem, PySparkException):
        first = str(problem).split(" SQLSTATE")[0].split("\n\nJVM stacktrace")[0].strip().splitlines()
        return _CODE.sub("", first[0] if first else type(problem).__name__)
    lines = str(problem).splitlines()
    causes = [line for line in lines if line.startswith("Caused by: ")] or lines[1:2] or lines[:1]
    told = re.sub(r"^(?:Caused by)?: (?:[\w.$]+: )?", "", causes[-1])
    return _CODE.sub("", told.split(" SQLSTATE")[0])


def trace(problem: Exception) -> str:
    """All that a failure tells, with the names of Java classes."""
    told = problem.getStackTrace() if hasattr(problem, "getStackTrace") else None
    return f"{problem}\n{told or ''}"
