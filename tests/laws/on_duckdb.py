"""Runs change plans on DuckDB, as `headwater.runtime.step` and `headwater.spark` run them on Spark.

What a plan does not say it reads, and what a restriction leaves out, its statements are not given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import duckdb
from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.incremental.change_plan import ChangePlan, Input, Statement, Version, sums_relation
from headwater.incremental.differentiate import anew, differentiate, first
from headwater.incremental.rules.aggregate import merged_sums
from headwater.runtime.compile import compile_script
from headwater.runtime.program import Program, ViewNode
from headwater.schema import WEIGHT, Schema
from headwater.spark.text import to_text
from headwater.sql.script import parse_script
from tests.laws.rows import Row, Rows, weighted
from tests.laws.to_duckdb import MACROS, to_duckdb, type_in_spark
from tests.operators.on_paper import PaperEngine

MERGED = "merged"
"""What rows are called while they are merged."""

States = Mapping[str, Rows]
"""The weighted rows of every relation: tables, views and what is kept beside views."""


class DuckEngine(PaperEngine):
    """Tells types as DuckDB does, in Spark's words; sqlglot alone does not know those of generators."""

    def __init__(self, database: Database) -> None:
        super().__init__(cast(SparkSession, None), Path("nowhere"))
        self._database = database

    def analyse(self, schemas: Mapping[str, Schema], query: exp.Query) -> dict[str, str]:
        """The types of a query's columns."""
        named = {table.name for table in query.find_all(exp.Table)}
        empty = {name: weighted(schema) for name, schema in schemas.items() if name in named}
        empty = {name: Rows(rows.columns[:-1]) for name, rows in empty.items()}
        return {name: type_in_spark(kind) for name, kind in self._database.ask(to_text(query), empty).columns}


def compile_on_duckdb(script: str) -> Program:
    """The program of a script."""
    return compile_script(parse_script(script), DuckEngine(database()))


class Database:
    """DuckDB without tables: a query is given the rows of every relation it names."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        # To plan a query over five rows well takes longer than to run it.
        self._connection.execute("PRAGMA disable_optimizer")
        for macro in MACROS:
            self._connection.execute(macro)
        self._statements: dict[tuple[object, ...], Any] = {}

    def ask(self, text: str, given: Mapping[str, Rows]) -> Rows:
        """The rows of a query in Spark's words over relations of these rows."""
        shapes = tuple((name, rows.columns) for name, rows in given.items())
        if (text, *shapes) not in self._statements:
            (made,) = self._connection.extract_statements(_whole(text, given))
            self._statements[text, *shapes] = made
        values = [[dict(zip(dict(r.columns), row, strict=True)) for row in r.rows] for r in given.values()]
        self._connection.execute(self._statements[text, *shapes], values)
        columns = tuple((name, str(kind)) for name, kind, *_ in self._connection.description)
        return Rows(columns, tuple(tuple(map(_hashable, row)) for row in self._connection.fetchall()))


@cache
def database() -> Database:
    """The one DuckDB of all laws: it keeps nothing, and to start one takes longer than to ask it."""
    return Database()


def _whole(text: str, given: Mapping[str, Rows]) -> str:
    """The query, below a list of rows for each relation it names."""
    lists = []
    for number, (name, rows) in enumerate(given.items(), start=1):
        struct = ", ".join(f'"{column}" {kind}' for column, kind in rows.columns)
        lists.append(f'"{name}" AS (SELECT UNNEST(CAST(${number} AS STRUCT({struct})[]), max_depth := 2))')
    query = to_duckdb(text)
    return f"WITH {', '.join(lists)} SELECT * FROM ({query}) AS asked" if lists else query


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Before:
    """What a step starts from: the States before and after it, and the changes between, by relation."""

    old: States
    new: States
    changes: Mapping[str, Rows]


@dataclass(frozen=True)
class Stepped:
    """The States after a step, and the changes of all relations that changed."""

    states: States
    changes: Mapping[str, Rows]


