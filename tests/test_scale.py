"""The model of a step's time and the simulation of a pipeline with many workers, as `make bench-scale` makes them.

Oracle: steps that were made up from known costs, and pipelines small enough to be reckoned by hand. Nothing is measured.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench import page
from bench.scale import beside, told
from bench.scale.__main__ import PAGE, Taken, read, tables, tiny, verdict, whole, written
from bench.scale.fit import (
    DRIVER,
    EXECUTORS,
    JOINED,
    TERMS,
    Load,
    Measured,
    Model,
    Search,
    error,
    fitted,
    least_squares,
)
from bench.scale.grid import changed
from bench.scale.simulate import (
    CAPTURE,
    COMMIT,
    DISK,
    SINK,
    STORAGE,
    Assumed,
    Rates,
    Setup,
    World,
    limit,
    run,
    spread,
)
from headwater.log.events import DELETE_KEY, KIND, SMALL_ROWS, UPSERT
from headwater.runtime.compaction import MOST_RUNS
from headwater.spark.inputs import LEAST_SPREAD

SEARCH = Search(1e-3, 4e-7)
COSTS = {DRIVER: (0.02, 0.01, 5e-6, 2e-6), EXECUTORS: (0.5, 0.2, 0.3, 3e-6, 8e-6, 1e-7)}
MODEL = Model(COSTS, SEARCH)
MADE = [
    Measured(way, load, MODEL.seconds(load, way))
    for way in (DRIVER, EXECUTORS)
    for changes in (100, 10_000, 100_000)
    for state in (250_000, 4_000_000)
    for views in (1, 3)
    for cores in (1, 2)
    for load in [Load(changes, state, views, cores, 100.0)]
]

RATES = Rates(
    captured=200_000,
    sunk=50_000,
    sink_seconds=0.0,
    synced=0.0,
    launched=0.0,
    row_bytes=20,
    lookup_bytes=0,
    change_bytes=0,
)
ONLY_CHANGES = Model({DRIVER: (0.1, 0, 1e-5, 0), EXECUTORS: (0.1, 0, 0, 1e-5, 0, 0)}, Search(0, 0))
"""A tenth of a second for a step, and 10 µs for each change, whoever does it."""

WORLD = World(ONLY_CHANGES, RATES, replace(Assumed(), row_bytes=20.0, durable=0.0))


def test_costs_are_found_again_in_steps_that_were_made_of_them() -> None:
    found = fitted(MADE, SEARCH)
    for way, costs in COSTS.items():
        assert found.costs[way] == pytest.approx(costs, rel=1e-3)


def test_no_cost_is_below_nothing() -> None:
    # A line through these would begin at -1.
    assert least_squares([[1, 1], [1, 2], [1, 3]], [0, 1, 2]) == pytest.approx([0, 4 / 7])


def test_what_is_held_out_has_no_say_in_the_fit() -> None:
    odd = Measured(DRIVER, Load(1_000_000, 1, 1, 1), 1e6, is_held_out=True)
    assert fitted([*MADE, odd], SEARCH) == fitted(MADE, SEARCH)


def test_a_model_that_is_off_where_it_was_not_fitted_is_refused() -> None:
    one = MADE[0]
    assert error(MODEL, replace(one, seconds=2 * one.seconds)) == pytest.approx(-0.5)
    assert verdict([replace(one, seconds=1.2 * one.seconds, is_held_out=True)], MODEL) is None
    # The same error is no matter where it was fitted.
    assert verdict([replace(one, is_held_out=True), replace(one, seconds=2 * one.seconds)], MODEL) is None
    said = verdict([replace(one, seconds=2 * one.seconds, is_held_out=True)], MODEL)
    assert said == "off by 50% where it was not fitted"


def test_many_changes_read_the_table_itself_and_few_only_what_it_is_joined_with() -> None:
    few, many = Load(50_000, 1_000_000, 2, 8, 1_000.0), Load(50_001, 1_000_000, 2, 8, 1_000.0)
    assert (few.read, many.read) == (200_000, 1_200_000)
    # 200 MB are two pieces of 128 MiB; of ten pieces eight cores read.
    assert (few.readers, many.readers) == (2, 8)
    assert Load(1, 1, 1, 8).readers == 1
    # The driver looks up few keys, in parts of 2**19 rows; in the joined table too where it does it all.
    assert (few.parts(EXECUTORS), many.parts(EXECUTORS), many.parts(DRIVER)) == (2, 0, 3)


def test_what_is_held_out_is_larger_than_all_that_is_fitted() -> None:
    for grid in (whole(), tiny()):
        fields = [field for each in grid.values() for field in each]
        fits = [field for field in fields if not field.is_held_out]
        (held,) = [field for field in fields if field.is_held_out]
        # With the first rows a field has so many runs; merging would take its share of the steps.
        assert all(sum(r.warm + r.steps for r in field.rounds) < MOST_RUNS for field in fields)
        assert held.state > max(field.state for field in fits)
        assert held.views >= max(field.views for field in fits)
        for way in (DRIVER, EXECUTORS):
            known = max(each.changes for field in fits for each in field.rounds if each.way == way)
            assert max(each.changes for each in held.rounds if each.way == way) > known


def test_a_claim_changes_once_in_a_transaction_and_a_fifth_each_come_and_go() -> None:
    for state, count in ((20_000, 1_000), (250_000, 100_000)):
        made = changed(state, count, 203)
        ids, kinds = made.column("id").to_pylist(), made.column(KIND).to_pylist()
        assert len({*ids}) == count
        assert kinds.count(UPSERT) == count * 4 // 5 and kinds.count(DELETE_KEY) == count // 5
        assert sum(number >= state for number in ids) == count // 5
        assert all(number < state for number, kind in zip(ids, kinds, strict=True) if kind == DELETE_KEY)


def test_equal_tasks_go_in_waves_and_no_faster_than_they_are_launched() -> None:
    assert spread(8.0, 8, 4, 0.0) == 2.0
    assert spread(9.0, 9, 4, 0.0) == 3.0
    assert spread(8.0, 4, 100, 0.0) == 2.0
    assert spread(1.0, 1_000, 1_000, 0.01) == pytest.approx(9.99 + 0.001)


def test_a_step_is_done_where_the_engine_would_do_it() -> None:
    few, rows = SMALL_ROWS // 2, LEAST_SPREAD * JOINED * WORLD.assumed.row_bytes
    way = {
        (workers, size, changes): WORLD.way(setup, WORLD.load(setup, changes))
        for workers in (0, 1)
        for size in (rows, 2 * rows)
        for changes in (few, 2 * few)
        for setup in [Setup(workers, size)]
    }
    assert {key for key, who in way.items() if who == DRIVER} == {
        (0, rows, few), (0, rows, 2 * few), (0, 2 * rows, few), (0, 2 * rows, 2 * few), (1, rows, few),
    }  # fmt: skip


def test_the_driver_is_the_limit_where_only_the_driver_works() -> None:
    # The largest batch takes 0.1 s and 200,000 times 10 µs.
    found = limit(WORLD, Setup(0, 1e6))
    assert found.rate == pytest.approx(200_000 / 2.1, rel=0.03)
    assert found.bottleneck == DRIVER
    assert limit(WORLD, Setup(100, 1e6)).rate == pytest.approx(found.rate, rel=0.03)


def test_a_batch_settles_at_what_comes_while_one_is_done() -> None:
    # n = 50,000 * (0.1 + n / 100,000) is 10,000 changes in 0.2 s; who came first waited for another batch as well.
    course = run(WORLD, Setup(0, 1e6), 50_000)
    assert not course.grows
    assert course.lags[-1] == pytest.approx(0.2, abs=0.03)


def test_one_process_that_captures_is_the_limit_where_all_else_is_fast() -> None:
    world = replace(WORLD, rates=replace(RATES, captured=30_000))
    found = limit(world, Setup(0, 1e6))
    assert found.rate == pytest.approx(30_000, rel=0.02)
    assert found.bottleneck == CAPTURE
    assert limit(world, Setup(0, 1e6, from_kafka=True)).rate > 60_000


def test_one_connection_is_the_limit_where_each_change_is_a_row_of_the_sink() -> None:
    found = limit(WORLD, Setup(0, 1e6, sunk_share=1.0))
    assert found.bottleneck == SINK
    # Each change takes 10 µs of the driver and 20 of the connection.
    assert found.rate == pytest.approx(200_000 / (0.1 + 6.0), rel=0.03)


def test_storage_that_takes_long_to_be_sure_is_the_limit_of_small_batches() -> None:
    world = replace(WORLD, assumed=Assumed(durable=1.0))
    assert limit(world, Setup(1, 1e6, batch_rows=10_000)).bottleneck == COMMIT


def test_reading_a_large_state_is_shared_until_the_storage_gives_no_more() -> None:
    world = replace(WORLD, assumed=replace(WORLD.assumed, storage=1e9, storage_all=10e9))
    # Each of two views reads a tenth of a terabyte; many changes read the rest of it too.
    steps = [world.step(Setup(workers, 1e12), 1_000)[STORAGE] for workers in (1, 10, 100)]
    assert steps == pytest.approx([200, 20, 20])
    assert world.step(Setup(10, 1e12), 100_000)[STORAGE] == pytest.approx(120)
    found = limit(world, Setup(10, 1e12))
    assert found.bottleneck == STORAGE
    assert found.rate == pytest.approx(50_000 / 20.6, rel=0.2)


def test_what_does_not_fit_into_memory_is_looked_for_on_the_disk() -> None:
    world = replace(WORLD, rates=replace(RATES, lookup_bytes=20), assumed=replace(WORLD.assumed, memory=55e9))
    assert world.step(Setup(0, 50e9), 1_000)[DISK] == 0
    # With what it is joined with it is 110 GB, and half of that is not there: four places for each change.
    assert world.step(Setup(0, 100e9), 1_000)[DISK] == pytest.approx(0.2)


def test_what_is_done_about_a_bottleneck_raises_the_limit_until_nothing_is_left_to_do() -> None:
    lines = told.remedies(replace(WORLD, rates=replace(RATES, captured=5_000))).splitlines()[2:]
    done = [line.split(" | ")[0].strip("| ") for line in lines]
    assert done[0] == "as it is" and len(set(done)) == len(done) > 2
    found = [float(line.split(" | ")[1].replace(",", "")) for line in lines]
    assert found == sorted(found)
    assert CAPTURE in lines[1] and "Kafka" in lines[2]


def test_the_captured_rate_is_the_one_that_was_kept() -> None:
    assert beside.captured("| changes | headwater | 2.65 | 188,392 | 1.00 |") == 188_392
    assert beside.captured() > 0


TAKEN = Taken("a machine", "make bench-scale", (*MADE, replace(MADE[0], is_held_out=True)), RATES, SEARCH)


def test_a_run_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "scale.json"
    path.write_text(written(TAKEN))
    assert read(path) == TAKEN


def test_every_table_has_its_place_on_the_page(tmp_path: Path) -> None:
    copy = tmp_path / "scale.md"
    copy.write_text(PAGE.read_text())
    made = tables(TAKEN, fitted(MADE, SEARCH))
    for name, text in made.items():
        page.keep(name, "make bench-scale", text, on=copy, where="a machine")
    kept = copy.read_text()
    assert all(
        f"`make bench-scale`, a machine:\n\n{text}\n<!-- end of {name} -->" in kept
        for name, text in made.items()
    )
    assert kept.count("<!-- scale ") == len(made)


def test_each_part_of_a_step_is_told_in_a_unit_that_suits_it() -> None:
    lines = told.parts(MODEL).splitlines()
    assert len(lines) == 4 + sum(map(len, TERMS.values()))
    assert "| driver | each step | 20 ms |" in lines and "| driver | each change | 5.0 µs |" in lines
    assert [told.seconds(value) for value in (0, 4.56, 120, 7_200)] == ["0", "4.6 s", "2.0 min", "2.0 h"]
    assert [told.count(value) for value in (188_392.4, 12.3, 0.456)] == ["190,000", "12", "0.46"]
    assert [told.size(value) for value in (1e9, 1e12, 2.5e10)] == ["1 GB", "1 TB", "25 GB"]
