"""Events that empty one of several tables whose rows are those of one.

Oracle: a dictionary that plays the events one by one; histories written by hand.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from headwater.errors import SourceError
from headwater.log.emptied import emptied_by
from headwater.log.events import DELETE, DELETE_KEY, INSERT, TRUNCATE, UPSERT, WEIGHTS, Events, event_schema
from headwater.log.layout import Layout
from headwater.log.shards import declared_name, shard_name, shard_of, shown_name
from headwater.schema import WEIGHT, Column, Schema
from headwater.tables.history import History
from headwater.tables.slices import whole
from headwater.tables.state import State, appended
from headwater.tables.upsert import changes_of

COLUMNS = (Column("shard", "string"), Column("id", "int"), Column("n", "int"))
KEY = ("shard", "id")
SHARDS = ("a", "b", "c")

Event = tuple[str, str | None, int | None, int | None]
"""Kind, shard, id and n."""
Truth = dict[tuple[str, int], int]


def events_of(said: list[Event], schema: Schema, first_seq: int = 0) -> Events:
    rows = [
        {
            "shard": shard,
            "id": number,
            "n": n,
            "__hw_kind": kind,
            WEIGHT: WEIGHTS[kind],
            "__hw_position": 1,
            "__hw_seq": first_seq + place,
            "__hw_unchanged": ["shard"] if kind == TRUNCATE and shard else None,
        }
        for place, (kind, shard, number, n) in enumerate(said)
    ]
    whole_rows = all(kind in (INSERT, DELETE) for kind, *_ in said)
    return Events(len(rows), pa.Table.from_pylist(rows, schema=event_schema(schema)), whole_rows=whole_rows)


def held(state: State) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for row in whole(state, state.schema.names).to_pylist():
        found[row["shard"], row["id"], row["n"]] += row[WEIGHT]
    assert set(found.values()) <= {0, 1}
    return +found


def event(dice: random.Random, truth: Truth, *, keyed: bool) -> list[Event]:
    shard, number, n = dice.choice(SHARDS), dice.randrange(4), dice.randrange(100)
    match dice.randrange(8):
        case 0:
            emptied = dice.choice((*SHARDS, *SHARDS, None))
            for key in [key for key in truth if emptied in (None, key[0])]:
                del truth[key]
            return [(TRUNCATE, emptied, None, None)]
        case 1 | 2 if (shard, number) in truth:
            was = truth.pop((shard, number))
            return [(DELETE_KEY, shard, number, None) if keyed else (DELETE, shard, number, was)]
    old = truth.get((shard, number))
    truth[shard, number] = n
    if keyed:
        return [(UPSERT, shard, number, n)]
    return [*([] if old is None else [(DELETE, shard, number, old)]), (INSERT, shard, number, n)]


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_random_events_end_as_a_dictionary_would(seed: int, keyed: bool, tmp_path: Path) -> None:
    dice, schema = random.Random(seed), Schema(COLUMNS, KEY if keyed else ())
    state, truth, seq, emptied = State("t", schema, tmp_path), Truth(), 0, 0
    for batch in range(1, 10):
        said: list[Event] = []
        for _ in range(dice.randrange(1, 12)):
            said += event(dice, truth, keyed=keyed)
        emptied += sum(kind == TRUNCATE and shard is not None for kind, shard, *_ in said)
        state = appended(state, changes_of(events_of(said, schema, seq), state), batch)
        seq += len(said)
        assert held(state) == Counter({(*key, n): 1 for key, n in truth.items()})
    assert emptied


@pytest.mark.parametrize("key", [KEY, ()])
def test_the_history_tells_the_rows_that_went_one_by_one(tmp_path: Path, key: tuple[str, ...]) -> None:
    schema = Schema(COLUMNS, key)
    said: list[Event] = [
        (INSERT, "a", 2, 2),
        (TRUNCATE, "a", None, None),
        (INSERT, "a", 3, 3),
        (TRUNCATE, "a", None, None),
        (INSERT, "a", 1, 9),
    ]
    known = pa.table(
        {"shard": ["a", "b"], "id": pa.array([1, 1], pa.int32()), "n": pa.array([1, 1], pa.int32())}
    )
    maker = History("changes of t", schema, "number", tmp_path / "history")
    changes = maker.of(events_of(said, schema), State("t", schema, tmp_path), lambda: known)
    found = [(row["op"], *((row["before"] or row["after"]).values())) for row in changes.table().to_pylist()]
    assert found == [
        ("c", "a", 2, 2),
        ("d", "a", 1, 1),
        ("d", "a", 2, 2),
        ("c", "a", 3, 3),
        ("d", "a", 3, 3),
        ("c", "a", 1, 9),
    ]


def test_a_shard_is_a_table_of_its_own_in_the_log() -> None:
    name = shard_name("shop.orders", "public.orders_1", 4711)
    assert (declared_name(name), shard_of(name)) == ("shop.orders", "public.orders_1")
    assert shown_name(name) == "shop.orders (public.orders_1)"
    assert (declared_name("orders"), shard_of("orders"), shown_name("orders")) == ("orders", "", "orders")


def test_which_rows_go_is_said_by_columns_or_is_an_error() -> None:
    schema, name = Schema(COLUMNS, ()), shard_name("orders", "public.orders_1", 1)
    assert emptied_by(Layout("orders", schema, (0, 1, 2), ("text",) * 3)) is None
    assert emptied_by(Layout(name, schema, (0, 1, 2), ("text",) * 3, shard=("shard",))) == ["shard"]
    with pytest.raises(SourceError, match="the rows of one table of 'orders' went all at once"):
        emptied_by(Layout(name, schema, (0, 1, 2), ("text",) * 3, shard=()))
