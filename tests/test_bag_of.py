"""A State as a plain bag, read by Spark. Oracle: the weights added up in Python."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from headwater.changes.change_set import ChangeSet, Rows
from headwater.schema import WEIGHT
from headwater.services.java import java_home
from headwater.spark import frames
from headwater.spark.frames import bag_of
from headwater.spark.session import open_session
from headwater.tables.state import State, appended
from tests.postgres.world import schema

pytestmark = pytest.mark.jvm

DECLARED = schema("id int, kind string, x double, list array<int>")
NAMES = DECLARED.names


def filled(folder: Path, dice: random.Random) -> tuple[State, list[tuple[Any, ...]]]:
    """Rows that came, some of them twice; then some went, some of these came back."""
    rows = [
        (dice.randrange(40), dice.choice([None, "a", "b"]), dice.choice([None, 0.0, -0.0, 1.5]), [1])
        for _ in range(200)
    ]
    state = State("t", DECLARED, folder)
    state = run(state, [(row, 1) for row in rows], 1)
    gone = dice.sample(rows, 30)
    back = [dice.choice(gone) for _ in range(10)]
    state = run(state, [(_turned(row), -1) for row in gone], 2)
    state = run(state, [(row, 1) for row in back], 3)
    left = Counter(map(_plain, rows)) - Counter(map(_plain, gone)) + Counter(map(_plain, back))
    assert left.total() == 180
    return state, list(left.elements())


def _turned(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same row: nothing tells one zero from the other."""
    return (*row[:2], -row[2] if row[2] == 0.0 else row[2], row[3])


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*row[:2], abs(row[2]) if row[2] == 0.0 else row[2], tuple(row[3]))


def run(state: State, rows: list[tuple[tuple[Any, ...], int]], batch_id: int) -> State:
    """The State with one run more."""
    kinds = [pa.int32(), pa.string(), pa.float64(), pa.list_(pa.int32())]
    columns = {n: pa.array([row[i] for row, _ in rows], kinds[i]) for i, n in enumerate(NAMES)}
    table = pa.table({**columns, WEIGHT: pa.array([w for _, w in rows], pa.int8())})
    return appended(state, ChangeSet("t", state.schema, (Rows(table),)), batch_id)


@pytest.mark.parametrize("key", [(), ("id",), ("x", "kind"), ("kind", "id")])
@pytest.mark.parametrize("share", [0.0, 0.25])
@pytest.mark.parametrize("names", [NAMES, ("kind", "id"), ("x",), ("x", "kind")])
def test_rows_are_there_as_often_as_their_weights_say(
    tmp_path: Path,
    names: tuple[str, ...],
    share: float,
    key: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "MOST_GONE_SHARE", share)
    state, left = filled(tmp_path, random.Random(5))
    state = replace(state, schema=replace(DECLARED, key=key))
    spark = open_session(java_home(), name="bags")
    found = bag_of(spark, "t", state, {name: f"{name} of t" for name in names})
    assert found.columns == [f"{name} of t" for name in names]
    places = [NAMES.index(name) for name in names]
    wanted = Counter(tuple(row[place] for place in places) for row in left)
    rows = [tuple(_cell(v) for v in row.values()) for row in found.toArrow().to_pylist()]
    assert Counter(rows) == wanted


def _cell(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else abs(value) if value == 0.0 else value


def test_where_nothing_went_nothing_is_brought_together(tmp_path: Path) -> None:
    spark = open_session(java_home(), name="bags")
    state = run(State("t", DECLARED, tmp_path), [((1, "a", 0.5, [1]), 1)] * 3, 1)
    found = bag_of(spark, "t", state, {"id": "id"})
    assert found.toArrow().to_pylist() == [{"id": 1}] * 3
    assert "Aggregate" not in found._jdf.queryExecution().toString()


def test_nan_is_the_greatest_also_where_a_file_tells_the_bounds_of_its_rows(tmp_path: Path) -> None:
    spark = open_session(java_home(), name="bags")
    rows = [((n, "a", x, [1]), 1) for n, x in enumerate([float("nan"), 0.5, None])]
    found = bag_of(spark, "t", run(State("t", DECLARED, tmp_path), rows, 1), {"id": "id", "x": "x"})
    for condition in ("x > 1", "x = CAST('NaN' AS DOUBLE)", "x >= CAST('Infinity' AS DOUBLE)"):
        assert found.where(condition).select("id").toArrow().to_pylist() == [{"id": 0}], condition


def test_a_row_that_went_more_often_than_it_came_is_no_answer(tmp_path: Path) -> None:
    spark = open_session(java_home(), name="bags")
    came = [((n, "a", 0.5, [1]), 1) for n in range(20)]
    state = run(run(State("t", DECLARED, tmp_path), came, 1), [((3, "a", 0.5, [1]), -1)] * 2, 2)
    with pytest.raises(Exception, match="went more often than it came"):
        bag_of(spark, "t", state, {"id": "id"}).toArrow()
