"""The in-memory source keeps the contract of sources. Oracle: the transactions that were handed in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.errors import SourceError, SqlError
from headwater.log.events import KIND, POSITION, SEQ, UNCHANGED, Delivery, event_schema
from headwater.log.positions import Position
from headwater.schema import WEIGHT, Schema
from headwater.sources.base import SourceContext, SourceTable
from headwater.sources.values import STORES, VALUES, ValuesOptions, ValuesSource, ValuesStore
from tests.ends.postgres_world import schema

ORDERS = schema("id int, total decimal(10,2)", "id")


@pytest.fixture
def store() -> Iterator[ValuesStore]:
    """The store of pipeline `p`."""
    STORES["p"] = ValuesStore()
    yield STORES["p"]
    del STORES["p"]


def source(folder: Path, *tables: tuple[str, Schema], anew: str = "") -> ValuesSource:
    """A source of pipeline `p`, not started; of the table `anew` the pipeline holds nothing."""
    declared = [
        SourceTable(name, kind, ValuesOptions(), anew=name == anew)
        for name, kind in tables or (("orders", ORDERS),)
    ]
    return ValuesSource(declared, SourceContext("p", folder, lambda report: None))


def rows(delivery: Delivery | None, table: str = "orders") -> list[dict[str, Any]]:
    """The events of a table."""
    assert delivery is not None
    found = delivery.tables[table].rows
    assert found is not None
    return list(found.to_pylist())


def test_each_transaction_has_the_next_position_and_every_sign_its_kind(
    store: ValuesStore, tmp_path: Path
) -> None:
    reader = source(tmp_path)
    reader.start(None)
    assert (
        store.append({"orders": [("+", {"id": 1, "total": "1.50"}), ("-", {"id": 2, "total": None})]}).value
        == 1
    )
    signs = [("u", {"id": 3}), ("u", {"id": 4, "total": 4}), ("d", {"id": 5}), ("t", {})]
    assert store.append({"orders": signs}).value == 2
    delivery = reader.read(None, 100)
    assert delivery is not None and delivery.position == Position(2) == reader.now()
    found = delivery.tables["orders"].rows
    assert found is not None and found.schema.equals(event_schema(ORDERS))
    assert [
        (row["id"], str(row["total"]), row[KIND], row[WEIGHT], row[POSITION], row[UNCHANGED])
        for row in rows(delivery)
    ] == [
        (1, "1.50", "insert", 1, 1, None),
        (2, "None", "delete", -1, 1, None),
        (3, "None", "upsert", 1, 2, ["total"]),
        (4, "4.00", "upsert", 1, 2, None),
        (5, "None", "delete_key", -1, 2, None),
        (None, "None", "truncate", 0, 2, None),
    ]
    order = [row[SEQ] for row in rows(delivery)]
    assert order == sorted(set(order))
    assert not delivery.tables["orders"].whole_rows


def test_reading_is_by_whole_transactions_and_repeats(store: ValuesStore, tmp_path: Path) -> None:
    reader = source(tmp_path)
    reader.start(None)
    for n in range(5):
        store.append({"orders": [("+", {"id": n * 2 + k, "total": 1}) for k in range(2)]})
    first = reader.read(None, 3)
    assert first is not None and first.position == Position(2) and len(rows(first)) == 4
    assert first.tables["orders"].whole_rows
    again = reader.read(None, 3)
    assert rows(again) == rows(first)
    upto = reader.read(Position(1), 1, upto=Position(4))
    assert upto is not None and upto.position == Position(4) and len(rows(upto)) == 6
    reader.commit(Position(5))
    reader.close()
    assert reader.read(Position(5), 3) is None
    assert len(rows(source(tmp_path).read(None, 100))) == 10


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_transactions_delivered_twice_are_read_once(store: ValuesStore, tmp_path: Path, limit: int) -> None:
    store.deliver_twice = True
    reader = source(tmp_path)
    reader.start(None)
    for n in range(4):
        store.append({"orders": [("+", {"id": n, "total": n})]})
    assert [t.position for t in store.deliveries(2)] == [2, 2, 3, 3, 4, 4]
    seen, after = [], None
    while (delivery := reader.read(after, limit)) is not None:
        seen += [row["id"] for row in rows(delivery)]
        after = delivery.position
    assert seen == [0, 1, 2, 3]


def test_an_empty_store_begins_at_zero_and_a_reader_waits_for_more(
    store: ValuesStore, tmp_path: Path
) -> None:
    reader = source(tmp_path)
    reader.start(None)
    assert reader.read(None, 10, wait=60) == Delivery(Position(0), {})
    late = threading.Timer(0.05, lambda: store.append({"orders": [("+", {"id": 1, "total": 1})]}))
    late.start()
    assert len(rows(reader.read(Position(0), 10, wait=60))) == 1
    assert reader.read(Position(1), 10, wait=0.01) is None


def test_a_table_that_joins_later_gets_all_it_ever_said(store: ValuesStore, tmp_path: Path) -> None:
    first = source(tmp_path)
    first.start(None)
    store.append({"orders": [("+", {"id": 1, "total": 1})], "late": [("+", {"x": 1})]})
    store.append({"late": [("+", {"x": 2})]})
    both = (("orders", ORDERS), ("late", schema("x int")))
    second = source(tmp_path, *both)
    whole_at = second.start(Position(2))
    assert whole_at == Position(3)
    store.append({"late": [("-", {"x": 2})], "orders": [("+", {"id": 2, "total": 2})]})
    delivery = second.read(Position(2), 100)
    assert [(row["x"], row[WEIGHT], row[POSITION]) for row in rows(delivery, "late")] == [
        (1, 1, 3), (2, 1, 3), (2, -1, 4),
    ]  # fmt: skip
    assert [row["id"] for row in rows(delivery)] == [2]
    third = source(tmp_path, *both)
    assert third.start(Position(2)) == Position(3)
    assert rows(third.read(Position(2), 100), "late") == rows(delivery, "late")
    assert source(tmp_path, *both).start(Position(4)) is None


def test_a_table_of_which_nothing_is_held_joins_again(store: ValuesStore, tmp_path: Path) -> None:
    both = (("orders", ORDERS), ("late", schema("x int")))
    source(tmp_path, *both).start(None)
    store.append({"orders": [("+", {"id": 1, "total": 1})], "late": [("+", {"x": 1})]})
    store.append({"late": [("+", {"x": 2})]})
    edited = source(tmp_path, *both, anew="late")
    assert edited.start(Position(1)) == Position(3)
    delivery = edited.read(Position(1), 100)
    assert delivery is not None and set(delivery.tables) == {"late"}
    assert [(row["x"], row[POSITION]) for row in rows(delivery, "late")] == [(1, 3), (2, 3)]
    # Until that is done it is the same join, and after it another one if the table is edited again.
    assert source(tmp_path, *both, anew="late").start(Position(2)) == Position(3) == store.last
    assert source(tmp_path, *both, anew="late").start(Position(3)) == Position(4) == store.last


def test_a_table_that_has_missed_nothing_does_not_join_again(store: ValuesStore, tmp_path: Path) -> None:
    source(tmp_path).start(None)
    store.append({"others": [("+", {"x": 1})]})
    store.append({"orders": [("+", {"id": 1, "total": 1})]})
    for after in (Position(0), Position(1)):
        again = source(tmp_path, anew="orders")
        assert again.start(after) is None
        assert [row[POSITION] for row in rows(again.read(after, 100))] == [2]
    assert store.last == Position(2)


def test_many_rows_of_arrow_travel_in_a_file(store: ValuesStore, tmp_path: Path) -> None:
    reader = source(tmp_path, ("odd/name", schema("x int")))
    reader.start(None)
    store.append({"odd/name": pa.table({"x": pa.array(range(60_000), pa.int64())})})
    delivery = reader.read(None, 10)
    assert delivery is not None
    events = delivery.tables["odd/name"]
    assert events.rows is None and events.count == 60_000
    assert pq.read_table(events.files[0]).column("x").to_pylist() == list(range(60_000))


def test_a_store_that_ends_before_our_progress_is_refused(store: ValuesStore, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the store of connector 'values' ends before position 7"):
        source(tmp_path).start(Position(7))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("*", {"id": 1, "total": 1}), "table 'orders' was handed a change with the sign '*'"),
        (("+", {"id": 1}), "table 'orders' was handed a row without column 'total'"),
        (("+", {"id": 1, "totl": 1}), "table 'orders' was handed a row with an unknown column 'totl'"),
        (("d", {"total": 1}), "table 'orders' was handed a row without column 'id'"),
    ],
)
def test_a_wrong_change_is_an_error(
    store: ValuesStore, tmp_path: Path, change: tuple[str, dict[str, object]], message: str
) -> None:
    reader = source(tmp_path)
    reader.start(None)
    store.append({"orders": [change]})
    with pytest.raises(SourceError) as caught:
        reader.read(None, 1)
    assert caught.value.message == message


def test_a_change_by_key_needs_a_key(store: ValuesStore, tmp_path: Path) -> None:
    reader = source(tmp_path, ("bag", schema("x int")))
    reader.start(None)
    store.append({"bag": [("u", {"x": 1})]})
    with pytest.raises(SourceError, match="table 'bag' was handed a change by key and has none"):
        reader.read(None, 1)


def test_text_is_read_as_what_the_column_is(store: ValuesStore, tmp_path: Path) -> None:
    kinds = schema("i int, b boolean, d date, t timestamp, z timestamp, n timestamp_ntz, f double")
    reader = source(tmp_path, ("t", kinds))
    reader.start(None)
    store.append({"t": [("+", {"i": "7", "b": "true", "d": "2024-02-29", "t": "2024-02-29 10:00:00",
                               "z": "2024-02-29 10:00:00+02:00", "n": "2024-02-29 10:00:00", "f": "1.5"})]})  # fmt: skip
    row = {name: str(value) for name, value in rows(reader.read(None, 1), "t")[0].items()}
    assert [row[name] for name in kinds.names] == [
        "7", "True", "2024-02-29", "2024-02-29 10:00:00+00:00", "2024-02-29 08:00:00+00:00",
        "2024-02-29 10:00:00", "1.5",
    ]  # fmt: skip


def test_tables_with_a_name_of_their_own_share_that_store(tmp_path: Path) -> None:
    STORES["shared"] = ValuesStore()
    options = ValuesOptions(name="shared")
    reader = ValuesSource([SourceTable("orders", ORDERS, options)], SourceContext("other", tmp_path, print))
    reader.start(None)
    STORES.pop("shared").append({"orders": [("+", {"id": 1, "total": 1})]})
    assert len(rows(reader.read(None, 1))) == 1
    assert (VALUES.group(options), VALUES.group(ValuesOptions())) == ("values-shared", "values")


def test_a_table_without_columns_is_refused() -> None:
    with pytest.raises(SqlError, match="connector 'values' has no columns of its own"):
        VALUES.describe(ValuesOptions())


@pytest.mark.parametrize("kind", ["oops", None])
def test_a_kind_of_event_that_nobody_knows_is_refused(
    store: ValuesStore, tmp_path: Path, kind: str | None
) -> None:
    reader = source(tmp_path)
    reader.start(None)
    said = {"id": [1], "total": pa.nulls(1, pa.decimal128(10, 2)), KIND: pa.array([kind], pa.string())}
    store.append({"orders": pa.table(said)})
    with pytest.raises(SourceError) as caught:
        reader.read(None, 100)
    assert repr(kind) in caught.value.message
