"""Slices of State. Oracle: the same rows, filtered in Python."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from headwater.changes.change_set import ChangeSet, Rows
from headwater.schema import WEIGHT
from headwater.tables import slices
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


@pytest.mark.parametrize("small_run", [0, 10_000])
def test_a_slice_has_the_rows_of_the_wanted_values(
    state: State, small_run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "SMALL_RUN_ROWS", small_run)
    for wanted in ([3, None, 77], [3, 4], [3, None, 77]):
        values = pa.chunked_array([pa.array(wanted, pa.int32())])
        found = slices.cut(state, "kind", values, columns=("id", "text"), limit=ROWS)
        assert found is not None
        kinds = {n: None if n % 7 == 0 else n % OF_A_KIND for n in range(ROWS)}
        assert found.column("id").to_pylist() == [n for n, kind in kinds.items() if kind in wanted]
        assert found.column("text").to_pylist() == [f"text {n}" for n in found.column("id").to_pylist()]


@pytest.mark.parametrize("small_run", [0, 10_000])
def test_more_rows_than_the_limit_are_no_slice_also_not_the_second_time(
    state: State, small_run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "SMALL_RUN_ROWS", small_run)
    values = pa.chunked_array([pa.array([3], pa.int32())])
    whole = slices.cut(state, "kind", values, columns=("id",), limit=ROWS)
    assert whole is not None and 0 < len(whole) < ROWS
    for _ in range(2):
        assert slices.cut(state, "kind", values, columns=("id",), limit=len(whole) - 1) is None
        assert slices.cut(state, "kind", values, columns=("id",), limit=len(whole)) is not None


def test_a_file_that_is_written_anew_is_read_anew(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SMALL_RUN_ROWS", 0)
    values = pa.chunked_array([pa.array([3], pa.int32())])
    before = slices.cut(state, "kind", values, columns=("id",), limit=ROWS)
    table = slices.whole(state, state.schema.names).slice(0, 100)
    again = appended(State("t", state.schema, state.folder), ChangeSet("t", state.schema, (Rows(table),)), 1)
    assert again.paths == state.paths
    after = slices.cut(again, "kind", values, columns=("id",), limit=ROWS)
    assert before is not None and after is not None and 0 < len(after) < len(before)