@dataclass
class Kept:
    """A compiled script whose views are kept true on DuckDB."""

    program: Program
    database: Database = field(default_factory=lambda: database())
    plans: dict[tuple[str, frozenset[str]], ChangePlan] = field(default_factory=dict)
    """Change plans by view and by which of its inputs changed: each is made once."""
    _fills: dict[str, ChangePlan] = field(default_factory=dict)
    _anew: dict[str, ChangePlan] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)
    """The texts of statements; those live as long as the plans."""
    _merging: dict[str, str] = field(default_factory=dict)
    """The texts that compact partial sums."""

    @property
    def schemas(self) -> dict[str, Schema]:
        """The tables."""
        return {name: table.schema for name, table in self.program.tables.items()}

    def filled(self, tables: Mapping[str, Iterable[Row]]) -> Stepped:
        """Every view computed from nothing over these rows."""
        old = {name: weighted(node.schema) for name, node in self.program.tables.items()}
        for view in self.program.views.values():
            old[view.name] = weighted(view.schema)
            if view.sums_schema is not None:
                old[sums_relation(view.name)] = weighted(view.sums_schema)
        new = dict(old)
        for name, rows in tables.items():
            new[name] = weighted(self.program.tables[name].schema, [(*row, 1) for row in rows])
        step = _Step(self, old, new)
        for view in self.program.views.values():
            if view.name not in self._fills:
                self._fills[view.name] = first(view.maintained)
            step.run(view, self._fills[view.name], is_first=True)
        return Stepped(step.new, step.changes)

    def stepped(self, old: States, changes: Mapping[str, Iterable[Row]], anew: Iterable[str] = ()) -> Stepped:
        """Every view brought up to date after weighted rows of tables; those named `anew` from nothing."""
        step = _Step(self, old, dict(old))
        for name, rows in changes.items():
            change = weighted(self.program.tables[name].schema, rows)
            if change.rows:
                step.take(name, change)
        for view in self.program.views.values():
            changed = frozenset(name for name in view.block.inputs if name in step.changes)
            if changed:
                step.run(view, self._plan(view, changed, is_anew=view.name in anew), is_first=False)
        return Stepped(step.new, step.changes)

    def _plan(self, view: ViewNode, changed: frozenset[str], *, is_anew: bool) -> ChangePlan:
        if is_anew:
            if view.name not in self._anew:
                self._anew[view.name] = anew(view.maintained)
            return self._anew[view.name]
        if (view.name, changed) not in self.plans:
            self.plans[view.name, changed] = differentiate(view.maintained, changed)
        return self.plans[view.name, changed]

    def compacted(self, states: States) -> States:
        """The same States in fewer rows, as `headwater.runtime.compaction` makes them."""
        made = {name: rows.consolidated() for name, rows in states.items()}
        for view in self.program.views.values():
            kept, group, measures = sums_relation(view.name), view.block.group, view.maintained.measures
            if group is not None and measures is not None and states[kept].rows:
                if kept not in self._merging:
                    self._merging[kept] = to_text(
                        merged_sums(exp.select("*").from_(MERGED), group.keys, measures, are_all=True)
                    )
                columns = states[kept].columns
                merged = self.database.ask(self._merging[kept], {MERGED: states[kept]})
                made[kept] = Rows(columns, merged.chosen([name for name, _ in columns]).rows)
        return made

    def results(self, tables: States) -> dict[str, Rows]:
        """What every result's own query gives from nothing over these tables, and over results before it."""
        known = {name: tables[name].bag() for name in self.program.tables}
        for result in self.program.results.values():
            found = self.database.ask(result.query_text, {name: known[name] for name in result.reads})
            known[result.name] = Rows(weighted(result.schema).columns[:-1], found.rows)
        return {name: known[name] for name in self.program.results}

    def found(self, plan: ChangePlan, before: Before, *, is_first: bool) -> dict[str, Rows]:
        """The results of a plan's statements; those after an empty one are left out, but not the first time."""
        results: dict[str, Rows] = {}
        for statement in plan.statements:
            made = self._statement(statement, before, results)
            results[statement.target] = made
            if not made.rows and not is_first:
                break
            guard = plan.guard
            if guard is None or guard.target != statement.target:
                continue
            if not guard.least <= made.values(guard.column)[0] <= guard.most:
                return self.found(guard.otherwise, before, is_first=is_first)
        return results

    def _statement(self, statement: Statement, before: Before, results: Mapping[str, Rows]) -> Rows:
        given: dict[str, Rows] = {}
        for wanted in statement.inputs:
            given[wanted.view] = _input(wanted, before, results, given)
        if id(statement) not in self._texts:
            self._texts[id(statement)] = to_text(statement.query)
        return self.database.ask(self._texts[id(statement)], given)


def _names(rows: Rows) -> list[str]:
    return [name for name, _ in rows.columns[:-1]]


def _input(wanted: Input, before: Before, results: Mapping[str, Rows], given: Mapping[str, Rows]) -> Rows:
    """What a statement reads under one name, and no row more."""
    match wanted.version:
        case Version.RESULT:
            return results[wanted.relation]
        case Version.CHANGE:
            return before.changes[wanted.relation].chosen([*wanted.columns, WEIGHT])
        case Version.NOW:
            return before.new[wanted.relation].bag()
        case Version.NEW:
            rows = before.new[wanted.relation]
        case Version.OLD | Version.SUMS:
            rows = before.old[wanted.relation]
    if wanted.restriction is not None:
        known = given[wanted.restriction.by].values(wanted.restriction.by_column)
        rows = rows.where(wanted.restriction.column, known)
    rows = rows.chosen([*(wanted.columns or _names(rows)), WEIGHT])
    return rows.bag() if wanted.is_bag else rows


@dataclass
class _Step:
    """The States before and after a batch and the changes between; grows relation by relation."""

    kept: Kept
    old: States
    new: dict[str, Rows]
    changes: dict[str, Rows] = field(default_factory=dict)

    def take(self, name: str, change: Rows) -> None:
        """A relation changed."""
        self.changes[name] = change
        self.new[name] = self.new[name].added(change)

    def run(self, view: ViewNode, plan: ChangePlan, *, is_first: bool) -> None:
        """Bring one view up to date by a plan."""
        before = Before(self.old, self.new, self.changes)
        results = self.kept.found(plan, before, is_first=is_first or plan.starts_over)
        # A statement before it that found nothing leaves it out.
        if plan.sums in results and view.sums_schema is not None:
            name = sums_relation(view.name)
            more = results[plan.sums].chosen([*view.sums_schema.names, WEIGHT]).typed(view.sums_schema)
            self.new[name] = more if plan.starts_over else self.new[name].added(more)
        made = results.get(plan.statements[-1].target)
        if made is not None and made.rows:
            self.take(view.name, made.typed(view.schema))
