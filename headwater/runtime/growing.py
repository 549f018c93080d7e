"""SQL that is said piece by piece in a Python program, and the pipeline that all of it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import SparkSession

from headwater.errors import SqlError, UsageError
from headwater.runtime.compile import Compiler
from headwater.runtime.declared import check_declared
from headwater.runtime.facts import Listener
from headwater.runtime.hidden import Hidden
from headwater.runtime.holding import looked_at
from headwater.runtime.open import borrowed_engine, open_engine, open_script
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.program import Question, Result
from headwater.runtime.progress import FILE, Progress
from headwater.runtime.scope import Scope
from headwater.spark.engine import Engine
from headwater.spark.session import borrowed_session
from headwater.sql import statements as sql
from headwater.sql.script import parse_script
from headwater.storage.book import has_book

_ASKING = (sql.Select, sql.Explain, sql.Analyze, sql.Verify, sql.Show, sql.Describe)
"""Statements after which everything is as before."""


@dataclass(frozen=True)
class Taken:
    """What some statements came to."""

    is_lasting: bool
    answers: tuple[str, ...]
    questions: tuple[Question, ...]
    selected: Result | None


@dataclass
class GrowingScript:
    """The statements said so far for one folder, compiled as they come."""

    folder: Path
    spark: SparkSession | None
    listener: Listener
    _statements: list[sql.Statement] = field(default_factory=list)
    _compiler: Compiler | None = None
    _hidden: Hidden = field(default_factory=Hidden)

    def take(self, statements: Sequence[sql.Statement]) -> Taken:
        """Compile some statements after those that came before; nothing is taken if one is wrong."""
        _refuse_subscriptions(statements)
        lasting = [s for s in statements if not isinstance(s, _ASKING)]
        with self._hidden.watching():
            if not self._statements and not lasting:
                self._recall()
            check_declared([*self._statements, *statements], self._hidden)
            known = self._known()
            trial = Compiler(known.scope.aside(), dict(known.settings))
            for statement in statements:
                trial.take(statement)
        program = trial.program()
        selected = [s for s in statements if isinstance(s, sql.Select)]
        result = list(trial.scope.results.values())[-1] if selected else None
        if lasting:
            if result is not None:
                trial.scope.forget(result.name)
            self._compiler = Compiler(trial.scope, trial.settings)
            self._statements += lasting
        return Taken(bool(lasting), program.answers, program.questions, result)

    def open(self) -> Pipeline:
        """The pipeline of everything said so far; of what was said in an earlier process, if nothing was."""
        if not self._statements:
            self._recall()
        if not self._statements:
            raise UsageError(
                f"nothing is said yet, and nothing is kept in {self.folder}",
                hint="Declare a table and a view.",
            )
        text = "\n".join(f"{s.text.strip().rstrip(';')};" for s in self._statements)
        said = {"name": self.folder.name, "script": text, "file": "<sql>"}
        return open_script(
            list(self._statements), said, state=self.folder, listener=self.listener, spark=self.spark
        )

    def _recall(self) -> None:
        """Say again what was said in an earlier process."""
        for statement in _saved_script(self.folder):
            if not isinstance(statement, _ASKING):
                self._known().take(statement)
                self._statements.append(statement)

    def _known(self) -> Compiler:
        if self._compiler is None:
            self._compiler = Compiler(Scope(self._engine(), {}, hidden=self._hidden))
        return self._compiler

    def _engine(self) -> Engine:
        if self.spark is not None:
            return borrowed_engine(self.spark, self.folder / "work")
        self.folder.mkdir(parents=True, exist_ok=True)
        engine = open_engine(self.folder.name, self.folder / "work", self.listener)
        # What is only tried must not be seen by the pipeline, which works in the first session.
        return replace(engine, spark=borrowed_session(engine.spark))


def _refuse_subscriptions(statements: Sequence[sql.Statement]) -> None:
    for statement in statements:
        if isinstance(statement, sql.Subscribe):
            raise SqlError(
                "SUBSCRIBE prints what changes, and a program has no screen",
                hint=f"Call step(), and changes('{statement.name}') after it.",
                place=statement.place,
            )


def _saved_script(folder: Path) -> list[sql.Statement]:
    """The statements of the pipeline in a folder."""
    with looked_at(folder) as books:
        progress = Progress(books) if has_book(books / FILE) else None
        text = progress.text("script") if progress is not None else None
        if progress is not None:
            progress.close()
    return parse_script(text, "<saved>") if text is not None else []
