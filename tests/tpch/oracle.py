"""The oracle: Spark batch runs the queries' own text on the rows that the test keeps itself.

It works in a session of its own, whose views and settings no pipeline sees, and reads the rows from Parquet files of
its own. A query whose tables did not change is not run again: the same text on the same rows gives the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tests.tpch.queries import tables_read
from tests.tpch.tables import Rows


class Oracle:
    """What the queries give, from nothing, at one moment after the other."""

    def __init__(self, session: SparkSession, folder: Path, texts: Mapping[str, str]) -> None:
        # With code that Spark generates, unlike a pipeline's steps: compiled once, it runs at all moments.
        self._spark = session.newSession()
        self._folder = folder
        self._texts = texts
        self._known: dict[str, pa.Table] = {}
        self._moment = 0
        self.seconds = 0.0
        """How long it took so far."""

    def ask(self, rows: Rows, changed: Iterable[str]) -> Mapping[str, pa.Table]:
        """The result of each query on these rows; `changed` are the tables that are not as they were asked last."""
        begin, self._moment = time.perf_counter(), self._moment + 1
        fresh = set(changed)
        for name in fresh:
            path = self._folder / f"{name}-{self._moment}.parquet"
            pq.write_table(rows[name], path)
            self._spark.read.parquet(str(path)).createOrReplaceTempView(name)
        for name, text in self._texts.items():
            if tables_read(text) & fresh:
                self._known[name] = self._spark.sql(text).toArrow()
        self.seconds += time.perf_counter() - begin
        return dict(self._known)
