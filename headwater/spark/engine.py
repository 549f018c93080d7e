"""Runs change plans: makes the views a statement reads, runs its text, keeps its result.

What statements read is made in `inputs`. What fits into memory is run there by a plan that is kept; large things stay in
Parquet, read and written by Spark.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Files
from headwater.incremental.change_plan import ChangePlan, Guard, Statement
from headwater.log.events import SMALL_ROWS
from headwater.schema import WEIGHT, Schema, with_bounds
from headwater.spark.cluster import is_spread
from headwater.spark.frames import bag_of, frame_of, plain, register, weighted
from headwater.spark.inputs import MOST_BYTES, Before, Inputs, size_in_java
from headwater.spark.kept import Leaf
from headwater.spark.known import Known, known_to
from headwater.spark.local_rows import local_frame
from headwater.spark.moments import refuse_texts_of_clock
from headwater.spark.order import needs_order
from headwater.spark.pace import Pace
from headwater.spark.plain_maps import have_fixed_values
from headwater.spark.python_functions import add_function
from headwater.spark.text import to_text
from headwater.spark.types import collected, struct_of, type_text
from headwater.tables.state import State, row_count

LEAST_NARROWED = 1_000
"""Fewer rows go on as they are: to ask which of them matter is a statement more. The limit is not measured."""


@dataclass(frozen=True)
class Ran:
    """What the statements of a plan found, by target, and how many rows of each relation they were given."""

    results: dict[str, pa.Table | Files]
    read: dict[str, int]


@dataclass
class Engine:
    """A session and a folder for results too large for memory."""

    spark: SparkSession
    folder: Path
    known: Known = field(init=False)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _read: dict[str, int] = field(default_factory=dict)
    """The rows that the plan under way was given."""
    _texts: dict[int, tuple[Statement, str]] = field(default_factory=dict)
    """The text of each statement that was run; the statement is kept, so that its id stays its own."""
    _empty: dict[str, Schema] = field(init=False, default_factory=dict)
    """The relations that stand without rows, for queries to be analysed over."""

    def __post_init__(self) -> None:
        self.known = known_to(self.spark)

    @cached_property
    def pace(self) -> Pace:
        """How statements run here; a session that starts late is not asked before one does."""
        return Pace(self.spark, is_spread=is_spread(self.spark))

    @property
    def is_at_work(self) -> bool:
        """True while Java runs a plan that is kept."""
        return self.known.plans.is_running

    def run(
        self, plan: ChangePlan, before: Before, *, first: bool, names: Mapping[str, tuple[str, ...]]
    ) -> Ran:
        """The results of a plan's statements; those after an empty one are left out.

        When a block is filled for the first time even nothing is an answer: a global aggregate has its row.
        `names` says how the columns of a target are called in State.
        """
        results: dict[str, pa.Table | Files] = {}
        self._read = {}
        for statement in plan.statements:
            before_it = results.get(statement.narrows)
            if isinstance(before_it, pa.Table) and before_it.num_rows < LEAST_NARROWED:
                made: pa.Table | Files = before_it
            else:
                made = self._statement(statement, before, results, names.get(statement.target))
            results[statement.target] = made
            if not first and (made.count if isinstance(made, Files) else made.num_rows) == 0:
                break
            guard = plan.guard if plan.guard is not None and plan.guard.target == statement.target else None
            if guard is not None and not _holds(guard, made):
                return self.run(guard.otherwise, before, first=first, names=names)
        return Ran(results, dict(self._read))

    def analyse(self, schemas: Mapping[str, Schema], query: exp.Query) -> dict[str, str]:
        """The types Spark gives the columns of a query over relations of these schemas."""
        text = to_text(query)
        types = dict(self.known.types(schemas, text, lambda: self._analysed(schemas, text)))
        if have_fixed_values([*types.values(), *(c.type for schema in schemas.values() for c in schema)]):
            self.pace.generate_no_code()
        return types

    def _analysed(self, schemas: Mapping[str, Schema], text: str) -> dict[str, str]:
        for name, schema in schemas.items():
            if self._empty.get(name) != schema:
                register(name, self.spark.createDataFrame([], struct_of(schema)))
                self._empty[name] = schema
        self.pace.suit(None)
        frame = self.spark.sql(text)
        refuse_texts_of_clock(frame, text)
        return {f.name: type_text(f.dataType) for f in frame.schema.fields}

    def add_function(self, name: str, function: Callable[..., Any], kind: str) -> None:
        """Let SQL call a Python function that takes Arrow arrays and gives one of a type."""
        add_function(self.spark, name, function, kind)
        self.known.forget()

    def query(self, text: str, views: Mapping[str, State]) -> DataFrame:
        """A plain query over the rows that are true in the given States."""
        self.pace.suit(None)
        for name, state in views.items():
            self.register(name, self.bag(state))
        return self.spark.sql(text)

    def sql(self, query: exp.Query) -> DataFrame:
        """A query over the views that are registered, of any size."""
        self.pace.suit(None)
        return self.spark.sql(to_text(query))

    def few_rows(self, text: str, leaf: Leaf) -> pa.Table:
        """What a query over some rows in memory gives."""
        made = self._kept(text, [leaf], ()) if size_in_java(leaf.rows) <= MOST_BYTES else None
        if made is not None:
            return made.combine_chunks()
        frame = local_frame(self.spark, leaf.rows)
        self.register(leaf.view, plain(leaf.view, frame) if leaf.is_to_add_up else frame)
        return collected(self.spark.sql(text)).combine_chunks()

    def _kept(self, text: str, leaves: Sequence[Leaf], names: Sequence[str]) -> pa.Table | None:
        """What a statement over rows in memory finds by a plan that is kept, if it can be."""
        rows = sum(leaf.rows.num_rows for leaf in leaves)
        self.pace.suit(rows)
        for leaf in leaves:
            self._empty.pop(leaf.view, None)
        return self.known.plans.run(text, leaves, names=names, pace=self.pace.of(rows))

    def _statement(
        self,
        statement: Statement,
        before: Before,
        results: Mapping[str, pa.Table | Files],
        names: tuple[str, ...] | None,
    ) -> pa.Table | Files:
        inputs, called = self._inputs(statement, before, results), () if names is None else (*names, WEIGHT)
        if (leaves := inputs.leaves) is None:
            self.pace.suit(None)
            frame = self._frame(statement, inputs, called)
            in_order = self.pace.is_spread and needs_order(statement.query, self._types)
            return self.saved(frame, in_order=in_order)
        made = self._kept(self._text(statement), leaves, called)
        if made is None:
            made = collected(self._frame(statement, inputs, called))
        # What only the next statement reads may be more than what is kept to the end of the step.
        few = made.num_rows <= SMALL_ROWS or (names is None and size_in_java(made) <= MOST_BYTES)
        return made.combine_chunks() if few else self._in_file(made)

    def _in_file(self, rows: pa.Table) -> Files:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"result-{next(self._numbers)}.parquet"
        pq.write_table(rows, path, compression="zstd", write_statistics=with_bounds(rows.schema))
        return Files((path,), rows.num_rows)

    def statement(self, statement: Statement, before: Before) -> DataFrame:
        """What a statement that needs no other one's result would find; for others to go on with."""
        self.pace.suit(None)
        return self._frame(statement, self._inputs(statement, before, {}), ())

    def _inputs(
        self, statement: Statement, before: Before, results: Mapping[str, pa.Table | Files]
    ) -> Inputs:
        """Make what a statement reads."""
        is_spread = self.pace.is_spread
        inputs = Inputs(self.spark, self.folder, self._numbers, before, results, is_spread)
        for wanted in statement.inputs:
            self._empty.pop(wanted.view, None)
            inputs.make(wanted)
        for relation, rows in inputs.read.items():
            self._read[relation] = self._read.get(relation, 0) + rows
        return inputs

    def _frame(self, statement: Statement, inputs: Inputs, names: Sequence[str]) -> DataFrame:
        inputs.name_all()
        frame = self.spark.sql(self._text(statement))
        return frame.toDF(*names) if names else frame

    def _types(self, query: exp.Query) -> list[str]:
        """The types of the columns of a query over views that are registered."""
        return [kind for _, kind in self.spark.sql(to_text(query)).dtypes]

    def _text(self, statement: Statement) -> str:
        if id(statement) not in self._texts:
            self._texts[id(statement)] = (statement, to_text(statement.query))
        return self._texts[id(statement)][1]

    def register(self, view: str, frame: DataFrame) -> None:
        """Call a frame by a name in the statements that follow."""
        self._empty.pop(view, None)
        register(view, frame)

    def weighted(self, state: State) -> DataFrame:
        """All weighted rows of a State."""
        return weighted(self.spark, state)

    def bag(self, state: State) -> DataFrame:
        """The rows that are true in a State, each as often as it is there."""
        return bag_of(self.spark, state.relation, state, {name: name for name in state.schema.names})

    def frame(self, changes: ChangeSet) -> DataFrame:
        """The weighted rows of a change set, whatever it is made of."""
        return frame_of(self.spark, changes)

    def local(self, schema: Schema, rows: pa.Table) -> DataFrame:
        """Rows of a relation that are in memory, as a frame."""
        return self.spark.createDataFrame(rows.combine_chunks(), struct_of(schema))

    def saved(self, frame: DataFrame, *, in_order: bool = False) -> pa.Table | Files:
        """The rows of a frame, written by Spark; read back if they are few."""
        self.pace.suit(None, in_order=in_order)
        folder = self.folder / f"result-{next(self._numbers)}"
        frame.write.parquet(str(folder))
        paths = tuple(sorted(folder.glob("*.parquet")))
        count = sum(map(row_count, paths))
        if count > SMALL_ROWS:
            return Files(paths, count)
        names = frame.columns
        pieces = [pq.read_table(path, partitioning=None).select(names) for path in paths]
        shutil.rmtree(folder)
        return pa.concat_tables(pieces).combine_chunks()

    def rest(self) -> None:
        """Leave the session to whoever uses it between two steps: what it reads may be large."""
        self.pace.suit(None)

    def tidy(self) -> None:
        """Remove the results of the step that is over."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)


def _holds(guard: Guard, made: pa.Table | Files) -> bool:
    found = made if isinstance(made, pa.Table) else pq.read_table(made.paths[0], columns=[guard.column])
    return bool(guard.least <= found.column(guard.column)[0].as_py() <= guard.most)
