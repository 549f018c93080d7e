"""The Python face: open a folder, say SQL, take steps, look at the answers as Spark DataFrames.

shop = headwater.open("shop")
shop.sql("CREATE TABLE orders (...) WITH (...); CREATE VIEW totals AS SELECT ...")
shop.run(once=True)
shop.table("totals").show()
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from headwater.changes.change_set import ChangeSet
from headwater.errors import SqlError, UsageError
from headwater.runtime.facts import BatchDone, Listener, Silent
from headwater.runtime.functions import REGISTERED
from headwater.runtime.growing import GrowingScript
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.program import Result
from headwater.schema import WEIGHT
from headwater.spark_source.source import register
from headwater.sql import statements as sql
from headwater.sql.script import parse_script

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Headwater", "open", "register"]

OP = "_op"
"""The column of `changes` that says whether a row came or went."""
WAIT_SECONDS = 0.2
"""How long a step of `run` waits for something to come."""


class Headwater:
    """The SQL said so far, the pipeline it makes, and its answers. Made by `headwater.open`.

    What is declared is checked at once; the pipeline is opened when it is needed, and opened anew when more is
    declared. What it has kept stays: a view that was there before is not computed again.
    """

    def __init__(self, folder: Path, spark: SparkSession | None, listener: Listener | None) -> None:
        self._script = GrowingScript(folder.absolute(), spark, listener or Silent())
        self._pipeline: Pipeline | None = None
        self._last: BatchDone | None = None
        self._said = 0

    def sql(self, text: str) -> DataFrame | str:
        """Declare tables and views, or ask something. A text with a mistake changes nothing.

        A SELECT at the end is answered as a DataFrame at the present cut; it is not kept up to date, a view is. What
        else is asked is answered in words: SHOW, DESCRIBE, EXPLAIN, EXPLAIN ANALYZE, VERIFY.
        """
        self._said += 1
        statements = parse_script(text, f"<sql {self._said}>")
        asked = statements[-1] if statements and isinstance(statements[-1], sql.Select) else None
        for statement in statements:
            if isinstance(statement, sql.Select) and statement is not asked:
                raise SqlError(
                    "a SELECT stands before other statements",
                    hint="Say it last, or by itself.",
                    place=statement.place,
                )
        taken = self._script.take(statements)
        if taken.is_lasting:
            self._close_pipeline()
        answers = list(taken.answers)
        answers += [self._opened().answer(question).text for question in taken.questions]
        return "\n\n".join(answers) if taken.selected is None else self._selected(taken.selected)

    def function(
        self, function: Callable[..., object], name: str | None = None, *, returns: str | None = None
    ) -> None:
        """Let SQL call a function of this program, for which equal arguments always give an equal answer.

        It is called with values or, if its parameters are annotated as `pyarrow.Array`, with whole columns.
        """
        called = name or function.__name__
        path = f"{function.__module__}.{function.__qualname__}#{called}"
        REGISTERED[path] = function
        kind = f" RETURNS {returns}" if returns is not None else ""
        self.sql(f"CREATE OR REPLACE FUNCTION {called} AS '{path}' LANGUAGE PYTHON{kind} DETERMINISTIC")

    def table(self, name: str) -> DataFrame:
        """The rows of a table or view at the present cut. Read them before the next step, which may tidy them away."""
        pipeline = self._opened()
        state = pipeline.states.get(self._kept(pipeline, name))
        assert state is not None
        return pipeline.engine.bag(state)

    def changes(self, name: str) -> DataFrame:
        """What the last step changed in a view: its rows, and in `_op` + for one that came, - for one that went."""
        pipeline = self._opened()
        kept = self._kept(pipeline, name)
        if kept not in pipeline.program.results:
            raise UsageError(f'"{name}" is a table: its changes are those of its source', hint="Name a view.")
        changes = self._last.changes.get(kept) if self._last is not None else None
        frame = pipeline.engine.frame(changes or ChangeSet(kept, pipeline.schema(kept)))
        return frame.selectExpr("*", f"IF({WEIGHT} > 0, '+', '-') AS {OP}").drop(WEIGHT)

    def step(self, *, wait: float = 0.0) -> BatchDone | None:
        """Do one batch if there is something to do within `wait` seconds; None if there was nothing."""
        done = self._opened().step(wait=wait)
        self._last = done or self._last
        return done

    def run(self, *, once: bool = False) -> None:
        """Follow the sources until Ctrl-C; with `once`, until everything committed before this call is done."""
        pipeline = self._opened()
        target = pipeline.now() if once else None
        try:
            while target is None or not pipeline.has_reached(target):
                self.step(wait=WAIT_SECONDS)
        except KeyboardInterrupt:
            if once:
                raise

    def close(self) -> None:
        """Let the folder go. What is done stays done; `open` goes on from there."""
        self._close_pipeline()

    def __enter__(self) -> Self:
        """Use it in a `with` statement."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it at the end of a `with` statement."""
        self.close()

    def _opened(self) -> Pipeline:
        if self._pipeline is None:
            self._pipeline = self._script.open()
        return self._pipeline

    def _close_pipeline(self) -> None:
        if self._pipeline is not None:
            self._pipeline.close()
        self._pipeline, self._last = None, None

    def _kept(self, pipeline: Pipeline, name: str) -> str:
        """The name of a stored relation as it was declared."""
        known = {n.lower(): n for n in (*pipeline.program.tables, *pipeline.program.results)}
        if name.lower() not in known:
            raise UsageError(
                f'"{name}" is not kept',
                detail=f"Kept are {', '.join(known.values()) or 'no tables or views'}.",
                hint="A table is kept as soon as a view reads it.",
            )
        return known[name.lower()]

    def _selected(self, asked: Result) -> DataFrame:
        pipeline = self._opened()
        states = {name: pipeline.states[self._kept(pipeline, name)] for name in asked.reads}
        return pipeline.engine.query(asked.query_text, states).toDF(*asked.schema.names)


def open(
    path: str | Path, spark: SparkSession | None = None, *, listener: Listener | None = None
) -> Headwater:
    """Open the folder of a pipeline, or make it; on a Spark session of your own if one is given.

    As long as nothing is said, it is the pipeline that was there before.
    """
    return Headwater(Path(path), spark, listener)
