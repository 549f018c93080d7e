"""Compaction: many small runs become one, off the hot path.

Runs are only ever added at the end, so the first ones can be merged in another thread while steps go on; between two
steps the merged run takes their place. The State is the same before and after.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
from sqlglot import exp

from headwater.changes.change_set import Files
from headwater.incremental.change_plan import sums_relation
from headwater.incremental.rules import aggregate
from headwater.incremental.weights import consolidated
from headwater.log.events import SMALL_ROWS
from headwater.runtime.program import Program
from headwater.spark.engine import Engine
from headwater.spark.kept import Leaf
from headwater.spark.session import borrowed_session
from headwater.spark.text import to_text
from headwater.tables import slices
from headwater.tables.bags import can_count, netted
from headwater.tables.state import Run, State, has_only_come, link, row_count, sync_folder, write_rows

MOST_RUNS = 24
"""A relation with more runs than this is compacted."""

SPREAD_ROWS = 5_000_000
"""On a cluster so many rows are one file: each is written and read by one task."""


@dataclass(frozen=True)
class Merged:
    """Runs of a relation and the ones that say the same in fewer files."""

    relation: str
    before: tuple[Run, ...]
    after: tuple[Run, ...]

    def applied(self, state: State) -> State | None:
        """The State with the merged runs in place of those they were made from; None if those are gone."""
        if state.runs[: len(self.before)] != self.before:
            return None  # the table was truncated meanwhile
        return replace(state, runs=(*self.after, *state.runs[len(self.before) :]))


@dataclass
class Compactor:
    """Merges the runs of one relation at a time, in a thread of its own."""

    engine: Engine
    program: Program
    _worker: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "compaction"))
    _running: Future[Merged] | None = None

    def finished(self) -> Merged | None:
        """What was merged since the last call; raises what went wrong."""
        if self._running is None or not self._running.done():
            return None
        done, self._running = self._running.result(), None
        return done

    def offer(self, states: Mapping[str, State], batch_id: int) -> None:
        """Begin with the relation that has the most runs, if one has too many and nothing is under way."""
        if self._running is not None or not states:
            return
        is_spread = self.engine.pace.is_spread
        longest = max(states.values(), key=lambda state: _to_merge(state.runs, is_spread=is_spread))
        if _to_merge(longest.runs, is_spread=is_spread) > MOST_RUNS:
            self._running = self._worker.submit(merged, self.engine, self.program, longest, batch_id)

    def close(self) -> None:
        """Wait for what is under way."""
        self._worker.shutdown(wait=True)


def compactor_beside(engine: Engine, program: Program, folder: Path) -> Compactor:
    """One that works in a session of its own: what suits a step of a few rows does not suit it."""
    own = Engine(borrowed_session(engine.spark), folder)
    if not engine.pace.generates_code:
        own.pace.generate_no_code()
    own.tidy()
    return Compactor(own, program)


def merged(engine: Engine, program: Program, state: State, batch_id: int) -> Merged:
    """Merge the small runs of a State into as few files as there can be."""
    kept, small = _split(state.runs, is_spread=engine.pace.is_spread)
    made = _merged_rows(engine, program, replace(state, runs=small), are_all=not kept)
    if isinstance(made, Files):
        runs = [_adopted(state, path, f"{batch_id:012d}-c{i}") for i, path in enumerate(made.paths)]
    else:
        target = state.folder / f"{batch_id:012d}-c.parquet"
        write_rows(target, made, state.schema)
        runs = [Run(target, made.num_rows)] if made.num_rows else []
    sync_folder(state.folder)
    engine.tidy()
    return Merged(state.relation, state.runs, (*kept, *runs))


def _merged_rows(engine: Engine, program: Program, state: State, *, are_all: bool) -> pa.Table | Files:
    """What the runs of a State add up to: a few rows by Arrow, or by Spark from memory; more of them through files."""
    view, sums = "compacting", _sums(program, state, are_all=are_all)
    everything = exp.select("*").from_(view)
    query = consolidated(everything, state.schema.names) if sums is None else sums(everything)
    if state.rows > SMALL_ROWS:
        engine.register(view, engine.weighted(state))
        if sums is None and has_only_come(state):
            # Nothing cancels, so nothing has to be grouped; without that Spark would write a file for each part it reads.
            return engine.saved(engine.sql(everything).coalesce(_files(engine, state)))
        made = engine.sql(query)
        # Files that count as small would be merged again after the next step, and for ever.
        return engine.saved(made.coalesce(_files(engine, state)) if engine.pace.is_spread else made)
    rows = slices.whole(state, state.schema.names)
    if sums is None and state.schema.names and can_count(rows):
        return netted(rows)
    return engine.few_rows(to_text(query), Leaf(view, rows))


def _files(engine: Engine, state: State) -> int:
    return max(1, state.rows // SPREAD_ROWS) if engine.pace.is_spread else 1


def _adopted(state: State, path: Path, name: str) -> Run:
    target = state.folder / f"{name}.parquet"
    link(path, target)
    return Run(target, row_count(target))


def _to_merge(runs: tuple[Run, ...], *, is_spread: bool) -> int:
    """How many runs are too many, if they are."""
    return len(_split(runs, is_spread=True)[1]) if is_spread else len(runs)


def _split(runs: tuple[Run, ...], *, is_spread: bool = False) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Large runs at the front stay while what follows them is small beside them.

    On a cluster a large State is many files; all of them stay together.
    """
    if is_spread:
        large = sum(1 for _ in itertools.takewhile(lambda run: run.rows >= SPREAD_ROWS // 2, runs))
        if sum(run.rows for run in runs[:large]) > 4 * sum(run.rows for run in runs[large:]):
            return runs[:large], runs[large:]
    keep = 0
    while keep < len(runs) and runs[keep].rows > 4 * sum(run.rows for run in runs[keep + 1 :]):
        keep += 1
    return runs[:keep], runs[keep:]


def _sums(program: Program, state: State, *, are_all: bool) -> Callable[[exp.Query], exp.Query] | None:
    """How the partial sums of a State are added up; None if it holds rows."""
    for view in program.views.values():
        if sums_relation(view.name) == state.relation and view.maintained.measures is not None:
            assert view.block.group is not None
            keys, measures = view.block.group.keys, view.maintained.measures
            return lambda rows: aggregate.merged_sums(rows, keys, measures, are_all=are_all)
    return None
