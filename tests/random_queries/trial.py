"""A trial: some random queries as views of one pipeline, put to the law after every step of a random history."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from headwater.errors import HeadwaterError
from headwater.runtime.facts import BatchDone
from headwater.runtime.open import open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.schema import WEIGHT, arrow_schema
from headwater.sources.base import Report
from headwater.sources.values import STORES, ValuesStore
from headwater.spark import engine
from headwater.tables import slices
from tests.random_queries.batches import Rows, Transaction
from tests.random_queries.compare import Row, bag, differences, weighted_bag
from tests.random_queries.oracle import Oracle
from tests.random_queries.tables import TABLES

History = Sequence[Sequence[Transaction]]
"""The transactions of each step; the first step fills the tables."""


@dataclass(frozen=True)
class View:
    """A random query under a name."""

    name: str
    sql: str

    def reads(self, other: View) -> bool:
        """True if it names the other one."""
        return re.search(rf"\b{other.name}\b", self.sql) is not None


@dataclass(frozen=True)
class Failure:
    """A view that was not true, or that could not be made or maintained, and the step at which this was seen."""

    view: View
    step: int
    what: str
    is_error: bool = False


@dataclass
class Trial:
    """Views of one pipeline and what was seen of them."""

    views: Sequence[View]
    history: History
    folder: Path
    oracle: Oracle
    failures: dict[str, Failure] = field(default_factory=dict)
    filled: set[str] = field(default_factory=set)
    """The views that had rows after the last step."""
    unanswered: dict[str, str] = field(default_factory=dict)
    """Views whose query Spark itself could not run after some step, and what it said."""
    moved: int = 0
    step: int = 0
    """The step that is being taken; the one that fills the tables is number 0."""

    def report(self, report: Report) -> None:
        """Nobody looks on."""

    def batch(self, done: BatchDone) -> None:
        """Count what moved."""
        self.moved += sum(changes.count for changes in done.changes.values())

    def run(self) -> None:
        """All steps; where the pipeline as a whole breaks, every view is tried by itself."""
        try:
            self._run()
        except Exception as problem:  # noqa: BLE001  # whatever it is, it is what the trial has found
            self._blame(problem)

    def _blame(self, problem: Exception) -> None:
        last = self.views[-1]
        if needed(last, self.views) == list(self.views):
            answer = self._answers()[last.name]
            if isinstance(answer, str):
                self.unanswered[last.name] = answer
            else:
                self.failures.setdefault(last.name, Failure(last, self.step, told(problem), is_error=True))
            return
        for number, view in enumerate(self.views):
            folder = self.folder / f"alone-{number}"
            alone = Trial(needed(view, self.views), self.history, folder, self.oracle)
            alone.run()
            self.unanswered |= alone.unanswered
            if view.name in alone.failures:
                self.failures.setdefault(view.name, alone.failures[view.name])
        if not self.failures and not self.unanswered:
            what = f"only with others: {told(problem)}"
            self.failures[last.name] = Failure(last, self.step, what, is_error=True)

    def _run(self) -> None:
        name = "random queries"
        STORES[name] = ValuesStore()
        declared = [table.ddl for table in TABLES]
        declared += [f"CREATE VIEW {view.name} AS {view.sql}" for view in self.views]
        text = ";\n".join([f"SET 'pipeline.name' = '{name}'", *declared]) + ";"
        rows = Rows()
        pipeline = open_pipeline(text, file="random.sql", state=self.folder, listener=self)
        # Everything here runs a few times over a few rows: compiling code for it costs more than all the rest.
        pipeline.engine.pace.generate_no_code()
        # What is worth its time only for many rows is tried with these, too.
        many = patch.object(engine, "LEAST_NARROWED", 0)
        with closing(pipeline), ThreadPoolExecutor(1) as beside, many:
            for number, transactions in enumerate(self.history):
                self.step = number
                for transaction in transactions:
                    STORES[name].append(transaction)
                    rows.take(transaction)
                self.oracle.take(rows.arrow())
                answers = beside.submit(self._answers)
                pipeline.run_once()
                self._check(pipeline, answers.result())

    def _answers(self) -> dict[str, pa.Table | str]:
        return self.oracle.answers({view.name: view.sql for view in self.views})

    def _check(self, pipeline: Pipeline, answers: Mapping[str, pa.Table | str]) -> None:
        self.filled = {name for name, rows in answers.items() if isinstance(rows, pa.Table) and rows.num_rows}
        for view in self.views:
            answer = answers[view.name]
            if isinstance(answer, str):
                self.unanswered[view.name] = answer
            if view.name in self.failures or isinstance(answer, str):
                continue
            what = other_types(pipeline, view.name, answer)
            what = what or difference(held(pipeline, view.name), bag(answer))
            if what:
                self.failures[view.name] = Failure(view, self.step, what)


def other_types(pipeline: Pipeline, name: str, answer: pa.Table) -> str:
    """What is wrong with the types of a view's columns; nothing if nothing."""
    ours = [_type_text(t) for t in arrow_schema(pipeline.schema(name)).types]
    theirs = [_type_text(t) for t in answer.schema.types]
    return "" if ours == theirs else f"the types are {ours}, not {theirs}"


def _type_text(of: pa.DataType) -> str:
    """A type; what the elements of a list are called and whether they may be NULL does not count."""
    return f"list of {of.value_type}" if pa.types.is_list(of) else str(of)


def held(pipeline: Pipeline, name: str) -> Counter[Row]:
    """What the State of a view adds up to, without Spark."""
    state = pipeline.states[name]
    rows = slices.whole(state, state.schema.names)
    return weighted_bag(rows.drop_columns([WEIGHT]), rows.column(WEIGHT).to_pylist())


def difference(found: Counter[Row], expected: Counter[Row]) -> str:
    """What is wrong with a bag of rows; nothing if nothing."""
    gone = [row for row, count in found.items() if count < 0]
    if gone:
        return f"rows went more often than they came: {gone[:3]}"
    missing, extra = differences(found, expected)
    if not missing and not extra:
        return ""
    return f"missing {len(missing)}: {missing[:3]}, extra {len(extra)}: {extra[:3]}"


def told(problem: Exception) -> str:
    """An error in a few lines."""
    if isinstance(problem, HeadwaterError):
        return f"error: {problem.message}: {problem.detail or ''} {problem.hint or ''}"[:600]
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{type(problem).__name__}: {str(problem)[:400]} ({Path(last.filename).name}:{last.lineno})"


def needed(view: View, views: Sequence[View]) -> list[View]:
    """A view and those it reads, in their order."""
    wanted = {view.name}
    for other in reversed(views):
        if any(one.name in wanted and one.reads(other) for one in views):
            wanted.add(other.name)
    return [one for one in views if one.name in wanted]
