"""Runs change plans: makes the views a statement reads, runs its text, keeps its result.

Small things travel as Arrow through the driver, cut from State by key; large things stay in Parquet, read and
written by Spark.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Files
from headwater.incremental.change_plan import ChangePlan, Guard, Input, Statement, Version
from headwater.incremental.weights import bag
from headwater.log.events import SMALL_ROWS
from headwater.schema import WEIGHT, Schema
from headwater.spark.frames import frame_of
from headwater.spark.pace import Pace
from headwater.spark.plain_maps import have_fixed_values
from headwater.spark.python_functions import add_function
from headwater.spark.text import to_text
from headwater.spark.types import struct_of, type_text
from headwater.tables import slices
from headwater.tables.bags import can_count, counted
from headwater.tables.state import State, row_count

LOCAL_ROWS = 5_000
"""A State up to so many rows is handed to Spark as it is; a larger one is cut or read by Spark."""

BROADCAST = "64m"
"""Up to this size Spark sends one side of a join to all tasks; for a small step that is a job too many."""


@dataclass(frozen=True)
class Before:
    """What a step starts from: the States before and after it, and the changes between, by relation."""

    old: Mapping[str, State]
    new: Mapping[str, State]
    changes: Mapping[str, ChangeSet]


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
    pace: Pace = field(init=False)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _read: dict[str, int] = field(default_factory=dict)
    """The rows that the plan under way was given."""
    _texts: dict[int, tuple[Statement, str]] = field(default_factory=dict)
    """The text of each statement that was run; the statement is kept, so that its id stays its own."""

    def __post_init__(self) -> None:
        self.pace = Pace(self.spark)

    def run(
        self, plan: ChangePlan, before: Before, *, first: bool, names: Mapping[str, tuple[str, ...]]
    ) -> Ran:
        """The results of a plan's statements; those after an empty one are left out.

        When a block is filled for the first time even nothing is an answer: a global aggregate has its row.
        `names` says how the columns of a target are called in State.
        """
        try:
            return self._run(plan, before, first=first, names=names)
        finally:
            self.pace.suit_many()

    def _run(
        self, plan: ChangePlan, before: Before, *, first: bool, names: Mapping[str, tuple[str, ...]]
    ) -> Ran:
        results: dict[str, pa.Table | Files] = {}
        self._read = {}
        for statement in plan.statements:
            made = self._statement(statement, before, results, names.get(statement.target))
            results[statement.target] = made
            if not first and (made.count if isinstance(made, Files) else made.num_rows) == 0:
                break
            guard = plan.guard if plan.guard is not None and plan.guard.target == statement.target else None
            if guard is not None and not _holds(guard, made):
                return self._run(guard.otherwise, before, first=first, names=names)
        return Ran(results, dict(self._read))

    def analyse(self, schemas: Mapping[str, Schema], query: exp.Query) -> dict[str, str]:
        """The types Spark gives the columns of a query over relations of these schemas."""
        for name, schema in schemas.items():
            empty = self.spark.createDataFrame([], struct_of(schema))
            empty.createOrReplaceTempView(_view(name))
        struct = self.spark.sql(to_text(query)).schema
        types = {f.name: type_text(f.dataType) for f in struct.fields}
        if have_fixed_values([*types.values(), *(c.type for schema in schemas.values() for c in schema)]):
            self.pace.generate_no_code()
        return types

    def add_function(self, name: str, function: Callable[..., Any], kind: str) -> None:
        """Let SQL call a Python function that takes Arrow arrays and gives one of a type."""
        add_function(self.spark, name, function, kind)

    def query(self, text: str, views: Mapping[str, State]) -> DataFrame:
        """A plain query over the rows that are true in the given States."""
        for name, state in views.items():
            self.register(name, self.bag(state))
        return self.spark.sql(text)

    def sql(self, query: exp.Query) -> DataFrame:
        """A query over the views that are registered."""
        return self.spark.sql(to_text(query))

    def _statement(
        self,
        statement: Statement,
        before: Before,
        results: Mapping[str, pa.Table | Files],
        names: tuple[str, ...] | None,
    ) -> pa.Table | Files:
        are_all_local, frame = self._prepared(statement, before, results)
        if names is not None:
            frame = frame.toDF(*names, WEIGHT)
        return frame.toArrow().combine_chunks() if are_all_local else self.saved(frame)

    def statement(self, statement: Statement, before: Before) -> DataFrame:
        """What a statement that needs no other one's result would find; for others to go on with."""
        try:
            return self._prepared(statement, before, {})[1]
        finally:
            self.pace.suit_many()

    def _prepared(
        self, statement: Statement, before: Before, results: Mapping[str, pa.Table | Files]
    ) -> tuple[bool, DataFrame]:
        """Make the views a statement reads; tell whether all of them are small."""
        local: dict[str, pa.Table] = {}
        ready: set[str] = set()
        for wanted in statement.inputs:
            # A view of that name may still be there from the last step, with other rows.
            assert wanted.restriction is None or wanted.restriction.by in ready, wanted
            ready.add(wanted.view)
            made = self._input(wanted, before, results, local)
            self._count(wanted, before, made)
            if isinstance(made, pa.Table):
                local[wanted.view] = made
                # On one partition nothing above has to be shuffled.
                made = self.spark.createDataFrame(made).coalesce(1)
            self.register(wanted.view, made)
        is_small = len(local) == len(statement.inputs)
        self.pace.suit(sum(rows.num_rows for rows in local.values()) if is_small else None)
        self.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1" if is_small else BROADCAST)
        if id(statement) not in self._texts:
            self._texts[id(statement)] = (statement, to_text(statement.query))
        text = self._texts[id(statement)][1]
        return is_small, self.spark.sql(text)

    def _count(self, wanted: Input, before: Before, made: pa.Table | DataFrame) -> None:
        if wanted.version in (Version.RESULT, Version.CHANGE):
            return
        states = before.new if wanted.version in (Version.NOW, Version.NEW) else before.old
        rows = made.num_rows if isinstance(made, pa.Table) else states[wanted.relation].rows
        self._read[wanted.relation] = self._read.get(wanted.relation, 0) + rows

    def register(self, view: str, frame: DataFrame) -> None:
        """Call a frame by a name in the statements that follow."""
        frame.createOrReplaceTempView(_view(view))

    def _input(
        self,
        wanted: Input,
        before: Before,
        results: Mapping[str, pa.Table | Files],
        local: Mapping[str, pa.Table],
    ) -> pa.Table | DataFrame:
        match wanted.version:
            case Version.RESULT:
                made = results[wanted.relation]
                return made if isinstance(made, pa.Table) else self._files(made)
            case Version.CHANGE:
                return self._change(before.changes[wanted.relation], wanted.columns)
            case Version.NOW:
                return self.bag(before.new[wanted.relation])
            case Version.NEW:
                state = before.new[wanted.relation]
            case _:
                state = before.old[wanted.relation]
        made = self._state(state, wanted, local)
        return self._plain(made, wanted) if wanted.is_bag else made

    def _plain(self, rows: pa.Table | DataFrame, wanted: Input) -> pa.Table | DataFrame:
        """Weighted rows as often as they are there; by Arrow where that is the same as in Spark."""
        if isinstance(rows, pa.Table):
            if can_count(rows):
                return counted(rows)
            rows = self.spark.createDataFrame(rows).coalesce(1)
        self.register(f"{wanted.view}__weighted", rows)
        weighted = exp.select("*").from_(exp.to_table(_view(f"{wanted.view}__weighted"), dialect="spark"))
        return self.spark.sql(to_text(bag(weighted, rows.columns[:-1])))

    def _change(self, changes: ChangeSet, columns: tuple[str, ...]) -> pa.Table | DataFrame:
        stored = _stored_names(changes.schema, columns)
        if changes.is_small:
            return changes.table().select([*stored, WEIGHT]).rename_columns([*columns, WEIGHT])
        return self.frame(changes).select(*stored, WEIGHT).toDF(*columns, WEIGHT)

    def _state(self, state: State, wanted: Input, local: Mapping[str, pa.Table]) -> pa.Table | DataFrame:
        """A relation's weighted rows, as few of them as the restriction allows; names in lower case."""
        columns = wanted.columns or tuple(n.lower() for n in state.schema.names)
        stored = _stored_names(state.schema, columns)
        restriction = wanted.restriction
        by = local.get(restriction.by) if restriction is not None else None
        if restriction is not None and by is not None and state.rows > 0:
            (column,) = _stored_names(state.schema, (restriction.column,))
            values = by.column(restriction.by_column)
            if slices.can_cut(state.schema, column, values):
                cut = slices.cut(state, column, values, columns=tuple(stored), limit=SMALL_ROWS)
                if cut is not None:
                    return cut.select([*stored, WEIGHT]).rename_columns([*columns, WEIGHT])
        elif state.rows <= LOCAL_ROWS:
            return slices.whole(state, tuple(stored)).rename_columns([*columns, WEIGHT])
        frame = self.weighted(state).select(*stored, WEIGHT).toDF(*columns, WEIGHT)
        if restriction is None:
            return frame
        few = self.spark.table(_view(restriction.by)).select(restriction.by_column).distinct()
        meets = frame[restriction.column].eqNullSafe(few[restriction.by_column])
        return frame.join(few, meets, "left_semi")

    def weighted(self, state: State) -> DataFrame:
        """All weighted rows of a State."""
        struct = struct_of(state.schema, weighted=True)
        if not state.runs:
            return self.spark.createDataFrame([], struct)
        return self.spark.read.schema(struct).parquet(*map(str, state.paths))

    def bag(self, state: State) -> DataFrame:
        """The rows that are true in a State, each as often as it is there."""
        names = state.schema.names
        self.register(f"{state.relation}__weighted", self.weighted(state))
        rows = exp.select("*").from_(exp.to_table(_view(f"{state.relation}__weighted"), dialect="spark"))
        return self.spark.sql(to_text(bag(rows, names)))

    def frame(self, changes: ChangeSet) -> DataFrame:
        """The weighted rows of a change set, whatever it is made of."""
        return frame_of(self.spark, changes)

    def local(self, schema: Schema, rows: pa.Table) -> DataFrame:
        """Rows of a relation that are in memory, as a frame."""
        return self.spark.createDataFrame(rows.combine_chunks(), struct_of(schema))

    def _files(self, files: Files) -> DataFrame:
        return self.spark.read.parquet(*map(str, files.paths))

    def saved(self, frame: DataFrame) -> pa.Table | Files:
        """The rows of a frame, written by Spark; read back if they are few."""
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

    def tidy(self) -> None:
        """Remove the results of the step that is over."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)


def _holds(guard: Guard, made: pa.Table | Files) -> bool:
    found = made if isinstance(made, pa.Table) else pq.read_table(made.paths[0], columns=[guard.column])
    return bool(guard.least <= found.column(guard.column)[0].as_py() <= guard.most)


def _view(name: str) -> str:
    return f"`{name}`"


def _stored_names(schema: Schema, columns: tuple[str, ...]) -> list[str]:
    """The names under which a relation keeps the columns a plan calls in lower case."""
    found = [schema.find(name) for name in columns]
    return [column.name for column in found if column is not None]
