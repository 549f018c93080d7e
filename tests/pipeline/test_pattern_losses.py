"""A pipeline over all tables that match a pattern, of which one loses a column: what uses it stops, the rest goes on.

Oracle: the same query in Postgres over the tables there are; for what stopped, its answer before the change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.runtime.pipeline import Pipeline
from tests.pipeline.test_patterns import COLUMNS, TOTALS, at_server, make
from tests.pipeline.world import bag, command, pipeline, rows, source
from tests.postgres.world import Database, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm]

COUNTS = "SELECT shard, COUNT(*) AS orders, MAX(id) AS last FROM orders GROUP BY shard"


def counted(*numbers: int) -> str:
    """The counts over some tables of the server."""
    parts = [f"SELECT 'orders_{number}' AS shard, id FROM orders_{number}" for number in numbers]
    return COUNTS.replace("FROM orders", f"FROM ({' UNION ALL '.join(parts)}) orders")


def settle(running: Pipeline, database: Database, *numbers: int) -> None:
    """Run until the counts are what they should be."""

    def is_right() -> bool:
        running.run_once()
        return rows(running, "counts") == bag(database, counted(*numbers))

    wait_for(is_right)


def test_a_column_of_one_table_stops_what_uses_it_over_all_of_them(database: Database, folder: Path) -> None:
    make(database, 1)
    make(database, 2)
    script = source(database, "orders", COLUMNS, table_name=r"orders_\d+")
    script += f"CREATE VIEW totals AS {TOTALS};\nCREATE VIEW counts AS {COUNTS};"
    with pipeline(script, folder) as running:
        running.run_once()
        good = rows(running, "totals")
        assert good == bag(database, at_server(1, 2))
        database.run("ALTER TABLE orders_2 DROP COLUMN n; INSERT INTO orders_2 VALUES (20)")
        database.run("UPDATE orders_1 SET n = 100 WHERE id = 1; DELETE FROM orders_1 WHERE id > 8")
        running.run_once()
        assert rows(running, "counts") == bag(database, counted(1, 2))
        assert rows(running, "totals") == good, "the rows of the last good cut"
        assert set(running.stopped) == {"totals"}
        assert "column 'n' of table 'orders (public.orders_2)' is gone" in running.stopped["totals"].message
        make(database, 3)
        settle(running, database, 1, 2, 3)
        database.run("DROP TABLE orders_2; DELETE FROM orders_3 WHERE id < 3")
        settle(running, database, 1, 3)
        assert rows(running, "totals") == good
    with pipeline(script, folder) as running:
        database.run("UPDATE orders_1 SET n = 0 WHERE id = 2; DELETE FROM orders_3 WHERE id = 5")
        running.run_once()
        assert rows(running, "counts") == bag(database, counted(1, 3))
        assert set(running.stopped) == {"totals"} and rows(running, "totals") == good
    ran = command("resnapshot", "orders", "--state", folder / "state")
    assert ran.code == 0, ran.err
    with pipeline(script, folder) as running:
        running.run_once()
        assert running.stopped == {}
        assert rows(running, "totals") == bag(database, at_server(1, 3))
