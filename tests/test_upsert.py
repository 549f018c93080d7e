"""Upserts against State; the oracle is a dictionary that plays the events one by one."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from headwater.errors import SourceError
from headwater.log.events import DELETE_KEY, INSERT, OP, TRUNCATE, UPSERT, WEIGHTS, Events, event_schema
from headwater.schema import WEIGHT, Column, Schema
from headwater.tables.slices import whole
from headwater.tables.state import State, appended
from headwater.tables.upsert import changes_of

SCHEMA = Schema((Column("id", "int"), Column("note", "string"), Column("n", "int")), ("id",))
Event = tuple[str, int | None, str | None, int | None, list[str] | None]


def events_of(said: list[Event], first_seq: int = 0, ops: str = "") -> Events:
    """Events in their order; `ops` has a letter for each if the source tells what was done."""
    rows = [
        {
            "id": i,
            "note": t,
            "n": n,
            "__hw_kind": k,
            WEIGHT: WEIGHTS[k],
            "__hw_position": 1,
            "__hw_unchanged": u,
        }
        for k, i, t, n, u in said
    ]
    for seq, row in enumerate(rows):
        row["__hw_seq"] = first_seq + seq
    made = pa.Table.from_pylist(rows, schema=event_schema(SCHEMA))
    told = made.append_column(OP, pa.array(list(ops), pa.string())) if ops else made
    return Events(len(rows), told, whole_rows=False)


def bag(state: State) -> Counter[tuple[Any, ...]]:
    counted: Counter[tuple[Any, ...]] = Counter()
    for row in whole(state, SCHEMA.names).to_pylist():
        counted[row["id"], row["note"], row["n"]] += row[WEIGHT]
    assert min(counted.values(), default=0) >= 0
    return +counted


def test_a_key_that_moves_takes_its_unsent_values_along(tmp_path: Path) -> None:
    state = State("t", SCHEMA, tmp_path)
    state = appended(state, changes_of(events_of([(UPSERT, 1, "long", 1, None)]), state), 1)
    said: list[Event] = [(DELETE_KEY, 1, None, None, None), (UPSERT, 2, None, 5, ["note"])]
    state = appended(state, changes_of(events_of(said, 10), state), 2)
    assert bag(state) == Counter({(2, "long", 5): 1})


@pytest.mark.parametrize("ops", ["uu", "dc"])
def test_a_source_that_tells_what_was_done_moves_a_key_too(ops: str, tmp_path: Path) -> None:
    """`uu` as Postgres tells it, `dc` as Debezium does."""
    state = State("t", SCHEMA, tmp_path)
    state = appended(state, changes_of(events_of([(UPSERT, 1, "long", 1, None)]), state), 1)
    said: list[Event] = [(DELETE_KEY, 1, None, None, None), (UPSERT, 2, None, 5, ["note"])]
    state = appended(state, changes_of(events_of(said, 10, ops), state), 2)
    assert bag(state) == Counter({(2, "long", 5): 1})


NEVER_SEEN: dict[str, tuple[list[Event], str]] = {
    "alone": ([(UPSERT, 2, None, 5, ["note"])], "u"),
    "after a delete of another row": (
        [(DELETE_KEY, 1, None, None, None), (UPSERT, 2, None, 5, ["note"])],
        "du",
    ),
    "some events after a delete": (
        [(DELETE_KEY, 1, None, None, None), (UPSERT, 3, "c", 3, None), (UPSERT, 2, None, 5, ["note"])],
        "",
    ),
    "under a key that was never seen either": (
        [(DELETE_KEY, 7, None, None, None), (UPSERT, 2, None, 5, ["note"])],
        "uu",
    ),
}


@pytest.mark.parametrize("case", NEVER_SEEN)
def test_a_value_that_was_not_sent_never_comes_from_another_row(case: str, tmp_path: Path) -> None:
    """A log that is followed from its end on tells of rows whose unchanged values nobody ever saw."""
    state = State("t", SCHEMA, tmp_path)
    state = appended(state, changes_of(events_of([(UPSERT, 1, "ann's", 1, None)]), state), 1)
    said, ops = NEVER_SEEN[case]
    with pytest.raises(SourceError, match="a row that was never seen") as raised:
        changes_of(events_of(said, 10, ops), state)
    assert "id = 2 the log leaves out note" in raised.value.detail
    assert "REPLICA IDENTITY FULL" in raised.value.hint and "initial" in raised.value.hint


@pytest.mark.parametrize("seed", range(20))
def test_random_upserts_end_as_a_dictionary_would(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    state, truth, seq = State("t", SCHEMA, tmp_path), dict[int, tuple[str | None, int | None]](), 0
    for batch in range(1, 8):
        said: list[Event] = []
        for _ in range(dice.randrange(1, 9)):
            said += _event(dice, truth)
        state = appended(state, changes_of(events_of(said, seq), state), batch)
        seq += len(said)
        assert bag(state) == Counter({(key, *rest): 1 for key, rest in truth.items()})


def _event(dice: random.Random, truth: dict[int, tuple[str | None, int | None]]) -> list[Event]:
    key, n = dice.randrange(6), dice.randrange(4)
    if dice.random() < 0.05:
        truth.clear()
        return [(TRUNCATE, None, None, None, None)]
    if key not in truth:
        truth[key] = (f"note {n}", n)
        return [(dice.choice([INSERT, UPSERT]), key, f"note {n}", n, None)]
    choice = dice.random()
    if choice < 0.3:
        del truth[key]
        return [(DELETE_KEY, key, None, None, None)]
    if choice < 0.6:
        truth[key] = (truth[key][0], n)
        return [(UPSERT, key, None, n, ["note"])]
    free = next((k for k in range(6) if k not in truth), None)
    if choice < 0.8 and free is not None:
        truth[free] = (truth.pop(key)[0], n)
        return [(DELETE_KEY, key, None, None, None), (UPSERT, free, None, n, ["note"])]
    truth[key] = (None, n)
    return [(UPSERT, key, None, n, None)]
