"""A jdbc table is read once, or again and again, and never half.

Oracle: the table itself, asked with psycopg2; after every read the sum of all events is what it holds.
"""

from __future__ import annotations

import random
from copy import deepcopy
from pathlib import Path

import pytest

from headwater.errors import SourceError
from headwater.log.events import SMALL_ROWS
from headwater.log.positions import Position
from headwater.schema import Schema
from headwater.sources.jdbc.source import describe, open_source
from tests.ends.jdbc_world import HOUR, Bag, Follower, bag, declared, following, options
from tests.ends.postgres_world import Database, schema, wait_for

pytestmark = pytest.mark.services

ORDERS = schema("id int, customer string, total decimal(10,2)", "id")
LINES = schema("customer string, total int")


@pytest.fixture
def shop(database: Database) -> Database:
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, total numeric(10, 2))")
    database.run("INSERT INTO orders SELECT n, 'c' || n % 7, n * 1.25 FROM generate_series(1, 100) n")
    database.run("CREATE TABLE lines (customer text, total int)")
    database.run("INSERT INTO lines SELECT 'c' || n % 3, n % 2 FROM generate_series(1, 30) n")
    return database


def orders(shop: Database) -> Bag:
    return bag(shop, "SELECT * FROM orders")


def test_all_tables_are_read_whole_at_one_position(shop: Database, tmp_path: Path) -> None:
    tables = declared(shop, "orders", ORDERS), declared(shop, "lines", LINES)
    with following(tmp_path, *tables) as follower:
        (delivery,) = follower.catch_up()
    assert delivery.position == Position(1)
    assert follower.state == {"orders": orders(shop), "lines": bag(shop, "SELECT * FROM lines")}
    assert {report.subject for report in follower.reports if report.done} == {"orders", "lines"}


def test_a_restart_does_not_read_again(shop: Database, tmp_path: Path) -> None:
    with following(tmp_path, declared(shop, "orders", ORDERS)) as follower:
        follower.catch_up()
        follower.commit()
    shop.run("DROP TABLE orders")
    after = declared(shop, "orders", ORDERS, anew=False)
    with following(tmp_path, after, after=follower.after) as again:
        assert again.source.now() == follower.after
        assert again.source.read(follower.after, 100, wait=0.1) is None


def test_what_was_delivered_and_not_done_comes_again_as_it_was(shop: Database, tmp_path: Path) -> None:
    with following(tmp_path, declared(shop, "orders", ORDERS)) as follower:
        follower.catch_up()
    shop.run("UPDATE orders SET total = 0")
    with following(tmp_path, declared(shop, "orders", ORDERS)) as again:
        again.catch_up()
        assert again.source.read(None, 1, upto=Position(1)) is not None
    assert again.state == follower.state


def test_a_table_that_joins_later_is_read_then(shop: Database, tmp_path: Path) -> None:
    with following(tmp_path, declared(shop, "orders", ORDERS)) as follower:
        follower.catch_up()
        follower.commit()
    known = declared(shop, "orders", ORDERS, anew=False)
    both = known, declared(shop, "lines", LINES)
    with following(tmp_path, *both, after=follower.after) as again:
        again.catch_up()
    assert again.state == {"lines": bag(shop, "SELECT * FROM lines")} and again.after == Position(2)


def test_many_rows_come_in_files(shop: Database, tmp_path: Path) -> None:
    shop.run(f"INSERT INTO orders SELECT n, 'many', 1 FROM generate_series(101, {SMALL_ROWS + 101}) n")
    with following(tmp_path, declared(shop, "orders", ORDERS)) as follower:
        (delivery,) = follower.catch_up()
    assert delivery.tables["orders"].files and follower.state == {"orders": orders(shop)}


STEPS = (
    "UPDATE orders SET total = total + 1 WHERE id % 10 = 3",
    "DELETE FROM orders WHERE id BETWEEN 20 AND 30",
    "INSERT INTO orders VALUES (1000, NULL, NULL), (1001, '', 0)",
    "UPDATE orders SET id = -id WHERE id < 10",
    "INSERT INTO lines SELECT 'c1', 1 FROM generate_series(1, 5)",
    "DELETE FROM lines WHERE ctid IN (SELECT ctid FROM lines WHERE customer = 'c1' LIMIT 3)",
    "TRUNCATE lines",
    "SELECT 1",
    "INSERT INTO lines VALUES ('c1', 1), ('c1', 1), (NULL, NULL), (NULL, NULL)",
)


