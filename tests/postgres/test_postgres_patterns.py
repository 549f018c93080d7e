"""A declared table over all tables that match a pattern.

Oracle: the rows of these tables at the server, each with the name of its table.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from headwater.errors import OptionError, SourceError
from headwater.sources.postgres.source import POSTGRES
from tests.postgres.shards import Holder, at_server, make, orders
from tests.postgres.world import Database, World, bag, brief, read_now

pytestmark = pytest.mark.services


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL"])
def test_rows_of_all_tables_that_match_are_rows_of_one(
    database: Database, world: World, tmp_path: Path, identity: str
) -> None:
    make(database, "orders_1", "orders_2", "orders_old", identity=identity)
    database.run("CREATE VIEW orders_3 AS SELECT * FROM orders_1")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        assert held.read(source) == at_server(database, "orders_1", "orders_2")
        database.together(
            "UPDATE orders_1 SET n = 10 WHERE id = 1",
            "UPDATE orders_2 SET id = 2 WHERE id = 1",
            "INSERT INTO orders_2 VALUES (1, 7)",
            "INSERT INTO orders_old VALUES (5, 5)",
        )
        assert held.read(source) == at_server(database, "orders_1", "orders_2")
        database.together("DELETE FROM orders_1", "UPDATE orders_2 SET n = n + 1")
        assert held.read(source) == at_server(database, "orders_1", "orders_2")
        assert {"orders (public.orders_1)", "orders (public.orders_2)"} <= {r.subject for r in world.reports}


def test_a_restart_goes_on_with_all_of_them(database: Database, world: World, tmp_path: Path) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
        assert held.after is not None
        source.commit(held.after)
    make(database, "orders_3")
    database.together("INSERT INTO orders_1 VALUES (2, 2)", "UPDATE orders_2 SET n = 5")
    world.reports.clear()
    with world.source(held.table, after=held.after) as source:
        assert held.read(source) == at_server(database, "orders_1", "orders_2", "orders_3")
        # The table that was made meanwhile has first rows, the others had them.
        assert {r.subject for r in world.reports if r.stage == "snapshot"} == {"orders (public.orders_3)"}
        database.run("UPDATE orders_3 SET n = 3; UPDATE orders_1 SET n = 4")
        assert held.read(source) == at_server(database, "orders_1", "orders_2", "orders_3")


def test_a_schema_can_be_a_pattern_too(database: Database, world: World, tmp_path: Path) -> None:
    database.run("CREATE SCHEMA north; CREATE SCHEMA south; CREATE SCHEMA other")
    make(database, "north.orders_1", "south.orders_1", "south.orders_2", "other.orders_1")
    key = ("area", "shard", "id")
    table = orders(database, "area string, shard string, id int, n int", *key, schema_name="north|south")
    held = Holder(table, tmp_path / "rows")
    with world.source(table) as source:
        database.run("UPDATE south.orders_1 SET n = 2; DELETE FROM north.orders_1")
        rows = [("south", "orders_1", 1, 2), ("south", "orders_2", 1, 1)]
        assert held.read(source) == Counter(rows)
        database.run("TRUNCATE south.orders_1")
        assert held.read(source) == Counter(rows[1:])


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL"])
def test_truncate_takes_only_the_rows_of_its_table(
    database: Database, world: World, tmp_path: Path, identity: str
) -> None:
    make(database, "orders_1", "orders_2", "orders_3", identity=identity)
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
        database.together(
            "INSERT INTO orders_1 VALUES (2, 2)",
            "INSERT INTO orders_2 VALUES (2, 2)",
            "UPDATE orders_1 SET n = n + 1",
            "TRUNCATE orders_1",
            "INSERT INTO orders_1 VALUES (1, 100), (3, 3)",
            "UPDATE orders_2 SET n = n + 1",
        )
        assert held.read(source) == at_server(database, "orders_1", "orders_2", "orders_3")
        database.together("TRUNCATE orders_1, orders_3", "DELETE FROM orders_2 WHERE id = 1")
        assert held.read(source) == at_server(database, "orders_2")


def test_without_a_column_for_the_table_truncate_is_an_error(database: Database, world: World) -> None:
    make(database, "orders_1", "orders_2", identity="FULL")
    table = database.table("orders", "id int, n int", table_name=r"orders_\d+")
    with world.source(table) as source:
        said = read_now(source)
        assert bag(said, "orders") == Counter({(1, 1): 2})
        database.run("DELETE FROM orders_1; TRUNCATE orders_2")
        with pytest.raises(SourceError, match="the rows of one table of 'orders' went all at once") as raised:
            read_now(source, after=said[-1].position)
        assert "'public.orders_2'" in raised.value.detail and "METADATA" in raised.value.hint


def test_two_declared_tables_may_have_the_rows_of_one(database: Database, world: World) -> None:
    make(database, "orders_1", "orders_2", identity="FULL")
    some = database.table("some", "id int, n int", table_name="orders_[13]")
    every = database.table("every", "id int, n int", table_name="orders_.*")
    one = database.table("one", "id int, n int", "id", table_name="orders_1")
    with world.source(some, every, one) as source:
        database.run("UPDATE orders_1 SET n = 2")
        said = read_now(source)
    assert bag(said, "some") == bag(said, "one") == Counter([(1, 2)])
    assert bag(said, "every") == Counter([(1, 1), (1, 2)])


def test_partitions_are_rows_of_their_table(database: Database, world: World, tmp_path: Path) -> None:
    make(database, "orders_1")
    database.run("CREATE TABLE orders_2 (id int PRIMARY KEY, n int) PARTITION BY RANGE (id)")
    database.run("CREATE TABLE orders_21 PARTITION OF orders_2 FOR VALUES FROM (0) TO (10)")
    database.run("INSERT INTO orders_2 VALUES (1, 1)")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        database.run("INSERT INTO orders_2 VALUES (2, 2)")
        assert held.read(source) == at_server(database, "orders_1", "orders_2")
    with pytest.raises(
        SourceError, match=r"orders_21' is a partition of 'public\.orders_2', which does not match"
    ):
        POSTGRES.describe(database.options(r"orders_\d\d"))


def test_names_that_look_like_patterns_are_taken_as_they_are(database: Database, world: World) -> None:
    make(database, '"a$b"', '"c.d"', '"cxd"', identity="FULL")
    tables = [
        database.table("money", "id int, n int", "id", table_name="a$b"),
        database.table("dot", "id int, n int", "id", table_name=r"c\.d"),
    ]
    with world.source(*tables) as source:
        said = read_now(source)
    assert brief(said, "money") == brief(said, "dot") == [("insert", 1, 1)]


def test_without_columns_it_has_those_of_the_first_table(database: Database) -> None:
    make(database, "orders_1", "orders_2", identity="FULL")
    found = POSTGRES.describe(database.options("orders_.*"))
    assert (found.names, found.key) == (("id", "n"), ())
    assert POSTGRES.resolving_key(database.options("orders_.*")) == ()


def test_what_cannot_be_is_refused(database: Database, world: World) -> None:
    def refused(message: str, *columns: str, **options: str) -> SourceError:
        with (
            pytest.raises(SourceError, match=message) as raised,
            world.source(orders(database, *columns, **options)),
        ):
            pass
        assert database.slots() == [] and database.publications() == []
        return raised.value

    make(database, "orders_1", "orders_2")
    database.run("ALTER TABLE orders_2 RENAME n TO m")
    assert "id, m" in refused("table 'public.orders_2' has no column 'n'").hint
    database.run("ALTER TABLE orders_2 RENAME m TO n; ALTER TABLE orders_2 ALTER n TYPE date USING NULL")
    refused("column 'n' of table 'public.orders_2' cannot be read as int", "shard string, id int, n int")
    missing = refused(r"no table matches 'table-name' = 'order_\\d\+'", table_name=r"order_\d+")
    assert "orders_" in missing.hint and "whole name" in missing.detail
    refused("no schema with tables matches 'schema-name' = 'p.*x'", schema_name="p.*x")
    key = refused("the key of table 'orders' must say of which table a row is", "id int, n int", "id")
    assert key.hint.startswith(
        "Declare table_name STRING METADATA, PRIMARY KEY (table_name, id) NOT ENFORCED"
    )
    key = refused("the key of table 'orders' must say of which table a row is", "shard string, id int", "id")
    assert key.hint.startswith("Declare PRIMARY KEY (shard, id) NOT ENFORCED")


def test_a_bad_expression_is_an_error_that_tells_where(database: Database) -> None:
    with pytest.raises(OptionError, match="option 'table-name' does not take the value") as raised:
        database.options(r"orders_(\d+")
    assert "at position 7" in raised.value.detail and "'orders_'" in raised.value.detail
    with pytest.raises(OptionError, match="option 'schema-name' does not take the value"):
        database.options("orders", schema_name="[a")


def test_only_first_rows_of_all_of_them(database: Database, world: World, tmp_path: Path) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database, scan__startup__mode="snapshot"), tmp_path / "rows")
    with world.source(held.table) as source:
        assert held.read(source) == at_server(database, "orders_1", "orders_2")
    assert database.slots() == [] and database.publications() == []


def test_changes_of_all_of_them_from_where_the_slot_stands(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2")
    database.run("CREATE PUBLICATION mine FOR TABLE orders_1, orders_2")
    database.run("SELECT pg_create_logical_replication_slot('mine', 'pgoutput')")
    database.run("INSERT INTO orders_1 VALUES (2, 2); INSERT INTO orders_2 VALUES (2, 2)")
    given = {"slot__name": "mine", "debezium__publication__name": "mine"}
    held = Holder(orders(database, scan__startup__mode="committed-offset", **given), tmp_path / "rows")
    with world.source(held.table) as source:
        rows = Counter([("orders_1", 2, 2), ("orders_2", 2, 2)])
        assert held.read(source) == rows
        make(database, "orders_3")
        held.until(source, rows + Counter([("orders_3", 1, 1)]))
