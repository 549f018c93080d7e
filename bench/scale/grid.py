"""Steps of the claims join, measured over a grid: changes, State, views and cores.

Rows come straight from memory, so nothing is measured but the step: no database and no network take part. Claims change
by key: three fifths of the changes are updates, a fifth are new claims, a fifth are claims that go. Members are a tenth
of the claims; sums are exact, so that executors may share them. Each number of cores has a Spark of its own.
"""

from __future__ import annotations

import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from bench import engine
from bench.engine import members, numbers, said
from bench.scale.fit import DRIVER, EXECUTORS, JOINED, Load, Measured, Search, parts_of
from headwater.log.events import DELETE_KEY, KIND, UPSERT
from headwater.runtime.open import Cluster
from headwater.runtime.pipeline import Pipeline
from headwater.sources.values import STORES
from headwater.spark import inputs
from headwater.tables import lookup
from headwater.tables.state import State

NAME = "scale"
TABLES = f"""
SET 'pipeline.name' = '{NAME}';
SET 'headwater.recompute' = 'forbid';
CREATE TABLE members (id INT, company STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE claims (id INT, member_id INT, animal STRING, total BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values');
"""
VIEW = """CREATE VIEW costs_{number} AS SELECT m.company, c.animal, SUM(c.total) AS total, COUNT(*) AS claims
FROM claims c JOIN members m ON c.member_id = m.id WHERE c.total >= {number} GROUP BY m.company, c.animal;
"""


@dataclass(frozen=True)
class Round:
    """Steps of so many changes, done in one way; the first ones warm up."""

    way: str
    changes: int
    warm: int
    steps: int


@dataclass(frozen=True)
class Field:
    """A pipeline over so many claims with so many views, and the rounds that are run on it."""

    state: int
    views: int
    rounds: tuple[Round, ...]
    is_held_out: bool = False


WARM_UP = Field(
    250_000, 4, (Round(EXECUTORS, 1_000, 0, 10), Round(EXECUTORS, 100_000, 0, 3), Round(DRIVER, 1_000, 0, 8))
)
"""It does not count: Java goes on getting faster for some minutes, mostly at planning what executors do."""


@dataclass(frozen=True)
class Found:
    """What was measured on one number of cores."""

    steps: tuple[Measured, ...]
    row_bytes: float
    """What a row of the largest State takes on the disk."""
    lookup_bytes: float
    """What is kept beside such a row, so that it is found."""
    change_bytes: float
    """What a changed row takes in memory."""
    launched: float
    """Seconds of the driver for a task."""
    search: Search


def measured(cores: int, fields: Sequence[Field]) -> Found:
    """All fields on so many cores, in a process of its own: a session of Spark keeps its cores as long as it lives."""
    apart = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=apart) as worker:
        return worker.submit(_measured, cores, tuple(fields)).result()


def _measured(cores: int, fields: Sequence[Field]) -> Found:
    run_through(cores, WARM_UP)
    found = [run_through(cores, field) for field in fields]
    largest = max(zip(fields, found, strict=True), key=lambda pair: pair[0].state)[1]
    return replace(largest, steps=tuple(step for each in found for step in each.steps))


def run_through(cores: int, field: Field) -> Found:
    """All rounds of a field, and what its State takes on the disk."""
    steps: list[Measured] = []
    with opened(cores, field) as pipeline:
        row_bytes = loaded(pipeline, field) / field.state
        for number, each in enumerate(field.rounds):
            load = Load(each.changes, field.state, field.views, cores, row_bytes)
            taken = middle(pipeline, field, each, number)
            said(f"{each.way:<10} {each.changes:>8,} changes {taken:8.3f} s")
            steps.append(Measured(each.way, load, taken, field.is_held_out))
        state = pipeline.states["claims"]
        return Found(
            steps=tuple(steps),
            row_bytes=row_bytes,
            lookup_bytes=sum(path.stat().st_size for path in lookups(state)) / field.state,
            change_bytes=changed(10_000, 10_000, 0).drop_columns([KIND]).nbytes / 10_000,
            launched=launch(pipeline),
            search=searched(state),
        )


