"""Tables that match a pattern and come, go or are renamed while the pipeline runs.

Oracle: the rows of these tables at the server, each with the name of its table.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.errors import SourceError
from tests.postgres.shards import Holder, at_server, make, orders
from tests.postgres.world import Database, World, bag, brief, read_now, wait_for

pytestmark = pytest.mark.services


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL"])
def test_a_table_that_is_made_later_is_read_from_its_first_row_on(
    database: Database, world: World, tmp_path: Path, identity: str
) -> None:
    make(database, "orders_1", identity=identity)
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
        database.together(
            "CREATE TABLE orders_2 (id int PRIMARY KEY, n int)",
            f"ALTER TABLE orders_2 REPLICA IDENTITY {identity}",
            "INSERT INTO orders_2 SELECT i, 0 FROM generate_series(1, 50) i",
        )
        database.run("UPDATE orders_2 SET n = 1 WHERE id < 10; DELETE FROM orders_2 WHERE id > 40")
        held.until(source, at_server(database, "orders_1", "orders_2"))
        database.together("UPDATE orders_2 SET n = 2 WHERE id = 1", "UPDATE orders_1 SET n = 2")
        assert held.read(source) == at_server(database, "orders_1", "orders_2")


def test_no_row_is_lost_while_tables_come(database: Database, world: World, tmp_path: Path) -> None:
    make(database, "orders_1")
    held = Holder(orders(database), tmp_path / "rows")

    def write() -> None:
        with database.client() as client, client.cursor() as cursor:
            client.autocommit = True
            for number in range(2, 6):
                cursor.execute(f"CREATE TABLE orders_{number} (id int PRIMARY KEY, n int)")
                for row in range(400):
                    cursor.execute(f"INSERT INTO orders_{number} VALUES (%s, 0)", (row,))
                    cursor.execute(f"UPDATE orders_{number} SET n = n + 1 WHERE id = %s", (row // 2,))
                    cursor.execute("UPDATE orders_1 SET n = n + 1")
                    cursor.execute(f"DELETE FROM orders_{number} WHERE id = %s", (row - 50,))

    with world.source(held.table) as source:
        writer = threading.Thread(target=write)
        writer.start()
        while writer.is_alive():
            held.read(source)
        writer.join()
        held.until(source, at_server(database, *(f"orders_{number}" for number in range(1, 6))))


def test_a_table_that_is_dropped_takes_its_rows_along(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
        database.run("INSERT INTO orders_2 VALUES (2, 2); DROP TABLE orders_2")
        held.until(source, at_server(database, "orders_1"))
        database.run("UPDATE orders_1 SET n = 5")
        assert held.read(source) == at_server(database, "orders_1")
    database.run("INSERT INTO orders_1 VALUES (9, 9)")
    with world.source(held.table, after=held.after) as source:
        assert held.read(source) == at_server(database, "orders_1")
        database.run("DROP TABLE orders_1")
        held.until(source, Counter())
        make(database, "orders_1")
        held.until(source, at_server(database, "orders_1"))


@pytest.mark.parametrize("is_running", [True, False])
def test_a_table_that_is_made_again_is_another(
    database: Database, world: World, tmp_path: Path, is_running: bool
) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")

    def make_again() -> None:
        database.together(
            "INSERT INTO orders_2 VALUES (3, 3)",
            "DROP TABLE orders_2",
            "CREATE TABLE orders_2 (id int PRIMARY KEY, n int)",
            "INSERT INTO orders_2 VALUES (1, 100), (4, 4)",
        )
        database.run("UPDATE orders_2 SET n = n + 1")

    with world.source(held.table) as source:
        held.read(source)
        if is_running:
            make_again()
            held.until(source, at_server(database, "orders_1", "orders_2"))
    if not is_running:
        make_again()
    with world.source(held.table, after=held.after) as source:
        held.until(source, at_server(database, "orders_1", "orders_2"))
        database.run("DELETE FROM orders_2 WHERE id = 4")
        assert held.read(source) == at_server(database, "orders_1", "orders_2")


@pytest.mark.parametrize("name", ["orders_7", "elsewhere"])
def test_a_table_that_is_renamed_stops_it(
    database: Database, world: World, tmp_path: Path, name: str
) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")
    message = f"table 'public.orders_2' was renamed to 'public.{name}'"
    with world.source(held.table) as source:
        held.read(source)
        database.run(f"ALTER TABLE orders_2 RENAME TO {name}; INSERT INTO {name} VALUES (2, 2)")
        with pytest.raises(SourceError, match=message):
            held.until(source, Counter())
    with pytest.raises(SourceError, match=message), world.source(held.table, after=held.after):
        pass
    database.run(f"ALTER TABLE {name} RENAME TO orders_2; UPDATE orders_2 SET n = 3")
    with world.source(held.table, after=held.after) as source:
        assert held.read(source) == at_server(database, "orders_1", "orders_2")


def test_a_table_that_was_renamed_is_read_anew_under_its_name(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
    database.run("INSERT INTO orders_2 VALUES (2, 2); ALTER TABLE orders_2 RENAME TO orders_3")
    database.run("INSERT INTO orders_3 VALUES (3, 3)")
    anew = Holder(replace(held.table, anew=True), tmp_path / "anew", after=held.after)
    with world.source(anew.table, after=held.after) as source:
        assert anew.read(source) == at_server(database, "orders_1", "orders_3")
        database.run("UPDATE orders_3 SET n = n + 1")
        assert anew.read(source) == at_server(database, "orders_1", "orders_3")


def test_a_new_table_that_cannot_be_read_is_told_and_waits(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
        database.run("CREATE TABLE orders_2 (id int NOT NULL, n int); INSERT INTO orders_2 VALUES (1, 1)")

        def is_told() -> bool:
            database.run("UPDATE orders_1 SET n = n + 1")
            assert held.read(source) == at_server(database, "orders_1")
            return any("'public.orders_2' has no replica identity" in r.subject for r in world.reports)

        wait_for(is_told)
        # A capture that takes the place of another does not fail of it either.
        os.kill(source.capture_pid, signal.SIGKILL)
        database.run("INSERT INTO orders_1 VALUES (2, 2)")
        held.until(source, at_server(database, "orders_1"))
        database.run("ALTER TABLE orders_2 ADD PRIMARY KEY (id)")
        held.until(source, at_server(database, "orders_1", "orders_2"))
    with pytest.raises(SourceError, match="has no column 'n'"):
        database.run("CREATE TABLE orders_3 (id int PRIMARY KEY)")
        with world.source(held.table, after=held.after):
            pass


def test_tables_that_come_after_latest_offset_have_all_their_rows(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1")
    held = Holder(orders(database, scan__startup__mode="latest-offset"), tmp_path / "rows")
    with world.source(held.table) as source:
        assert held.read(source) == Counter()
        database.run("INSERT INTO orders_1 VALUES (2, 2)")
        make(database, "orders_2")
        held.until(source, Counter([("orders_1", 2, 2), ("orders_2", 1, 1)]))


def test_a_table_that_is_wanted_anew_is_read_with_all_its_tables(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2", "orders_3")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
        assert held.after is not None
        source.commit(held.after)
    database.run("DROP TABLE orders_3; UPDATE orders_2 SET n = 9")
    anew = Holder(replace(held.table, anew=True), tmp_path / "anew", after=held.after)
    with world.source(anew.table, after=held.after) as source:
        assert anew.read(source) == at_server(database, "orders_1", "orders_2")
        assert "truncate" not in {kind for kind, *_ in brief(anew.deliveries, "orders")}


def test_another_pattern_is_another_table(database: Database, world: World, tmp_path: Path) -> None:
    make(database, "orders_1", "orders_2", "orders_3", identity="FULL")
    some = database.table("orders", "id int, n int", table_name="orders_[12]")
    with world.source(some) as source:
        said = read_now(source)
        source.commit(said[-1].position)
    every = replace(database.table("orders", "id int, n int", table_name="orders_.*"), anew=True)
    with world.source(every, after=said[-1].position) as source:
        assert bag(read_now(source, after=said[-1].position), "orders") == Counter({(1, 1): 3})


def test_the_others_go_on_while_a_new_table_waits_for_open_transactions(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source, database.client() as client, client.cursor() as cursor:
        held.read(source)
        # Open before there is a table that could be noticed.
        cursor.execute("SELECT pg_current_xact_id()")
        database.run("CREATE TABLE orders_2 (id int PRIMARY KEY, n int); INSERT INTO orders_2 VALUES (1, 1)")
        cursor.execute("INSERT INTO orders_2 VALUES (2, 2)")
        published = "SELECT count(*) FROM pg_publication_tables WHERE tablename = 'orders_2'"
        wait_for(lambda: database.run(published) == [(1,)])
        cursor.execute("INSERT INTO orders_2 VALUES (3, 3)")
        for number in range(20):
            database.run(
                "UPDATE orders_1 SET n = %s; UPDATE orders_2 SET n = %s WHERE id = 1", number, number
            )
            assert held.read(source) == at_server(database, "orders_1")
        client.commit()
        held.until(source, at_server(database, "orders_1", "orders_2"))
