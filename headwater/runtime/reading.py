"""Queries of readers over snapshots, run by Spark in a session of its own, beside those in which pipelines work.

What a query gives is bounded in rows, bytes and seconds. It goes through files, so that neither Java nor Python holds it
all; only a plain query over small relations is answered from memory.
"""

from __future__ import annotations

import itertools
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from headwater.errors import HeadwaterError, SqlError, StateError
from headwater.runtime.failures import is_out_of_memory, last_cause, said_by, spark_has_ended
from headwater.runtime.pipeline import Pipeline
from headwater.schema import Column, Schema, arrow_schema, can_keep
from headwater.spark.frames import bag_of
from headwater.spark.pace import AS_IT_STANDS, IN_FILES, MANY
from headwater.spark.problems import as_sql_error
from headwater.spark.session import borrowed_session
from headwater.spark.text import to_text
from headwater.spark.types import type_text
from headwater.tables.small_runs import is_small
from headwater.tables.state import State, row_count

BATCH_ROWS = 10_000
"""So many rows of an answer are in memory at the same time."""

POLL_SECONDS = 0.2

_LARGE_PAGES = {"spark.sql.execution.topKSortFallbackThreshold": "10000"}
"""The first so many rows in order are found in memory; more of them are sorted on disk."""

_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Limits:
    """How much one query may give, and how long it may take."""

    rows: int = 1_000_000
    bytes: int = 256 << 20
    seconds: float = 60.0
    given_up: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set by whoever wants the answer no more."""


@dataclass(frozen=True)
class Found:
    """What a query gave: its columns, and its rows in order, in memory or in files."""

    schema: Schema
    limits: Limits
    rows: pa.Table | tuple[Path, ...]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.rows.num_rows if isinstance(self.rows, pa.Table) else sum(map(row_count, self.rows))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in pieces of bounded size; more of them than the limits let pass are an error."""
        kinds, count, size = arrow_schema(self.schema), 0, 0
        for piece in self._pieces():
            count, size = count + piece.num_rows, size + piece.nbytes
            if count > self.limits.rows:
                raise _too_much(f"more than {self.limits.rows} rows")
            if size > self.limits.bytes:
                raise _too_much(f"more than {self.limits.bytes >> 20} MB")
            whole = pa.Table.from_batches([piece]).rename_columns(self.schema.names)
            yield from whole.cast(kinds).combine_chunks().to_batches()

    def table(self) -> pa.Table:
        """All rows at once; the limits bound them."""
        return pa.Table.from_batches(self.batches(), arrow_schema(self.schema))

    def _pieces(self) -> Iterator[pa.RecordBatch]:
        if isinstance(self.rows, pa.Table):
            yield from self.rows.to_batches(max_chunksize=BATCH_ROWS)
            return
        for path in self.rows:
            with pq.ParquetFile(path) as file:
                yield from file.iter_batches(BATCH_ROWS)


class Readings:
    """A session in which many readers ask at the same time, each for relations by names of its own."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._spark = borrowed_session(pipeline.engine.spark)
        for name, value in (IN_FILES | MANY | _LARGE_PAGES).items():
            self._spark.conf.set(name, value)
        self._generates_code = True

    def serves(self, pipeline: Pipeline) -> bool:
        """True if a pipeline works on the Spark in which this session is."""
        return bool(self._spark.sparkContext is pipeline.engine.spark.sparkContext)

    def suit(self, pipeline: Pipeline) -> None:
        """Let queries over a pipeline's relations run as its own statements do."""
        if self._generates_code and not pipeline.engine.pace.generates_code:
            self._generates_code = False
            for name, value in AS_IT_STANDS.items():
                self._spark.conf.set(name, value)

    @contextmanager
    def found(self, query: exp.Query, states: Mapping[str, State], *, limits: Limits) -> Iterator[Found]:
        """What a query over States, by the names it calls them, gives; its rows are there inside the block."""
        with tempfile.TemporaryDirectory(prefix="headwater-read-") as folder:
            with _told(), _within(self._spark, limits):
                try:
                    for name, state in states.items():
                        frame = bag_of(self._spark, name, state, {n: n for n in state.schema.names})
                        frame.createOrReplaceTempView(name)
                    found = self._run(query, [*states.values()], limits, Path(folder) / "rows")
                finally:
                    for name in states:
                        for view in (name, f"{name}__weighted"):
                            self._spark.catalog.dropTempView(view)
            yield found

    def _run(self, query: exp.Query, states: list[State], limits: Limits, folder: Path) -> Found:
        try:
            frame = self._spark.sql(to_text(query))
        except PySparkException as problem:
            raise as_sql_error(problem, (), None) from problem
        schema = _schema(frame)
        # One more than may come, so that it can be told; names that stand twice are told apart.
        plain = _writable(frame).limit(limits.rows + 1)
        if _is_plain(query) and all(map(is_small, states)):
            return Found(schema, limits, plain.toArrow())
        plain.write.parquet(str(folder))
        return Found(schema, limits, tuple(sorted(folder.glob("*.parquet"))))


