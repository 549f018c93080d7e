"""Statements that Spark plans once and runs again over the rows of each step.

To analyse, optimise and plan a statement takes longer than to run it over a few rows. What is kept is Spark's own plan,
with leaves that stand for rows to come (`java/KeptPlan.java`); rows go there and back through files of Arrow.
"""

from __future__ import annotations

import json
import logging
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from headwater.fault_points import pass_by
from headwater.spark.frames import added_up, quoted
from headwater.spark.local_rows import BATCH_ROWS, spark_types

MOST_KEPT = 500
"""So many plans are kept in Java's heap, those that were used last. The limit is not measured."""

MOST_READ = 8 << 20
"""Up to so many bytes of what a plan has found are read into memory."""

_SOURCE = Path(__file__).parent / "java" / "KeptPlan.java"
_LOG = logging.getLogger(__name__)
_COMPILING = threading.Lock()


@dataclass(frozen=True)
class Leaf:
    """Rows in memory under the name by which a statement reads them."""

    view: str
    rows: pa.Table
    is_to_add_up: bool = False
    """True if the rows carry weights and the statement wants each as often as it is there."""


@dataclass(frozen=True)
class _Kept:
    """A plan in Java, and the columns of what it finds."""

    plan: Any
    found: pa.Schema


@dataclass
class KeptPlans:
    """The plans of one session, by their text and what they read."""

    spark: SparkSession
    made: int = 0
    """How often Spark had to plan."""
    _running: _Kept | None = None
    """The one that Java is at work on."""
    _plans: OrderedDict[tuple[object, ...], _Kept | None] = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self._plans)

    @property
    def is_running(self) -> bool:
        """True while Java is at work on one of them."""
        return self._running is not None

    def stop(self) -> None:
        """Let a run that is under way end soon, with an error."""
        if (running := self._running) is not None:
            running.plan.stop()

    def forget(self) -> None:
        """Plan everything anew."""
        self._plans.clear()

    def run(self, text: str, leaves: Sequence[Leaf], *, names: Sequence[str], pace: str) -> pa.Table | None:
        """What a statement finds in these rows; None if it cannot be kept. `pace` says how Spark is to run it."""
        kinds = [spark_types(leaf.rows.schema) for leaf in leaves]
        said = [kind.said for kind in kinds]
        key = (
            text,
            tuple(names),
            pace,
            tuple((leaf.view, leaf.is_to_add_up) for leaf in leaves),
            tuple(said),
        )
        if key not in self._plans:
            self._plans[key] = self._planned(text, leaves, said, names)
            if len(self._plans) > MOST_KEPT:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        kept = self._plans[key]
        if kept is None:
            return None
        with (
            tempfile.NamedTemporaryFile(prefix="headwater-") as given,
            tempfile.NamedTemporaryFile(prefix="headwater-") as made,
        ):
            for leaf, kind in zip(leaves, kinds, strict=True):
                with pa.ipc.new_stream(given, kind.arrow) as stream:
                    # Spark drops every row after an empty chunk.
                    stream.write_table(leaf.rows.cast(kind.arrow).combine_chunks(), max_chunksize=BATCH_ROWS)
            given.flush()
            self._running = kept
            pass_by("spark asked")
            try:
                kept.plan.run(given.name, made.name)
                pass_by("spark answered")
            except BaseException:
                # Who interrupts this would leave Java at work.
                self.stop()
                raise
            finally:
                self._running = None
            return _found(Path(made.name)).cast(kept.found)

    def _planned(
        self, text: str, leaves: Sequence[Leaf], said: Sequence[str], names: Sequence[str]
    ) -> _Kept | None:
        made = _compiled(self.spark._jvm)
        if made is None or self.spark.sparkContext._encryption_enabled:
            return None
        self.made += 1
        plan: Any = made.newInstance().on(self.spark._jsparkSession)
        for leaf, columns in zip(leaves, said, strict=True):
            if not leaf.is_to_add_up:
                plan.leaf(quoted(leaf.view), columns)
                continue
            weighted, adding_up = added_up(leaf.view, leaf.rows.column_names[:-1])
            plan.leaf(quoted(weighted), columns)
            plan.view(quoted(leaf.view), adding_up)
        if not plan.plan(text, list(names)):
            return None
        found = StructType.fromJson(json.loads(plan.columns()))
        # Arrow refuses NULL for a struct whose fields are never NULL.
        return _Kept(plan, to_arrow_schema(found.toNullable()))


def _found(path: Path) -> pa.Table:
    """The rows in a file of Arrow; many of them are left in the file, which lives as long as they do."""
    if path.stat().st_size <= MOST_READ:
        return pa.ipc.open_stream(pa.py_buffer(path.read_bytes())).read_all()
    return pa.ipc.open_stream(pa.memory_map(str(path))).read_all()


def _compiled(machine: Any) -> Any | None:
    """The class in Java; None if it does not fit this version of Spark, so that every statement is planned anew."""
    # Pipelines that begin at once would have two classes of one name, which py4j takes for each other.
    with _COMPILING:
        return _compiled_once(machine)


@lru_cache(maxsize=1)
def _compiled_once(machine: Any) -> Any | None:
    compiler = machine.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(machine.java.lang.Thread.currentThread().getContextClassLoader())
    try:
        compiler.cook(_SOURCE.read_text(encoding="utf-8"))
    except Py4JJavaError as error:
        _LOG.warning("plans are not kept: %s", error.java_exception)
        return None
    return compiler.getClassLoader().loadClass("headwater.KeptPlan")