@contextmanager
def opened(cores: int, field: Field) -> Iterator[Pipeline]:
    """The pipeline of a field, and nothing of it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="headwater-scale-"))
    script = TABLES + "".join(VIEW.format(number=number) for number in range(field.views))
    pipeline = engine.opened(script, NAME, folder / "state", cluster=Cluster(f"local[{cores}]"))
    try:
        yield pipeline
    finally:
        pipeline.close()
        shutil.rmtree(folder)


def loaded(pipeline: Pipeline, field: Field) -> int:
    """Fill the tables; what the claims take on the disk then."""
    begin = time.perf_counter()
    of = field.state // JOINED
    STORES[NAME].append({"members": members(of), "claims": claims(0, field.state, of)})
    pipeline.run_once()
    said(f"{field.state:,} claims, {field.views} views, loaded in {time.perf_counter() - begin:.1f} s")
    return sum(path.stat().st_size for path in pipeline.states["claims"].paths)


def middle(pipeline: Pipeline, field: Field, each: Round, at: int) -> float:
    """The middle of what the steps of a round take."""
    suited(pipeline, each.way)
    taken = []
    for number in range(each.warm + each.steps):
        STORES[NAME].append({"claims": changed(field.state, each.changes, 100 * at + number)})
        begin = time.perf_counter()
        pipeline.run_once()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken[each.warm :])


def suited(pipeline: Pipeline, way: str) -> None:
    """Let what follows be done by the driver, or as on a cluster with a State too large to be cut by the driver.

    Executors are threads of this machine then, so that no network takes part; all else is as they do it.
    """
    pipeline.engine.pace.is_spread = way == EXECUTORS
    inputs.LEAST_SPREAD = 0 if way == EXECUTORS else 50_000_000


def claims(first: int, count: int, of: int) -> pa.Table:
    """So many claims of random members."""
    return claims_of(numbers(first, count), of, first)


def claims_of(ids: pa.Array, of: int, seed: int) -> pa.Table:
    """Claims with these ids, and totals whose sums are exact."""
    made = engine.claims(seed, len(ids), of)
    totals = pc.floor(made.column("total")).cast(pa.int64())
    return made.set_column(0, "id", ids).set_column(3, "total", totals)


STRIDE = 7_919
"""Claims that change are so far from each other, so that all of State has some of them."""


def changed(state: int, count: int, number: int) -> pa.Table:
    """The changes of one transaction: new claims, others that are now of another member, and claims that go."""
    few = count // 5
    come = numbers(state + number * count, few)
    steps = pc.multiply(pc.add(numbers(0, count - few).cast(pa.int64()), number), STRIDE)
    picked = pc.subtract(steps, pc.multiply(pc.divide(steps, state), state)).cast(pa.int32())
    ids = pa.concat_arrays([come, picked])
    kinds = [UPSERT] * (count - few) + [DELETE_KEY] * few
    rows = claims_of(ids, state // JOINED, 2 * number + 1)
    return rows.append_column(KIND, pa.array(kinds))


def lookups(state: State) -> list[Path]:
    """The files beside the runs of a State in which rows are looked up."""
    return [path for path in (state.folder / lookup.FOLDER).rglob("*") if path.is_file()]


FEW, MANY, TIMES = 1_000, 20_000, 9


def searched(state: State) -> Search:
    """What it takes to look up keys in the first rows of a State."""
    run = state.runs[0]
    middles = []
    for count in (FEW, MANY):
        keys = pc.unique(
            pc.floor(pc.multiply(pc.random(count, initializer=count), run.rows)).cast(pa.int32())
        )
        keys = keys.take(pc.array_sort_indices(keys))
        taken = []
        for _ in range(TIMES):
            begin = time.perf_counter()
            lookup.places(run, "id", keys, limit=run.rows)
            taken.append(time.perf_counter() - begin)
        middles.append(statistics.median(taken))
    parts = parts_of(run.rows)
    key = max(0.0, middles[1] - middles[0]) / (MANY - FEW)
    return Search(max(0.0, middles[0] - FEW * key) / parts, key / parts)


LAUNCHED = 2_000
"""So many empty tasks tell what one costs."""


def launch(pipeline: Pipeline) -> float:
    """Seconds of the driver for each task of a job."""
    spark = pipeline.engine.spark
    taken = []
    for tasks in (1, LAUNCHED, LAUNCHED):
        begin = time.perf_counter()
        spark.range(0, tasks, 1, tasks).write.format("noop").mode("overwrite").save()
        taken.append(time.perf_counter() - begin)
    return (taken[2] - taken[0]) / LAUNCHED if taken[2] > taken[0] else taken[2] / LAUNCHED
