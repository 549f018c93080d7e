"""A capture over tables that match a pattern: it dies, is followed by another, and is sent large transactions.

Oracle: the rows of these tables at the server, each with the name of its table.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.postgres.shards import Holder, at_server, make, orders
from tests.postgres.streams import HELD, capturing, fill, was_streamed
from tests.postgres.test_postgres_earlier import killed
from tests.postgres.world import Database, World

pytestmark = pytest.mark.services


def test_a_capture_that_dies_while_tables_come_and_go_loses_nothing(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
        os.kill(source.capture_pid, signal.SIGKILL)
        database.run("DROP TABLE orders_2")
        make(database, "orders_3")
        database.run("UPDATE orders_3 SET n = 7; INSERT INTO orders_1 VALUES (2, 2)")
        held.until(source, at_server(database, "orders_1", "orders_3"))


def test_first_rows_of_all_tables_are_of_one_moment_also_after_a_crash(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2", "orders_3")
    database.run("INSERT INTO orders_2 SELECT i, 0 FROM generate_series(2, 20000) i")
    held = Holder(orders(database), tmp_path / "rows")
    assert killed(database, world, held.table) > 0
    make(database, "orders_4")
    database.run("UPDATE orders_2 SET n = n + 1 WHERE id % 13 = 0; UPDATE orders_1 SET n = 4")
    names = [f"orders_{number}" for number in range(1, 5)]
    with world.source(held.table) as source:
        first = source.read(None, 10, wait=120.0)
        assert first is not None
        held.take([first])
        assert held.rows() == at_server(database, *names)
        database.run("UPDATE orders_2 SET n = -n; DELETE FROM orders_4")
        assert held.read(source) == at_server(database, *names)
    assert [r.subject for r in world.reports if r.stage == "resume"]


@pytest.mark.parametrize("held_rows", HELD)
def test_a_large_transaction_over_several_tables_is_told_as_a_whole(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held_rows: int
) -> None:
    for name in ("orders_1", "orders_2"):
        database.run(f"CREATE TABLE {name} (id int PRIMARY KEY, n text)")
    held = Holder(orders(database, "shard string, id int, n string"), tmp_path / "rows")
    with capturing(database, world, monkeypatch, held.table, held=held_rows) as capture:
        with database.client() as client, client.cursor() as cursor:
            for step in range(4):
                fill(cursor, table="orders_1", first=100 * step)
                fill(cursor, table="orders_2", first=100 * step)
                cursor.execute("SAVEPOINT a")
                fill(cursor, table="orders_2", first=10_000)
                cursor.execute("ROLLBACK TO a")
            cursor.execute("TRUNCATE orders_1; DELETE FROM orders_2 WHERE id > 50")
            fill(cursor, table="orders_1", first=30)
            client.commit()
        held.take(capture.read())
        assert was_streamed(database)
    assert held.rows() == at_server(database, "orders_1", "orders_2")


def test_a_capture_that_dies_again_and_again_tells_everything_once(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1")
    held, dice = Holder(orders(database), tmp_path / "rows"), random.Random(35)
    alive = ["orders_1"]
    with world.source(held.table) as source:
        for number in range(2, 8):
            make(database, f"orders_{number}")
            alive.append(f"orders_{number}")
            if number % 3 == 0:
                database.run(f"DROP TABLE {alive.pop(0)}")
            for name in alive:
                database.together(f"UPDATE {name} SET n = n + 1", f"INSERT INTO {name} VALUES ({number}, 0)")
            begun = time.monotonic() + dice.uniform(0.0, 3.0)
            while time.monotonic() < begun:
                held.read(source)
            os.kill(source.capture_pid, signal.SIGKILL)
        held.until(source, at_server(database, *alive))
    database.run(f"TRUNCATE {alive[-1]}")
    with world.source(held.table, after=held.after) as source:
        assert held.read(source) == at_server(database, *alive)
