"""All 22 queries of TPC-H as views of one pipeline, under inserts, updates and deletes on all eight tables.

Oracle: Spark batch running each query's own text on the rows that the stream says the tables hold. After the first fill
and after each of twelve steps every view equals it, as bags, both ways, and every view has told exactly what changed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from headwater.runtime.costs import Cost, Way
from headwater.runtime.facts import BatchDone
from headwater.runtime.open import open_engine, open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.schema import arrow_schema
from headwater.sources.base import Report
from headwater.sources.values import STORES, ValuesStore
from headwater.tables import slices
from tests.tpch.bags import Bag, bag_of, change, moved, unequal
from tests.tpch.oracle import Oracle
from tests.tpch.queries import NAMES, query_texts, view_declarations
from tests.tpch.stream import Step, stream
from tests.tpch.tables import KEYS, declarations, make_data, read_data

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(1200)]

SCALE = 0.01

RECOMPUTE = ("allow", "forbid")
"""What 'headwater.recompute' is set to, one run each."""

FEW = 4
"""After a change of one row not more than this part of a table is read; tables of a few rows do not count."""

FEWEST_MOVES = 2
"""In at least so many steps every result has to change, else the steps prove nothing about it."""


@dataclass
class Watch:
    """Keeps what the batches changed."""

    done: list[BatchDone] = field(default_factory=list)

    def report(self, report: Report) -> None:
        """Nobody looks on."""

    def batch(self, done: BatchDone) -> None:
        """Keep it."""
        self.done.append(done)


@dataclass(frozen=True, repr=False)
class Expected:
    """The stream of a seed, beginning with the first fill, and what the queries give at each of its moments."""

    steps: Sequence[Step]
    schemas: dict[str, list[tuple[str, pa.DataType]]]
    bags: Sequence[dict[str, Bag]]
    seconds: float
    """How long it took to ask."""


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, random_seed: str) -> Expected:
    """Asked once and for all runs."""
    print(f"--seed {random_seed}")
    folder = tmp_path_factory.mktemp("tpch")
    make_data(folder, scale=SCALE)
    first = read_data(folder)
    steps = [Step(first, first), *stream(first, random_seed)]
    spark = open_engine("tpch", folder / "spark" / "work", Watch()).spark
    oracle = Oracle(spark, folder, query_texts(SCALE))
    answers = [oracle.ask(step.rows, step.changes) for step in steps]
    schemas = {n: list(zip(a.schema.names, a.schema.types, strict=True)) for n, a in answers[0].items()}
    bags = [{name: bag_of(rows) for name, rows in answer.items()} for answer in answers]
    return Expected(steps, schemas, bags, oracle.seconds)


@pytest.mark.parametrize("recompute", RECOMPUTE)
def test_every_view_equals_its_query_after_every_step(
    recompute: str,
    expected: Expected,
    random_seed: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("told", f"--seed {random_seed}, the oracle took {expected.seconds:.0f} s")
    name = f"tpch{recompute}"
    STORES[name] = ValuesStore()
    watch, begin = Watch(), time.perf_counter()
    pipeline = open_pipeline(
        _script(name, recompute), file="tpch.sql", state=tmp_path / "state", listener=watch
    )
    try:
        _same_types(pipeline, expected)
        clock = {"open": time.perf_counter() - begin}
        told: list[dict[str, int]] = []
        for number, step in enumerate(expected.steps):
            STORES[name].append(step.changes)
            watch.done.clear()
            costs = dict(pipeline.costs.last)
            begin = time.perf_counter()
            pipeline.run_once()
            clock[f"step {number}" if number else "fill"] = time.perf_counter() - begin
            told.append(_check(pipeline, watch.done, expected.bags, number))
        if recompute == "forbid":
            _has_read_little(pipeline, costs)
    finally:
        pipeline.close()
        del STORES[name]
    record_property("told", _shown(expected.bags, told, clock))
    _has_proven_something(expected.bags)


def _script(name: str, recompute: str) -> str:
    settings = [f"SET 'pipeline.name' = '{name}';", f"SET 'headwater.recompute' = '{recompute}';"]
    return "\n".join([*settings, declarations(), view_declarations(SCALE)])


def _same_types(pipeline: Pipeline, expected: Expected) -> None:
    """Tables are declared as they were made, and views have the types of their queries."""
    for name, table in pipeline.program.tables.items():
        assert table.schema.key == KEYS[name]
        assert arrow_schema(table.schema).equals(expected.steps[0].rows[name].schema), name
    for name, schema in expected.schemas.items():
        found = arrow_schema(pipeline.schema(name))
        assert list(zip(found.names, found.types, strict=True)) == schema, name


def _check(
    pipeline: Pipeline, done: Sequence[BatchDone], bags: Sequence[dict[str, Bag]], number: int
) -> dict[str, int]:
    """What is wrong at one moment is an error; else how many rows each view told of."""
    wrong: list[str] = []
    told: dict[str, int] = {}
    for name in NAMES:
        state = pipeline.states[name]
        held = bag_of(slices.whole(state, state.schema.names))
        wrong += [f"{name} {line}" for line in unequal(bags[number][name], held)]
        sets = [batch.changes[name] for batch in done if name in batch.changes]
        said = bag_of(pa.concat_tables([s.table() for s in sets])) if sets else Counter()
        before = bags[number - 1][name] if number else Counter()
        wanted = change(before, bags[number][name])
        wrong += [f"{name} told of a change, {line}" for line in _unequal_changes(wanted, said)]
        told[name] = sum(s.count for s in sets)
    assert not wrong, f"after step {number}:\n" + "\n".join(wrong)
    return told


def _has_read_little(pipeline: Pipeline, before: dict[str, Cost]) -> None:
    """The last step changed one row: no view was computed from all rows of a table."""
    done = {n: cost for n, cost in pipeline.costs.last.items() if cost is not before.get(n)}
    assert len(done) > len(NAMES) / 2, "most queries read the table that changed"
    much = [
        f"{name} read {rows} rows of {table}, which has {pipeline.states[table].rows}"
        for name, cost in done.items()
        for table, rows in cost.read.items()
        if table in KEYS and pipeline.states[table].rows >= 100 and FEW * rows > pipeline.states[table].rows
    ]
    assert not much, "\n".join(much)
    assert {cost.way for cost in done.values()} == {Way.CHANGE}


def _unequal_changes(wanted: Bag, said: Bag) -> list[str]:
    """Rows that came, and rows that went, compared with those that should have."""
    came = unequal(+wanted, +said)
    return came + unequal(-wanted, -said)


def _shown(bags: Sequence[dict[str, Bag]], told: Sequence[dict[str, int]], clock: dict[str, float]) -> str:
    """Rows and moves of each query, and where the time went; all of it is printed, the sums are the answer."""
    print("view | rows | rows moved in each step | rows told of in each step")
    for name in NAMES:
        moves = " ".join(map(str, _moves(bags, name)))
        said = " ".join(str(step[name]) for step in told[1:])
        print(f"{name} | {bags[0][name].total()} | {moves} | {said}")
    print("seconds: " + ", ".join(f"{what} {seconds:.1f}" for what, seconds in clock.items()))
    steps = sum(seconds for what, seconds in clock.items() if what.startswith("step"))
    rows = sum(sum(_moves(bags, name)) for name in NAMES)
    return f"opened in {clock['open']:.0f} s, filled in {clock['fill']:.0f} s, {rows} rows moved in {steps:.0f} s"


def _has_proven_something(bags: Sequence[dict[str, Bag]]) -> None:
    for name in NAMES:
        steps = sum(1 for count in _moves(bags, name) if count)
        assert steps >= FEWEST_MOVES, f"{name} changed in {steps} steps only"
        # A region that is gone for two steps empties what asks for it.
        filled = sum(1 for moment in bags if moment[name])
        assert bags[0][name] and filled >= len(bags) - 3, f"{name} was not empty {filled} times only"


def _moves(bags: Sequence[dict[str, Bag]], name: str) -> list[int]:
    return [moved(change(old[name], new[name])) for old, new in pairwise(bags)]
