"""Scripts that come one after the other, in one process: checked, answered, opened beside each other."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pyspark.sql import SparkSession

from headwater.errors import HeadwaterError, SqlError
from headwater.runtime.compile import compile_script
from headwater.runtime.declarations import Script
from headwater.runtime.either_way import check_tables
from headwater.runtime.facts import BatchDone, Listener
from headwater.runtime.hidden import Hidden
from headwater.runtime.open import HOME, open_engine, open_script, spark_jars
from headwater.runtime.pipeline import Pipeline
from headwater.sources.base import Report
from headwater.spark.engine import Engine
from headwater.spark.session import borrowed_session, refuse_late_jars, running_cores
from headwater.sql import statements as sql

__all__ = ["Interactive", "busy_cores", "folder_of", "remove_unused", "running_cores"]

_RESTART = "Restart the kernel, and declare this table before the first cell that runs something."


class _Late:
    """A Spark session that is opened when somebody asks it for something."""

    def __init__(self, opening: Callable[[], SparkSession]) -> None:
        self._opening = opening

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opening(), name)


@dataclass(frozen=True)
class _Warm:
    """Says nothing of a start of Spark that has been long ago."""

    listener: Listener

    def report(self, report: Report) -> None:
        if report.stage != "spark":
            self.listener.report(report)

    def batch(self, done: BatchDone) -> None:
        self.listener.batch(done)


class Interactive:
    """Checks scripts and opens their pipelines, all on one Spark, which starts when it is needed.

    State is kept below `home`; `restart` is the hint where Spark would have had to know something when it started.
    """

    def __init__(self, home: Path = HOME, restart: str = _RESTART, spark: SparkSession | None = None) -> None:
        self._home = home
        self._restart = restart
        self._spark = spark
        """A session of somebody's own, beside which everything works; without it Spark is started."""
        self._beside: SparkSession | None = None

    def answers(self, script: Script, listener: Listener) -> tuple[str, ...]:
        """Compile a script and run nothing: what SHOW, DESCRIBE and EXPLAIN say."""
        _refuse_questions(script)
        hidden = Hidden()
        with hidden.watching(), tempfile.TemporaryDirectory() as folder:
            check_tables(script.statements, hidden)
            late = _Late(lambda: self._session(script, Path(folder), listener))
            engine = Engine(cast(SparkSession, late), Path(folder))
            return compile_script(list(script.statements), engine, hidden=hidden).answers

    def open(self, script: Script, name: str, *, file: str, listener: Listener) -> Pipeline:
        """The pipeline of a script, in a session of its own."""
        _refuse_questions(script)
        hidden = Hidden()
        with hidden.watching():
            check_tables(script.statements, hidden)
        refuse_late_jars(spark_jars(list(script.statements), listener), self._restart)
        said = {"name": name, "script": script.text, "file": file}
        jars = spark_jars(list(script.declared), listener)
        folder = self.folder_of(name)
        listener = listener if running_cores() is None else _Warm(listener)
        pipeline = open_script(
            list(script.statements), said, state=folder, listener=listener, jars=jars, spark=self._spark
        )
        # What Spark does for this pipeline can be told from what it does for others.
        pipeline.engine.spark.sparkContext.setJobGroup(name, f"headwater {name}")
        return pipeline

    def folder_of(self, name: str) -> Path:
        """Where the pipeline of a name keeps its State."""
        return (self._home / name).absolute()

    def _session(self, script: Script, folder: Path, listener: Listener) -> SparkSession:
        if self._beside is None and self._spark is not None:
            self._beside = borrowed_session(self._spark)
        if self._beside is None:
            jars = spark_jars(list(script.declared), listener)
            opened: list[Engine | HeadwaterError] = []

            def opening() -> None:
                try:
                    opened.append(open_engine("session", folder / "work", listener, jars=jars))
                except HeadwaterError as problem:
                    opened.append(problem)

            # In the main thread Spark would take Ctrl-C for itself, and cancel what all pipelines do.
            thread = threading.Thread(target=opening, daemon=True)
            thread.start()
            thread.join()
            if isinstance(opened[0], HeadwaterError):
                raise opened[0]
            self._beside = opened[0].spark.newSession()
        return self._beside


def _refuse_questions(script: Script) -> None:
    for statement in script.own:
        if isinstance(statement, sql.Subscribe):
            raise SqlError(
                "SUBSCRIBE stands in a script that headwater run or headwater sql runs",
                hint="Use SELECT: here it is live and shows each change.",
                place=statement.place,
            )
        if isinstance(statement, sql.Verify | sql.Analyze):
            raise SqlError(
                "a view is verified or analyzed where its pipeline runs",
                hint="In a program: headwater.open(...).sql('VERIFY ...'); of a saved one: headwater verify --state DIR.",
                place=statement.place,
            )


def folder_of(name: str) -> Path:
    """Where the pipeline of a name keeps its State."""
    return (HOME / name).absolute()


def remove_unused(folder: Path) -> None:
    """Remove the folder of a pipeline that never stood, unless a source has begun to write into it."""
    if folder.exists() and not (folder / "log").exists():
        shutil.rmtree(folder)


def busy_cores(pipeline: Pipeline) -> int:
    """How many tasks Spark has at hand for a pipeline at this moment; a plan that is kept runs as one of its own."""
    tracker = pipeline.engine.spark.sparkContext.statusTracker()
    busy = int(pipeline.engine.is_at_work)
    for job in tracker.getJobIdsForGroup(pipeline.name):
        found = tracker.getJobInfo(job)
        stages = found.stageIds if found is not None and found.status == "RUNNING" else ()
        infos = [tracker.getStageInfo(stage) for stage in stages]
        busy += sum(info.numActiveTasks for info in infos if info is not None)
    return busy