def _schema(frame: DataFrame) -> Schema:
    kinds = [(field.name, type_text(field.dataType)) for field in frame.schema.fields]
    if not kinds:
        raise SqlError("the query has no columns", hint="Say FROM where it reads, or name what it selects.")
    columns = [Column(name, "string" if kind == "void" else kind) for name, kind in kinds]
    for column in columns:
        if not can_keep(column.type):
            raise SqlError(
                f'column "{column.name}" is of type {column.type}, which cannot be sent',
                hint="CAST it to STRING.",
            )
    return Schema(tuple(columns))


def _writable(frame: DataFrame) -> DataFrame:
    """The rows under names of their own, NULLs without a type as texts: Parquet has neither."""
    named = frame.toDF(*[f"c{number}" for number in range(len(frame.columns))])
    for one in named.schema.fields:
        if type_text(one.dataType) == "void":
            named = named.withColumn(one.name, named[one.name].cast("string"))
    return named


def _is_plain(query: exp.Query) -> bool:
    """True if a query gives no more than it reads: one relation, nothing that makes long values of short ones."""
    if not isinstance(query, exp.Select) or query.find(exp.Join, exp.Subquery, exp.CTE, exp.Lateral):
        return False
    lasting = (exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg, exp.And, exp.Or)
    return all(isinstance(call, lasting) for call in query.find_all(exp.Func, exp.DPipe))


def _too_much(what: str) -> HeadwaterError:
    return SqlError(
        f"the answer has {what}",
        detail="Nobody may ask for more at once.",
        hint="Add a WHERE or a LIMIT, or read it page by page.",
    )


@contextmanager
def _within(spark: SparkSession, limits: Limits) -> Iterator[None]:
    """What Spark does inside the block, in this thread, is cancelled when it takes too long or nobody wants it."""
    context, group = spark.sparkContext, f"headwater reader {next(_NUMBERS)}"
    done, late = threading.Event(), threading.Event()
    deadline = time.monotonic() + limits.seconds

    def watch() -> None:
        # Again and again: one that is cancelled between two of its jobs would begin the next.
        while not done.wait(POLL_SECONDS):
            if time.monotonic() > deadline or limits.given_up.is_set():
                late.set()
                context.cancelJobGroup(group)

    context.setJobGroup(group, "a reader's query", interruptOnCancel=True)
    watcher = threading.Thread(target=watch, name=group, daemon=True)
    watcher.start()
    try:
        yield
    except (PySparkException, Py4JJavaError) as problem:
        if limits.given_up.is_set():
            raise SqlError("the query was given up") from problem
        if late.is_set():
            raise SqlError(
                f"the query took longer than {limits.seconds:g} s and was stopped",
                hint="Ask for less, or let a view compute it: CREATE VIEW keeps the answer ready.",
            ) from problem
        raise
    finally:
        done.set()
        watcher.join()
        for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
            context.setLocalProperty(name, None)  # type: ignore[arg-type]  # None takes it away


@contextmanager
def _told() -> Iterator[None]:
    """Whatever breaks in a query of a reader is one of our errors, and touches nobody else."""
    try:
        yield
    except PySparkException as problem:
        raise SqlError(
            "the query cannot be computed",
            detail=said_by(problem),
            hint="Let the query take such values (try_divide, try_cast, NULLIF, a WHERE).",
        ) from problem
    except Py4JJavaError as problem:
        if is_out_of_memory(problem):
            raise SqlError(
                "the query needs more memory than Spark has",
                hint="Ask for smaller values or fewer rows at once; or let a view compute it.",
            ) from problem
        raise SqlError("the query cannot be computed", detail=last_cause(str(problem))) from problem
    except (Py4JError, ConnectionError) as problem:
        raise spark_has_ended() from problem
    except (OSError, pa.ArrowException) as problem:
        raise StateError(
            "what was to be read is gone or cannot be read",
            detail=f"{problem}",
            hint="Ask again in a moment.",
        ) from problem
