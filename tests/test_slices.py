"""Slices of State. Oracle: the same rows, filtered in Python."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest

from headwater.changes.change_set import ChangeSet, Rows
from headwater.schema import WEIGHT
from headwater.tables import lookup, slices, small_runs
from headwater.tables.state import State, appended
from tests.postgres.world import schema

ROWS = 5_000
OF_A_KIND = 50


@pytest.fixture
def state(tmp_path: Path) -> State:
    """One run of rows that have a key, one kind of fifty, and sometimes no kind."""
    declared = schema("id int, kind int, text string", "id")
    table = pa.table(
        {
            "id": pa.array(range(ROWS), pa.int32()),
            "kind": pa.array([None if n % 7 == 0 else n % OF_A_KIND for n in range(ROWS)], pa.int32()),
            "text": [f"text {n}" for n in range(ROWS)],
            WEIGHT: pa.array([1] * ROWS, pa.int8()),
        }
    )
    return appended(State("t", declared, tmp_path), ChangeSet("t", declared, (Rows(table),)), 1)


@pytest.mark.parametrize(("small_run", "large_run"), [(0, 10_000), (10_000, 20_000), (0, 0)])
def test_a_slice_has_the_rows_of_the_wanted_values(
    state: State, small_run: int, large_run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", small_run)
    monkeypatch.setattr(lookup, "LEAST_ROWS", large_run)
    for wanted in ([3, None, 77], [3, 4], [3, None, 77]):
        values = pa.chunked_array([pa.array(wanted, pa.int32())])
        found = slices.cut(state, "kind", values, columns=("id", "text"), limit=ROWS)
        assert found is not None
        kinds = {n: None if n % 7 == 0 else n % OF_A_KIND for n in range(ROWS)}
        assert found.column("id").to_pylist() == [n for n, kind in kinds.items() if kind in wanted]
        assert found.column("text").to_pylist() == [f"text {n}" for n in found.column("id").to_pylist()]


@pytest.mark.parametrize(("small_run", "large_run"), [(0, 10_000), (10_000, 20_000), (0, 0)])
def test_more_rows_than_the_limit_are_no_slice_also_not_the_second_time(
    state: State, small_run: int, large_run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", small_run)
    monkeypatch.setattr(lookup, "LEAST_ROWS", large_run)
    values = pa.chunked_array([pa.array([3], pa.int32())])
    whole = slices.cut(state, "kind", values, columns=("id",), limit=ROWS)
    assert whole is not None and 0 < len(whole) < ROWS
    for _ in range(2):
        assert slices.cut(state, "kind", values, columns=("id",), limit=len(whole) - 1) is None
        assert slices.cut(state, "kind", values, columns=("id",), limit=len(whole)) is not None


def test_a_file_that_is_written_anew_is_read_anew(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", 0)
    values = pa.chunked_array([pa.array([3], pa.int32())])
    before = slices.cut(state, "kind", values, columns=("id",), limit=ROWS)
    table = slices.whole(state, state.schema.names).slice(0, 100)
    again = appended(State("t", state.schema, state.folder), ChangeSet("t", state.schema, (Rows(table),)), 1)
    assert again.paths == state.paths
    after = slices.cut(again, "kind", values, columns=("id",), limit=ROWS)
    assert before is not None and after is not None and 0 < len(after) < len(before)


def test_a_slice_that_was_too_large_is_found_when_more_is_allowed(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", 0)
    monkeypatch.setattr(slices, "_KEPT", [])
    monkeypatch.setattr("headwater.tables.state.ROW_GROUP_ROWS", 500)
    cut_small = appended(
        State("u", state.schema, state.folder / "u"),
        ChangeSet("u", state.schema, (Rows(slices.whole(state, state.schema.names)),)),
        1,
    )
    values = pa.chunked_array([pa.array([3], pa.int32())])
    assert slices.cut(cut_small, "kind", values, columns=("id",), limit=5) is None
    found = slices.cut(cut_small, "kind", values, columns=("id",), limit=ROWS)
    assert found is not None
    assert found.column("id").to_pylist() == [n for n in range(ROWS) if n % 7 and n % OF_A_KIND == 3]


def test_columns_that_are_wanted_later_belong_to_the_same_rows(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", 0)
    monkeypatch.setattr(slices, "_KEPT", [])
    looking = Mock(wraps=slices._found)
    monkeypatch.setattr(slices, "_found", looking)
    for order, columns in (([3, 9], ("id",)), ([9, 3], ("text", "id")), ([9, 3], ("kind", "text"))):
        values = pa.chunked_array([pa.array(order, pa.int32())])
        found = slices.cut(state, "kind", values, columns=columns, limit=ROWS)
        assert found is not None and set(found.column_names) == {*columns, "kind", WEIGHT}
        if columns == ("text", "id"):
            assert found.column("text").to_pylist() == [f"text {n}" for n in found.column("id").to_pylist()]
    assert looking.call_count == 1, "the same values are looked for once, in whatever order they come"


def test_what_is_kept_has_its_limit(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", 0)
    monkeypatch.setattr(slices, "_KEPT", [])
    monkeypatch.setattr(slices, "KEPT_BYTES", 10_000)
    for number in range(OF_A_KIND):
        values = pa.chunked_array([pa.array([number], pa.int32())])
        assert slices.cut(state, "kind", values, columns=("id",), limit=ROWS) is not None
    assert 1 < len(slices._KEPT) < OF_A_KIND
    assert sum(one.bytes for one in slices._KEPT) <= 10_000
    before = list(slices._KEPT)
    many = pa.chunked_array([pa.array(range(OF_A_KIND), pa.int32())])
    assert slices.cut(state, "kind", many, columns=("id",), limit=ROWS) is not None
    assert before == slices._KEPT, "one that is too large to be kept puts no other out"


def test_small_runs_are_kept_as_far_as_there_is_room(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", ROWS)
    kept = small_runs.SmallRuns()
    first = kept.table(state.runs[0].path)
    assert kept.table(state.runs[0].path) is first
    table = slices.whole(state, state.schema.names)
    more = appended(state, ChangeSet("t", state.schema, (Rows(table),)), 2)
    monkeypatch.setattr(small_runs, "SMALL_RUNS_BYTES", first.nbytes + 1)
    second = kept.table(more.runs[1].path)
    assert second.equals(kept.table(more.runs[1].path)) and kept._bytes == second.nbytes
    assert kept.table(state.runs[0].path) is not first
