"""Large batches of upserts, told by executors: the same change that Arrow finds in the driver.

Oracle: `tables.upsert.changes_of`, on the same events and the same State.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.changes.change_set import ChangeSet
from headwater.log.events import DELETE_KEY, INSERT, TRUNCATE, UPSERT, WEIGHTS, Events, event_schema
from headwater.runtime.facts import Silent
from headwater.runtime.open import open_engine
from headwater.schema import Column, Schema
from headwater.spark.engine import Engine
from headwater.spark.upsert import changes_by_key
from headwater.tables.state import State, appended
from headwater.tables.upsert import changes_of

pytestmark = pytest.mark.jvm

SCHEMA = Schema((Column("k", "int"), Column("name", "string"), Column("x", "double")), ("k",))
KEYS = 40


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    made = open_engine("upsert", tmp_path_factory.mktemp("upsert") / "work", Silent())
    return replace(made, spark=made.spark.newSession())


def told(dice: random.Random, count: int, first: int) -> list[tuple[Any, ...]]:
    """Rows that come, change and go, several times in one batch."""
    rows: list[tuple[Any, ...]] = []
    for seq in range(first, first + count):
        kind = dice.choice((INSERT, UPSERT, UPSERT, DELETE_KEY)) if seq else UPSERT
        name = None if kind == DELETE_KEY or dice.random() < 0.2 else f"n{dice.randrange(5)}"
        x = None if kind == DELETE_KEY else dice.choice((0.5, -0.0, float("nan"), 3.25))
        rows.append((dice.randrange(KEYS), name, x, kind, WEIGHTS[kind], 1, seq, None))
    return rows


def events(folder: Path, rows: list[tuple[Any, ...]]) -> Events:
    """The same events in two files."""
    schema = event_schema(SCHEMA)
    paths = []
    for part in (rows[::2], rows[1::2]):
        paths.append(folder / f"{len(list(folder.iterdir()))}.parquet")
        columns = [
            pa.array(list(values), field.type)
            for values, field in zip(zip(*part, strict=True), schema, strict=True)
        ]
        pq.write_table(pa.table(columns, schema=schema), paths[-1])
    return Events(len(rows), files=tuple(paths), whole_rows=False)


def bag(changes: ChangeSet) -> Counter[str]:
    # As text: nothing is equal to a NaN.
    return Counter(map(repr, changes.table().to_pylist()))


def test_executors_find_the_change_that_the_driver_finds(engine: Engine, tmp_path: Path) -> None:
    dice, state = random.Random(7), State("t", SCHEMA, tmp_path / "state")
    (tmp_path / "events").mkdir()
    for batch in range(3):
        given = events(tmp_path / "events", told(dice, 60, batch * 60))
        expected = changes_of(given, state)
        found = changes_by_key(engine, given, state)
        assert found is not None and expected.count > 10
        assert bag(found) == bag(expected)
        state = appended(state, found, batch)
        engine.tidy()


def test_events_that_mean_something_by_their_order_are_left_to_the_driver(
    engine: Engine, tmp_path: Path
) -> None:
    rows = told(random.Random(3), 20, 0)
    state = State("t", SCHEMA, tmp_path / "state")
    for odd in ((None, None, None, TRUNCATE, 0, 1, 30, None), (1, None, 2.0, UPSERT, 1, 1, 30, ["name"])):
        assert changes_by_key(engine, events(tmp_path, [*rows, odd, rows[0]]), state) is None
    assert (
        changes_by_key(engine, events(tmp_path, rows), replace(state, schema=Schema(SCHEMA.columns))) is None
    )