def test_each_further_read_delivers_what_changed(shop: Database, tmp_path: Path) -> None:
    tables = [declared(shop, name, kind, scan__refresh_interval=HOUR) for name, kind in both_tables()]
    with following(tmp_path, *tables) as follower:
        for step in ("SELECT 1", *STEPS):
            shop.run(step)
            heard = follower.catch_up()
            follower.commit()
            assert follower.state["orders"] == orders(shop), step
            assert follower.state.get("lines", {}) == bag(shop, "SELECT * FROM lines"), step
            assert sum(events.count for one in heard for events in one.tables.values()) <= 130
        shop.run("UPDATE orders SET total = 0 WHERE id = 50")
        (delivery,) = follower.catch_up()
        assert {name: events.count for name, events in delivery.tables.items()} == {"orders": 2}


def both_tables() -> list[tuple[str, Schema]]:
    return [("orders", ORDERS), ("lines", LINES)]


def test_random_changes_are_followed_over_restarts(shop: Database, tmp_path: Path) -> None:
    chance = random.Random(7)
    state: dict[str, Bag] = {}
    after: Position | None = None
    for _ in range(6):
        is_known = after is not None
        tables = [
            declared(shop, name, kind, anew=not is_known, scan__refresh_interval=HOUR)
            for name, kind in both_tables()
        ]
        with following(tmp_path, *tables, after=after, state=deepcopy(state)) as follower:
            for _ in range(2):
                shop.run(chance.choice(STEPS[3:]))
                shop.run(f"UPDATE orders SET total = total + 1 WHERE id % 3 = {chance.randrange(3)}")
                follower.catch_up()
                assert follower.state["orders"] == orders(shop)
            if chance.random() < 0.5:
                # What is not done is heard again by the next one, from where this one was done.
                follower.commit()
                state, after = follower.state, follower.after
    assert after is not None


def test_an_interrupted_batch_is_repeated_as_it_was(shop: Database, tmp_path: Path) -> None:
    table = declared(shop, "orders", ORDERS, scan__refresh_interval=HOUR)
    with following(tmp_path, table) as first:
        first.catch_up()
        first.commit()
        done = first.after
        shop.run("UPDATE orders SET total = 0 WHERE id < 5")
        (delivery,) = first.catch_up()
    shop.run("UPDATE orders SET total = 9 WHERE id < 50")
    known = declared(shop, "orders", ORDERS, anew=False, scan__refresh_interval=HOUR)
    with following(tmp_path, known, after=done) as second:
        repeated = second.source.read(done, 1, upto=delivery.position)
        assert repeated is not None
        repeater = Follower(second.source, done, {})
        repeater.take(repeated)
        assert repeated.tables["orders"].count == delivery.tables["orders"].count == 8


def test_a_read_that_was_cut_off_counts_for_nothing(shop: Database, tmp_path: Path) -> None:
    with following(tmp_path, declared(shop, "orders", ORDERS, scan__refresh_interval=HOUR)) as first:
        first.catch_up()
        first.commit()
    begun = tmp_path / "reads" / "orders" / "000000000099"
    begun.mkdir()
    (begun / "digests-0.parquet").write_bytes(b"PAR1, and then the power failed")
    shop.run("DELETE FROM orders WHERE id > 90")
    known = declared(shop, "orders", ORDERS, anew=False, scan__refresh_interval=HOUR)
    with following(tmp_path, known, after=first.after, state=first.state) as second:
        assert not begun.exists()
        second.catch_up()
        assert second.state["orders"] == orders(shop)


def test_the_interval_brings_changes_by_itself(shop: Database, tmp_path: Path) -> None:
    table = declared(shop, "orders", ORDERS, scan__refresh_interval="50 ms")
    with following(tmp_path, table) as follower:
        first = follower.source.read(None, 1000)
        assert first is not None
        follower.take(first)
        shop.run("DELETE FROM orders WHERE id = 1")

        def follows() -> bool:
            delivery = follower.source.read(follower.after, 1000, wait=0.1)
            if delivery is not None:
                follower.take(delivery)
            return follower.state["orders"] == orders(shop)

        wait_for(follows)


