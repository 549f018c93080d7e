"""A pipeline over all tables that match a pattern: they come, are emptied and go, and its views are right.

Oracle: the same query in Postgres over the tables there are.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.runtime.pipeline import Pipeline
from tests.pipeline.world import Listening, bag, command, pipeline, rows, source
from tests.postgres.world import Database, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm]

COLUMNS = """(
  shard STRING METADATA FROM 'table_name' VIRTUAL, id INT, n INT, PRIMARY KEY (shard, id) NOT ENFORCED
)"""
TOTALS = "SELECT shard, COUNT(*) AS orders, SUM(n) AS total FROM orders GROUP BY shard"


def at_server(*numbers: int) -> str:
    """The same over some tables of the server."""
    parts = [f"SELECT 'orders_{number}' AS shard, id, n FROM orders_{number}" for number in numbers]
    return TOTALS.replace("FROM orders", f"FROM ({' UNION ALL '.join(parts)}) orders")


def make(database: Database, number: int) -> None:
    database.run(f"CREATE TABLE orders_{number} (id int PRIMARY KEY, n int)")
    database.run(f"INSERT INTO orders_{number} SELECT i, i FROM generate_series(1, 10) i")


def settle(running: Pipeline, database: Database, *numbers: int) -> None:
    """Run until the view is what it should be."""

    def is_right() -> bool:
        running.run_once()
        return rows(running, "totals") == bag(database, at_server(*numbers))

    wait_for(is_right)


def test_views_follow_tables_that_come_and_go(database: Database, folder: Path) -> None:
    make(database, 1)
    make(database, 2)
    declared = source(database, "orders", COLUMNS, table_name=r"orders_\d+")
    script = (
        declared
        + f"CREATE VIEW totals AS {TOTALS};\nCREATE VIEW past AS SELECT op, before.id FROM CHANGES(orders);"
    )
    heard = Listening()
    with pipeline(script, folder, heard) as running:
        running.run_once()
        assert rows(running, "totals") == bag(database, at_server(1, 2))
        database.together("UPDATE orders_1 SET n = n + 100 WHERE id < 4", "DELETE FROM orders_2 WHERE id = 4")
        running.run_once()
        assert rows(running, "totals") == bag(database, at_server(1, 2))
        before = rows(running, "past").total()
        database.together("TRUNCATE orders_1", "INSERT INTO orders_1 VALUES (1, 1)")
        running.run_once()
        assert rows(running, "totals") == bag(database, at_server(1, 2))
        assert rows(running, "past").total() == before + 11
        make(database, 3)
        settle(running, database, 1, 2, 3)
        database.run("DROP TABLE orders_2")
        settle(running, database, 1, 3)
    make(database, 4)
    database.run("UPDATE orders_3 SET n = 0 WHERE id = 1")
    with pipeline(script, folder, heard) as running:
        running.run_once()
        assert rows(running, "totals") == bag(database, at_server(1, 3, 4))
    assert command("verify", "--state", folder / "state").code == 0
    ran = command("resnapshot", "orders", "--state", folder / "state")
    assert ran.code == 0, ran.err
    database.run("DROP TABLE orders_3; UPDATE orders_4 SET n = 7")
    with pipeline(script, folder, heard) as running:
        running.run_once()
        assert rows(running, "totals") == bag(database, at_server(1, 4))
