"""Pipelines of many applications in one process, all on one Spark."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from headwater.errors import HeadwaterError
from headwater.runtime.compile import compile_script
from headwater.runtime.declared import check_declared
from headwater.runtime.either_way import check_tables
from headwater.runtime.facts import Listener, Silent
from headwater.runtime.failures import spark_has_ended
from headwater.runtime.hidden import Hidden
from headwater.runtime.keeping import Comparison, compared
from headwater.runtime.open import (
    borrowed_engine,
    jars_at_hand,
    open_engine,
    open_script,
    spark_jars,
    with_name,
)
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.remembered import remembered
from headwater.spark.own_pages import own_pages
from headwater.spark.session import refuse_late_jars
from headwater.sql.script import parse_script

Spark = SparkSession
"""A session of somebody's own, for those who may not ask Spark for anything themselves."""

RESTART = "Restart the server: it starts Spark with the packages of all versions it knows."


class Host:
    """The Spark of a process, and the way to open a pipeline on it."""

    def __init__(
        self, folder: Path, scripts: Callable[[], Iterable[str]] = tuple, spark: Spark | None = None
    ) -> None:
        self._folder = folder
        self._scripts = scripts
        """All that may be opened some time: Spark takes the packages they need only when it starts."""
        self.attached = spark
        """A session of somebody's own, beside which all pipelines work; without it Spark is started."""
        self._spark = spark
        self._starting = threading.Lock()

    @property
    def is_ready(self) -> bool:
        """True if Spark runs."""
        try:
            return self._spark is not None and not self._spark.sparkContext._jsc.sc().isStopped()
        except (Py4JError, OSError):
            return False

    def start(self, listener: Listener) -> SparkSession:
        """Start Spark, if it was not started yet; one that has ended is not started again in this process."""
        with self._starting:
            if self._spark is not None and not self.is_ready:
                raise spark_has_ended()
            if self._spark is None:
                known = [jar for text in self._scripts() for jar in _jars(text, listener)]
                # What is at hand too: the first script that reads Kafka may come to a server that runs.
                jars = list(dict.fromkeys([*jars_at_hand(), *known]))
                engine = open_engine("server", self._folder / "work", listener, jars=jars)
                self._spark = engine.spark
            return self._spark

    def own_pages(self) -> str:
        """Where Spark shows its own pages."""
        address: str = own_pages(self.start(Silent()))
        return address

    def open(self, text: str, name: str, *, file: str, state: Path, listener: Listener) -> Pipeline:
        """The pipeline of a script, in a session of its own."""
        script = parse_script(text, file)
        spark = self.start(listener)
        refuse_late_jars(spark_jars(script, listener), self._restart)
        said = {"name": name, "script": text, "file": file}
        pipeline = open_script(script, said, state=state, listener=listener, spark=spark)
        # What Spark does for this pipeline can be told from what it does for others.
        pipeline.engine.spark.sparkContext.setJobGroup(name, f"headwater {name}")
        pipeline.keep_feed()
        return pipeline

    @property
    def _restart(self) -> str:
        return RESTART if self.attached is None else "Start Spark with them in spark.jars."

    def compare(self, text: str, name: str, *, file: str, state: Path) -> Comparison:
        """What a script would keep of a folder, in which a pipeline may run; nothing is changed."""
        script, hidden = parse_script(text, file), Hidden()
        spark, jars = self.start(Silent()), spark_jars(script, Silent())
        refuse_late_jars(jars, self._restart)
        with hidden.watching(), tempfile.TemporaryDirectory() as folder:
            check_declared(script, hidden)
            engine = borrowed_engine(spark, Path(folder), jars=jars)
            program = compile_script(script, engine, hidden=hidden, remembered=remembered(state))
            return compared(with_name(program, name), state)


def check_text(text: str, file: str) -> None:
    """Raise what is wrong with a script, as far as that asks nobody and starts nothing."""
    hidden = Hidden()
    with hidden.watching():
        check_tables(parse_script(text, file), hidden)


def _jars(text: str, listener: Listener) -> list[Path]:
    """What Spark needs for a script; nothing for one that cannot be read any more."""
    try:
        return spark_jars(parse_script(text, "script"), listener)
    except HeadwaterError:
        return []