def test_a_read_that_is_no_longer_possible_is_told(shop: Database, tmp_path: Path) -> None:
    table = declared(shop, "orders", ORDERS, scan__refresh_interval=HOUR)
    with following(tmp_path, table) as follower:
        follower.catch_up()
        shop.run("ALTER TABLE orders RENAME COLUMN customer TO client")
        with pytest.raises(SourceError) as caught:
            follower.source.now()
    assert caught.value.message == "table 'public.orders' has no column 'customer'"


def test_a_read_that_goes_on_is_given_up_when_the_source_closes(shop: Database, tmp_path: Path) -> None:
    table = declared(shop, "orders", ORDERS, scan__refresh_interval="1 ms")
    with following(tmp_path, table) as follower:
        follower.source.read(None, 1000)
    with following(tmp_path, declared(shop, "orders", ORDERS, scan__refresh_interval="1 ms")) as second:
        assert second.source.read(None, 1000) is not None


TYPES = """
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE kinds (
  a smallint, b int, c bigint, d real, e double precision, f numeric, g numeric(12, 3), h boolean, i text, j varchar(9),
  k char(3), l bytea, m date, n timestamp, o timestamptz, p uuid, q json, r jsonb, s int[], t text[], u mood, v time,
  w interval, x numeric[], y inet, z int GENERATED ALWAYS AS (b * 2) STORED, PRIMARY KEY (b, a)
);
INSERT INTO kinds VALUES (1, 2, 3, 1.5, 2.5, 123.456, 1.125, true, 'x', 'y', 'z', '\\x00ff', '2024-02-29',
  '2024-01-01 12:34:56.789', '2024-01-01 12:34:56+02', '00000000-0000-0000-0000-000000000001', '{"a": 1}', '{"a": 1}',
  '{1,NULL}', '{"a b",NULL}', 'ok', '12:00', '1 day', '{1.5}', '10.0.0.1');
INSERT INTO kinds (a, b) VALUES (2, 3);
"""
KINDS = {
    "a": "smallint", "b": "int", "c": "bigint", "d": "float", "e": "double", "f": "decimal(38,18)",
    "g": "decimal(12,3)", "h": "boolean", "i": "string", "j": "string", "k": "string", "l": "binary", "m": "date",
    "n": "timestamp_ntz", "o": "timestamp", "p": "string", "q": "string", "r": "string", "s": "array<int>",
    "t": "array<string>", "u": "string", "v": "string", "w": "string", "x": "array<decimal(38,18)>", "y": "string",
    "z": "int",
}  # fmt: skip


def test_a_table_describes_itself_and_can_be_read_so(database: Database, tmp_path: Path) -> None:
    database.run(TYPES)
    found = describe(options(database, "kinds"))
    assert {column.name: column.type for column in found} == KINDS
    assert found.key == ("b", "a")
    with following(tmp_path, declared(database, "kinds", found)) as follower:
        follower.catch_up()
    text = ", ".join(
        f"{name}::text" if kind == "string" and name not in "ky" else name for name, kind in KINDS.items()
    )
    rows = {row[:2]: row[2:] for row in follower.state["kinds"]}
    wanted = bag(database, f"SELECT {text} FROM kinds")
    expected = {
        row[:2]: tuple(bytes(v) if isinstance(v, memoryview) else v for v in row[2:]) for row in wanted
    }
    assert rows == expected


def test_views_and_other_schemas_are_read_too(database: Database, tmp_path: Path) -> None:
    database.run("CREATE SCHEMA other; CREATE VIEW other.three AS SELECT generate_series(1, 3) AS n")
    assert describe(options(database, "other.three")) == schema("n int")
    in_path = options(database, "three", url=database.url("?currentSchema=other"))
    assert describe(in_path) == schema("n int")
    with following(tmp_path, declared(database, "other.three", schema("n string"))) as follower:
        follower.catch_up()
    assert set(follower.state["other.three"]) == {("1",), ("2",), ("3",)}


def test_nothing_is_touched_before_start(shop: Database, tmp_path: Path) -> None:
    wrong = declared(shop, "nowhere", ORDERS)
    source = open_source([wrong], None)  # type: ignore[arg-type]  # it is not looked at
    source.close()
