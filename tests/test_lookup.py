"""Rows that are looked up in a large run. Oracle: Arrow's filter over all of its rows."""

from __future__ import annotations

import os
import random
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from headwater.changes.change_set import ChangeSet, Rows
from headwater.schema import WEIGHT
from headwater.tables import lookup, slices, small_runs
from headwater.tables.state import Run, State, appended
from tests.postgres.world import schema

ROWS = 1_000

VALUES: dict[str, list[Any]] = {
    "int16": [None, -32768, 0, 7, 32767],
    "int64": [None, -(2**63), -1, 0, 2**63 - 1],
    "string": [None, "", "a", "aa", "é", "🐟", "\x00"],
    "date32": [None, date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)],
    "us": [None, datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(9999, 12, 31)],
}
KINDS = {"int16": pa.int16(), "int64": pa.int64(), "string": pa.string(), "date32": pa.date32()}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many parts, which end elsewhere than what is read at once."""
    monkeypatch.setattr(lookup, "PART_ROWS", 150)
    monkeypatch.setattr(lookup, "BATCH_ROWS", 64)


def run_of(path: Path, table: pa.Table) -> Run:
    """A run with these rows."""
    pq.write_table(table, path, row_group_size=270)
    return Run(path, table.num_rows)


def looked_up(
    run: Run, column: str, wanted: pa.Array, names: list[str], *, limit: int
) -> pa.Table | lookup.Missed:
    """The rows that are found."""
    where = lookup.places(run, column, wanted, limit=limit)
    found = where if isinstance(where, lookup.Missed) else lookup.values(run, names, where)
    return found if isinstance(found, lookup.Missed) else pa.table(found)


@pytest.mark.parametrize("kind", VALUES)
def test_what_is_looked_up_is_what_a_filter_finds(tmp_path: Path, kind: str) -> None:
    dice = random.Random(kind)
    typed = KINDS.get(kind, pa.timestamp("us"))
    assert lookup.has_order(typed)
    some = [dice.choice(VALUES[kind]) for _ in range(ROWS)]
    nested = [{"a": n, "b": [str(n)]} if n % 3 else None for n in range(ROWS)]
    table = pa.table(
        {"deep": nested, "deep.a": range(ROWS), "value": pa.array(some, typed), "n": range(ROWS)}
    )
    run = run_of(tmp_path / "run.parquet", table)
    for count in range(len(VALUES[kind]) + 1):
        wanted = pa.array(dice.sample(VALUES[kind], count), typed)
        expected = table.filter(pc.is_in(table.column("value"), value_set=wanted)).select(
            ["n", "deep.a", "deep"]
        )
        found = looked_up(run, "value", wanted, ["n", "deep.a", "deep"], limit=ROWS)
        assert isinstance(found, pa.Table) and found.to_pylist() == expected.to_pylist()
        assert (expected.num_rows > 100) == (count > 0)
        if count:
            few = looked_up(run, "value", wanted, ["n"], limit=expected.num_rows - 1)
            assert few is lookup.Missed.TOO_MANY


def test_values_that_are_not_there_are_not_found(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run.parquet", pa.table({"value": pa.array(range(0, 2 * ROWS, 2))}))
    wanted = pa.array([-1, 3, 4, 5, 2 * ROWS, None])
    found = looked_up(run, "value", wanted, ["value"], limit=ROWS)
    assert isinstance(found, pa.Table) and found.column(0).to_pylist() == [4]


def test_a_run_that_is_written_anew_is_looked_up_anew(tmp_path: Path) -> None:
    path, wanted = tmp_path / "run.parquet", pa.array([5])
    first = looked_up(run_of(path, pa.table({"v": [5, 5]})), "v", wanted, ["v"], limit=9)
    run = run_of(path, pa.table({"v": [5, 6, 5, 5]}))
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
    second = looked_up(run, "v", wanted, ["v"], limit=9)
    assert isinstance(first, pa.Table) and isinstance(second, pa.Table)
    assert (first.num_rows, second.num_rows) == (2, 3)


def test_values_that_are_too_long_are_read_from_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "PART_BYTES", 100_000)
    monkeypatch.setattr(lookup, "LEAST_ROWS", 0)
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", 0)
    declared = schema("id int, text string", "id")
    rows = {"id": pa.array(range(ROWS), pa.int32()), "text": [str(n) * 2_000 for n in range(ROWS)]}
    table = pa.table({**rows, WEIGHT: pa.array([1] * ROWS, pa.int8())})
    state = appended(State("t", declared, tmp_path), ChangeSet("t", declared, (Rows(table),)), 1)
    wanted = pa.chunked_array([pa.array([3, 4], pa.int32())])
    for _ in range(2):
        assert looked_up(state.runs[0], "id", wanted.chunk(0), ["text"], limit=9) is (lookup.Missed.TOO_WIDE)
        found = slices.cut(state, "id", wanted, columns=("text",), limit=9)
        assert found is not None and found.column("text").to_pylist() == ["3" * 2_000, "4" * 2_000]


def test_what_is_kept_beside_a_run_goes_with_it(tmp_path: Path) -> None:
    home = tmp_path / "orders"
    home.mkdir()
    runs = [run_of(home / f"{name}.parquet", pa.table({"v": [5]})) for name in ("7-c", "7-c1")]
    for run in runs:
        assert isinstance(looked_up(run, "v", pa.array([5]), ["v"], limit=9), pa.Table)
    folder = home / lookup.FOLDER
    assert len(list(folder.iterdir())) == 2
    lookup.forget(runs[0])
    assert [path.name.rpartition("-")[0] for path in folder.iterdir()] == ["7-c1"]
    lookup.forget_all(tmp_path)
    assert not folder.exists() and all(run.path.exists() for run in runs)
    lookup.forget(runs[1])
