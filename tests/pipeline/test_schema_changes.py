"""Tables that change under a pipeline: what uses a column that is lost stops and keeps its rows, all others go on.

Oracle: the same query in Postgres for what goes on; for what stopped, its answer before the change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import SourceError
from headwater.runtime.pipeline import Pipeline
from tests.pipeline.world import Listening, bag, command, pipeline, rows, sink, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

COLUMNS = "(id INT, customer INT, amount INT, note STRING, PRIMARY KEY (id) NOT ENFORCED)"

VIEWS = {
    "totals": "SELECT customer, SUM(amount) AS total FROM orders GROUP BY customer",
    "big": "SELECT customer, total FROM totals WHERE total > 50",
    "firsts": "SELECT customer, MIN(id) AS id FROM orders GROUP BY customer",
    "counted": "SELECT COUNT(*) AS n FROM orders",
    "pairs": "SELECT p.name, o.note FROM orders o JOIN people p ON p.id = o.customer",
    "lonely": "SELECT p.name FROM people p LEFT JOIN orders o ON o.customer = p.id WHERE o.id IS NULL",
    "kinds": "SELECT DISTINCT customer, note FROM orders",
    "ranked": "SELECT id, note FROM (SELECT id, note, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id) AS r"
    " FROM orders) q WHERE r <= 2",
    "names": "SELECT id, name FROM people",
}
USING = ("totals", "big")
"""Those that use `amount`; all others go on without it."""
OTHERS = tuple(name for name in VIEWS if name not in USING)


def make(database: Database, *, columns: str = COLUMNS, full: bool = True) -> str:
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer int, amount int, note text)")
    database.run("CREATE TABLE people (id int PRIMARY KEY, name text)")
    if full:
        database.run("ALTER TABLE orders REPLICA IDENTITY FULL")
    database.run("INSERT INTO orders SELECT i, i % 3, i, 'n' || i % 4 FROM generate_series(1, 30) i")
    database.run("INSERT INTO people VALUES (0, 'ann'), (1, 'bob'), (2, 'cleo'), (9, 'zoe')")
    database.run("CREATE TABLE sums (customer int PRIMARY KEY, total bigint)")
    database.run("CREATE TABLE kept (id int PRIMARY KEY, note text)")
    views = "".join(f"CREATE VIEW {name} AS {query};\n" for name, query in VIEWS.items())
    key = "(customer INT, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED)"
    sinks = sink(database, "sums", key) + "INSERT INTO sums SELECT * FROM totals;\n"
    sinks += sink(database, "kept", "(id INT, note STRING, PRIMARY KEY (id) NOT ENFORCED)")
    sinks += "INSERT INTO kept SELECT id, note FROM orders;\n"
    return source(database, "orders", columns) + source(database, "people") + views + sinks


def change_rows(database: Database) -> None:
    """Let rows come, change and go, old ones and new ones, without `amount`."""
    database.run("INSERT INTO orders (id, customer, note) VALUES (100, 0, 'new'), (101, 9, 'new')")
    database.run("UPDATE orders SET note = 'other', customer = 2 WHERE id IN (4, 100)")
    database.run("DELETE FROM orders WHERE id IN (5, 101)")
    database.run("UPDATE people SET name = 'bea' WHERE id = 1")


def check_others(running: Pipeline, database: Database) -> None:
    """What does not use the column is what Postgres answers."""
    for name in OTHERS:
        assert rows(running, name) == bag(database, VIEWS[name]), name
    assert bag(database, "SELECT * FROM kept") == bag(database, "SELECT id, note FROM orders")


@pytest.mark.parametrize("full", [True, False], ids=["whole rows", "keys"])
def test_what_uses_a_dropped_column_stops_and_the_others_go_on(
    database: Database, folder: Path, full: bool
) -> None:
    script, heard = make(database, full=full), Listening()
    with pipeline(script, folder, heard) as running:
        running.run_once()
        database.run("UPDATE orders SET amount = 1000 WHERE id = 1")
        running.run_once()
        good = {name: rows(running, name) for name in USING}
        assert good["totals"] == bag(database, VIEWS["totals"])
        database.together(
            "INSERT INTO orders VALUES (50, 1, 7, 'x')",
            "ALTER TABLE orders DROP COLUMN amount",
            "INSERT INTO orders VALUES (51, 1, 'y')",
            "DELETE FROM orders WHERE id = 50",
        )
        running.run_once()
        check_others(running, database)
        change_rows(database)
        running.run_once()
        check_others(running, database)
        assert {name: rows(running, name) for name in USING} == good, "the rows of the last good cut"
        assert set(running.stopped) == {*USING, "insert_sums"}
        error = running.stopped["totals"]
        assert error.message == "\"totals\" has stopped: column 'amount' of table 'orders' is gone"
        assert "now has the columns id, customer, note" in error.detail and "Remove it" in error.hint
    (told,) = heard.subjects("stopped")
    assert told.startswith("totals, big, insert_sums: column 'amount' of table 'orders' is gone")
    with pipeline(script, folder, again := Listening()) as running:
        change_rows_again(database)
        running.run_once()
        check_others(running, database)
        assert {name: rows(running, name) for name in USING} == good
        assert bag(database, "SELECT * FROM sums") == good["totals"]
        assert set(running.stopped) == {*USING, "insert_sums"}
    assert again.subjects("stopped") == {told} and again.subjects("snapshot") == set()
    ran = command("verify", "--state", folder / "state")
    assert ran.code == 1
    assert ran.out.count("has stopped") == 3 and "firsts" not in ran.out


def change_rows_again(database: Database) -> None:
    database.run("UPDATE orders SET note = 'last' WHERE id IN (51, 6); DELETE FROM orders WHERE id = 7")


def test_what_uses_a_column_renamed_while_we_are_down_stops_until_it_is_declared(
    database: Database, folder: Path
) -> None:
    script = make(database)
    with pipeline(script, folder) as running:
        running.run_once()
    database.run("UPDATE orders SET amount = 500 WHERE id = 2")
    good = bag(database, VIEWS["totals"])
    database.run("ALTER TABLE orders RENAME amount TO price")
    change_rows(database)
    with pipeline(script, folder) as running:
        running.run_once()
        check_others(running, database)
        assert set(running.stopped) == {*USING, "insert_sums"}
        assert "renamed to 'price'" in running.stopped["big"].detail
        assert "use 'price' instead" in running.stopped["big"].hint
        assert rows(running, "totals") == good, "it followed up to the change"
    (folder / "pipeline.sql").write_text(script)
    ran = command("run", folder / "pipeline.sql", "--once", "--state", folder / "state")
    assert ran.code == 1 and "stopped: totals, big, insert_sums: column 'amount'" in ran.err, ran.err
    mended = script.replace("amount INT", "price INT").replace("SUM(amount)", "SUM(price)")
    with pipeline(mended, folder, heard := Listening()) as running:
        running.run_once()
        assert running.stopped == {} and heard.subjects("snapshot") == {"orders"}
        check_others(running, database)
        answer = bag(database, VIEWS["totals"].replace("amount", "price"))
        assert rows(running, "totals") == answer == bag(database, "SELECT * FROM sums")


def test_a_pipeline_of_which_nothing_is_left_ends_with_the_error(database: Database, folder: Path) -> None:
    make(database)
    script = source(database, "orders", COLUMNS) + f"CREATE VIEW totals AS {VIEWS['totals']};"
    with pipeline(script, folder) as running:
        running.run_once()
        good = rows(running, "totals")
        database.run("ALTER TABLE orders ALTER amount TYPE date USING NULL; DELETE FROM orders WHERE id = 3")
        with pytest.raises(SourceError, match="can no longer be read as int") as raised:
            running.run_once()
        assert raised.value.place is not None and raised.value.hint
        assert rows(running, "totals") == good
    (folder / "pipeline.sql").write_text(script)
    ran = command("run", folder / "pipeline.sql", "--once", "--state", folder / "state")
    assert ran.code == 1
    assert (
        "error: \"totals\" has stopped: column 'amount' of table 'orders' can no longer be read as int"
        in ran.err
    )
    database.run("ALTER TABLE orders ALTER amount TYPE int USING 4")
    assert command("resnapshot", "orders", "--state", folder / "state").code == 0
    with pipeline(script, folder) as running:
        running.run_once()
        assert running.stopped == {}
        assert rows(running, "totals") == bag(database, VIEWS["totals"])


def test_a_table_that_loses_its_key_stops_what_reads_it(database: Database, folder: Path) -> None:
    script = make(database, full=False)
    with pipeline(script, folder) as running:
        running.run_once()
        good = rows(running, "counted")
        database.run("ALTER TABLE orders RENAME id TO number; DELETE FROM orders WHERE number = 3")
        database.run("INSERT INTO people VALUES (10, 'dan')")
        running.run_once()
        assert set(running.stopped) == {*VIEWS, "insert_sums", "insert_kept"} - {"names"}
        assert rows(running, "counted") == good
        assert rows(running, "names") == bag(database, VIEWS["names"])
