"""Compaction: many small runs become one, so that reading State stays cheap however long a pipeline runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from headwater.changes.change_set import Files
from headwater.incremental.change_plan import sums_relation
from headwater.incremental.rules import aggregate
from headwater.incremental.weights import consolidated
from headwater.runtime.program import Program
from headwater.spark.engine import Engine
from headwater.tables.state import Run, State, link, sync_folder, write_rows

MOST_RUNS = 24
"""A relation with more runs than this is compacted."""


def compacted(
    engine: Engine, program: Program, states: Mapping[str, State], batch_id: int
) -> dict[str, State]:
    """The States with too many runs, with their small runs merged into one."""
    merged: dict[str, State] = {}
    for name, state in states.items():
        if len(state.runs) > MOST_RUNS:
            merged[name] = _merged(engine, program, state, batch_id)
    return merged


def _merged(engine: Engine, program: Program, state: State, batch_id: int) -> State:
    kept, small = _split(state)
    part = replace(state, runs=small)
    rows = exp.select("*").from_("compacting")
    engine.register("compacting", engine.weighted(part))
    made = engine.saved(engine.sql(_query(program, state, rows)))
    target = state.folder / f"{batch_id:012d}-c.parquet"
    if isinstance(made, Files):
        runs = []
        for number, path in enumerate(made.paths):
            place = state.folder / f"{batch_id:012d}-c{number}.parquet"
            link(path, place)
            runs.append(Run(place, engine.count(place)))
    else:
        write_rows(target, made, state.schema)
        runs = [Run(target, made.num_rows)] if made.num_rows else []
    sync_folder(state.folder)
    return replace(state, runs=(*kept, *runs))


def _split(state: State) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Large runs at the front stay while what follows them is small beside them."""
    runs = state.runs
    keep = 0
    while keep < len(runs) and runs[keep].rows > 4 * sum(run.rows for run in runs[keep + 1 :]):
        keep += 1
    return runs[:keep], runs[keep:]


def _query(program: Program, state: State, rows: exp.Select) -> exp.Query:
    for view in program.views.values():
        if sums_relation(view.name) == state.relation and view.maintained.measures is not None:
            assert view.block.group is not None
            return aggregate.merged_sums(rows, view.block.group.keys, view.maintained.measures)
    return consolidated(rows, state.schema.names)
