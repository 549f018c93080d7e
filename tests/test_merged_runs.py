"""Runs that become one. Oracle: weighted rows added up in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.log.events import KIND, SEQ, told_schema
from headwater.runtime import compaction
from headwater.runtime.compaction import merged
from headwater.runtime.facts import Silent
from headwater.runtime.open import open_engine
from headwater.schema import WEIGHT, Schema
from headwater.spark.engine import Engine
from headwater.tables import slices
from headwater.tables.bags import can_count, netted
from headwater.tables.state import State, appended, has_only_come
from tests.operators.on_paper import compile_on_paper
from tests.postgres.world import schema

ORDERS = schema("id int, name string", "id")

weighted_rows = st.lists(
    st.tuples(st.none() | st.integers(1, 3), st.sampled_from((None, "a")), st.sampled_from((1, -1))),
    max_size=12,
)


def table(rows: list[tuple[int | None, str | None, int]]) -> pa.Table:
    """Weighted rows of orders."""
    ids, names, weights = zip(*rows, strict=True) if rows else ((), (), ())
    columns = [pa.array(ids, pa.int32()), pa.array(names, pa.string()), pa.array(weights, pa.int8())]
    return pa.table(columns, names=["id", "name", WEIGHT])


def added_up(rows: pa.Table) -> Counter[tuple[object, ...]]:
    """Each row with what its weights add up to."""
    total: Counter[tuple[object, ...]] = Counter()
    for row in rows.select(["id", "name", WEIGHT]).to_pylist():
        total[row["id"], row["name"]] += row[WEIGHT]
    return Counter({row: weight for row, weight in total.items() if weight})


@given(weighted_rows)
def test_rows_are_added_up_and_stand_there_as_often_as_that_says(
    rows: list[tuple[int | None, str | None, int]],
) -> None:
    found = netted(table(rows))
    assert added_up(found) == added_up(table(rows))
    assert found.schema == table(rows).schema
    if any(weight < 0 for *_, weight in rows):
        assert len(found) == sum(map(abs, added_up(found).values()))


def test_numbers_that_are_equal_in_spark_alone_are_added_up_only_where_none_goes() -> None:
    floats = pa.table({"x": [0.0, -0.0], WEIGHT: pa.array([1, 1], pa.int8())})
    assert can_count(floats)
    assert not can_count(floats.set_column(1, WEIGHT, pa.array([1, -1], pa.int8())))


def events(folder: Path, declared: Schema, count: int, weight: int) -> ChangeSet:
    """Rows as a source has written them: with all that is told of an event."""
    told = told_schema(declared)
    filled = {
        "id": pa.array(range(count), pa.int32()),
        "name": pa.array(["ann"] * count),
        KIND: pa.array(["insert"] * count),
        WEIGHT: pa.array([weight] * count, pa.int8()),
        SEQ: pa.array(range(count), pa.int64()),
    }
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    for field in told:
        if field.name not in filled:
            same = moment if pa.types.is_timestamp(field.type) else None
            filled[field.name] = pa.array([same] * count, field.type)
    path = folder / f"events{weight}.parquet"
    pq.write_table(pa.table({f.name: filled[f.name] for f in told}, schema=told), path)
    return ChangeSet("orders", declared, (Files((path,), count),))


@pytest.fixture
def grown(tmp_path: Path) -> State:
    """Two runs that only came, one of them as the source wrote it."""
    state = appended(State("orders", ORDERS, tmp_path / "state"), events(tmp_path, ORDERS, 5, 1), 1)
    return appended(state, ChangeSet("orders", ORDERS, (Rows(table([(7, None, 1), (8, "bob", 1)])),)), 2)


def test_files_say_whether_a_row_ever_went(grown: State, tmp_path: Path) -> None:
    assert has_only_come(grown)
    assert not has_only_come(appended(grown, ChangeSet("orders", ORDERS, (Rows(table([(7, None, -1)])),)), 3))
    assert not has_only_come(appended(grown, events(tmp_path, ORDERS, 1, -1), 3))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine in a folder of its own."""
    made = open_engine("merged", tmp_path_factory.mktemp("merged") / "work", Silent())
    yield made
    made.tidy()


@pytest.mark.jvm
@pytest.mark.parametrize("small", [0, 50_000])
@pytest.mark.parametrize("gone", [False, True])
def test_merged_runs_are_one_and_say_the_same(
    engine: Engine, grown: State, small: int, gone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "SMALL_ROWS", small)
    program = compile_on_paper(
        "CREATE TABLE orders (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values')"
    )
    if gone:
        grown = appended(grown, ChangeSet("orders", ORDERS, (Rows(table([(7, None, -1), (9, "c", 1)])),)), 3)
    found = merged(engine, program, grown, 4).applied(grown)
    assert found is not None and len(found.runs) == 1
    names = ORDERS.names
    assert added_up(slices.whole(found, names)) == added_up(slices.whole(grown, names))


@pytest.mark.jvm
@pytest.mark.parametrize("small", [0, 50_000])
def test_sums_beside_a_large_run_that_stays_are_added_up_and_none_is_lost(
    engine: Engine, tmp_path: Path, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "SMALL_ROWS", small)
    program = compile_on_paper(
        "CREATE TABLE orders (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');"
        "CREATE VIEW sums AS SELECT name, SUM(id) AS total FROM orders GROUP BY name"
    )
    kept = program.views["sums"].sums_schema
    assert kept is not None

    def change(*rows: tuple[str, int, int, int]) -> ChangeSet:
        names, *counts = zip(*rows, strict=True)
        columns = [pa.array(names), *(pa.array(count, pa.int64()) for count in counts)]
        once = pa.array([1] * len(rows), pa.int8())
        return ChangeSet("sums__sums", kept, (Rows(pa.table([*columns, once], names=[*kept.names, WEIGHT])),))

    def totals(state: State) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        rows = slices.whole(state, kept.names).select([*kept.names, WEIGHT])
        for name, *counts, weight in zip(*rows.to_pydict().values(), strict=True):
            so_far = found.setdefault(name, [0, 0, 0])
            found[name] = [a + weight * b for a, b in zip(so_far, counts, strict=True)]
        return {name: counts for name, counts in found.items() if counts[0]}

    state = State("sums__sums", kept, tmp_path / "state")
    state = appended(state, change(*((f"name {n}", 1, 1, n) for n in range(100))), 1)
    # A row that changes is no row more: only what it says is.
    state = appended(state, change(("name 1", 0, 0, 5), ("name 2", -1, -1, -2)), 2)
    state = appended(state, change(("name 1", 0, 0, 5), ("name 101", 1, 1, 7)), 3)
    found = merged(engine, program, state, 4).applied(state)
    assert found is not None and len(found.runs) == 2
    assert totals(found) == totals(state)
    assert totals(state)["name 1"] == [1, 1, 11]
