"""Columns that the server adds or drops under tables that are declared without a column list.

Oracle: the same query in Postgres; the columns a view was made with, written down by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import SqlError
from tests.pipeline.world import Listening, bag, command, pipeline, rows, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

STAR = "CREATE VIEW everything AS SELECT * FROM orders;\n"
TOTALS = "CREATE VIEW totals AS SELECT customer, SUM(amount) AS total FROM orders GROUP BY customer;\n"
COUNTED = "CREATE VIEW counted AS SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer;\n"
NAMES = "CREATE VIEW names AS SELECT * FROM people;\n"


def query(view: str) -> str:
    return view.split(" AS ", 1)[1].rstrip(";\n")


def make(database: Database) -> str:
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer int, amount int)")
    database.run("CREATE TABLE people (id int PRIMARY KEY, name text)")
    database.run("INSERT INTO orders SELECT i, i % 3, i FROM generate_series(1, 30) i")
    database.run("INSERT INTO people VALUES (0, 'ann'), (1, 'bob')")
    return source(database, "orders") + source(database, "people")


def test_a_table_gets_a_new_column_and_a_view_keeps_those_it_was_made_with(
    database: Database, folder: Path
) -> None:
    tables = make(database)
    script, seen = tables + STAR + TOTALS + NAMES, "SELECT id, customer, amount FROM orders"
    with pipeline(script, folder) as running:
        running.run_once()
        database.run("ALTER TABLE orders ADD COLUMN note text DEFAULT 'none', ADD COLUMN n int")
        database.run(
            "INSERT INTO orders VALUES (31, 1, 5, 'new', 1); UPDATE orders SET note = 'x' WHERE id < 4"
        )
        running.run_once()
        assert running.stopped == {} and rows(running, "everything") == bag(database, seen)
    database.run("ALTER TABLE orders ADD COLUMN made int DEFAULT (random() * 100)")
    with pipeline(script, folder, again := Listening()) as running:
        database.run("DELETE FROM orders WHERE id = 5")
        running.run_once()
        assert running.schema("everything").names == ("id", "customer", "amount")
        assert rows(running, "everything") == bag(database, seen)
    assert again.subjects("snapshot") == set(), "nobody asks for the new column"
    notes = "CREATE VIEW notes AS SELECT id, note, n, made FROM orders;\n"
    newest = "CREATE VIEW newest AS SELECT * FROM orders;\n"
    with pipeline(script + notes + newest, folder, heard := Listening()) as running:
        running.run_once()
        assert rows(running, "notes") == bag(database, query(notes)), "also in rows that were there before"
        assert running.schema("newest").names == ("id", "customer", "amount", "note", "n", "made")
        assert running.schema("everything").names == ("id", "customer", "amount")
        assert rows(running, "everything") == bag(database, seen)
    assert heard.subjects("snapshot") == {"orders"}, "the other table is not read again"
    with pipeline(script + notes + newest, folder) as running:
        database.run("UPDATE orders SET note = 'y', amount = 0 WHERE id = 9")
        running.run_once()
        assert running.schema("everything").names == ("id", "customer", "amount")
        for view in (TOTALS, notes, newest, NAMES):
            assert rows(running, view.split()[2]) == bag(database, query(view))
    assert command("verify", "--state", folder / "state").code == 0


def test_a_column_that_is_dropped_stops_what_uses_it_also_after_a_restart(
    database: Database, folder: Path
) -> None:
    tables = make(database)
    script = tables + STAR + TOTALS + COUNTED + NAMES
    with pipeline(script, folder) as running:
        running.run_once()
        good = rows(running, "totals")
    database.run("ALTER TABLE orders DROP COLUMN amount; INSERT INTO orders VALUES (40, 0)")
    for _ in range(2):
        with pipeline(script, folder, heard := Listening()) as running:
            database.run("UPDATE orders SET customer = customer + 1 WHERE id IN (3, 40)")
            running.run_once()
            assert set(running.stopped) == {"everything", "totals"}
            assert rows(running, "totals") == good
            assert rows(running, "counted") == bag(database, query(COUNTED))
        assert heard.subjects("snapshot") == set()
    unmended = script + COUNTED.replace("counted", "other")
    with pytest.raises(SqlError, match='column "amount" does not exist'), pipeline(unmended, folder):
        pass
    mended = tables + STAR + COUNTED.replace("counted", "other") + COUNTED + NAMES
    with pipeline(mended, folder) as running:
        running.run_once()
        assert running.stopped == {}
        assert running.schema("everything").names == ("id", "customer")
        assert rows(running, "everything") == bag(database, "SELECT id, customer FROM orders")
        assert rows(running, "other") == bag(database, query(COUNTED))
