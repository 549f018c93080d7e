"""A table that is read again: its rows and the views over it are right, and nothing else is read again.

Oracle: the same query in Postgres. What stands in the saved state is damaged, so that only a new read can make it right.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.runtime.progress import Progress
from tests.pipeline.world import Listening, bag, command, pipeline, rows, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

TOTALS = "SELECT customer, SUM(amount) AS total FROM orders GROUP BY customer"
NAMES = "SELECT id, name FROM people"
BOTH = "SELECT p.name, o.amount FROM orders o JOIN people p ON p.id = o.customer"


def make(database: Database) -> str:
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer int, amount int)")
    database.run("CREATE TABLE people (id int PRIMARY KEY, name text)")
    for table in ("orders", "people"):
        database.run(f"ALTER TABLE {table} REPLICA IDENTITY FULL")
    database.run("INSERT INTO orders SELECT i, i % 3, i FROM generate_series(1, 30) i")
    database.run("INSERT INTO people VALUES (0, 'ann'), (1, 'bob'), (2, 'cleo')")
    views = f"CREATE VIEW totals AS {TOTALS};\nCREATE VIEW names AS {NAMES};\nCREATE VIEW pairs AS {BOTH};"
    return source(database, "orders") + source(database, "people") + views


def damage(state: Path, relation: str) -> None:
    """Take half of the rows away that are saved of a relation."""
    progress = Progress(state)
    path = progress.relations[relation].state.paths[-1]
    progress.close()
    table: pa.Table = pq.read_table(path, partitioning=None)
    path.unlink()
    pq.write_table(table.slice(0, table.num_rows // 2), path)


def test_a_table_is_read_again_while_the_others_go_on(database: Database, folder: Path) -> None:
    script = make(database)
    with pipeline(script, folder) as running:
        running.run_once()
    damage(folder / "state", "orders")
    ran = command("resnapshot", "orders", "--state", folder / "state")
    assert (ran.code, ran.out) == (
        0,
        "the rows of orders are read again at the next start\ncomputed anew then: totals, pairs\n",
    ), ran.err
    database.run("INSERT INTO people VALUES (3, 'dan'); UPDATE orders SET customer = 3 WHERE id = 7")
    heard = Listening()
    with pipeline(script, folder, heard) as running:
        running.run_once()
        database.run("UPDATE orders SET amount = 0 WHERE id = 8; DELETE FROM people WHERE id = 0")
        running.run_once()
        assert rows(running, "totals") == bag(database, TOTALS)
        assert rows(running, "names") == bag(database, NAMES)
        assert rows(running, "pairs") == bag(database, BOTH)
    assert heard.subjects("snapshot") == {"orders"}, "only this table is read again"
    assert len(database.slots()) == 1
    ran = command("verify", "--state", folder / "state")
    assert ran.code == 0, ran.out


def test_a_part_that_others_share_stays_as_it_is(database: Database, folder: Path) -> None:
    """Both views join the same aggregate of one table; the other table of one of them is read again."""
    largest = "(SELECT customer, MAX(amount) AS most FROM orders GROUP BY customer)"
    mine = f"SELECT p.name, m.most FROM people p JOIN {largest} m ON m.customer = p.id"
    other = f"SELECT v.id, m.most FROM visits v JOIN {largest} m ON m.customer = v.customer"
    script = make(database)
    database.run("CREATE TABLE visits (id int PRIMARY KEY, customer int)")
    database.run("INSERT INTO visits VALUES (1, 0), (2, 1)")
    script += source(database, "visits") + f"\nCREATE VIEW mine AS {mine};\nCREATE VIEW other AS {other};"
    with pipeline(script, folder) as running:
        running.run_once()
        assert {"mine", "other"} <= set(running.program.results)
    ran = command("resnapshot", "people", "--state", folder / "state")
    assert ran.code == 0, ran.err
    database.run("INSERT INTO visits VALUES (3, 2); DELETE FROM visits WHERE id = 1")
    with pipeline(script, folder) as running:
        running.run_once()
        assert rows(running, "other") == bag(database, other)
        assert rows(running, "mine") == bag(database, mine)


def test_a_table_that_is_not_there_is_named(database: Database, folder: Path) -> None:
    with pipeline(make(database), folder) as running:
        running.run_once()
    ran = command("resnapshot", "order", "--state", folder / "state")
    assert ran.code == 2
    assert "the pipeline has no table 'order'" in ran.err and "Did you mean 'orders'?" in ran.err


def test_an_interrupted_batch_comes_first(database: Database, folder: Path) -> None:
    script = make(database)
    with pipeline(script, folder) as running:
        running.run_once()
    progress = Progress(folder / "state")
    progress.plan(progress.batch_id + 1, progress.cut)
    progress.close()
    ran = command("resnapshot", "orders", "--state", folder / "state")
    assert ran.code == 1 and "was interrupted" in ran.err
