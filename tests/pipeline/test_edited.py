"""An edited script on the same state: what did not change is kept, what did is computed anew, and no sink keeps old rows.

Oracle: the same queries in Postgres.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import HeadwaterError
from headwater.runtime.pipeline import Pipeline
from tests.pipeline.world import Listening, bag, command, pipeline, rows, sink, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

KEY = "PRIMARY KEY (id) NOT ENFORCED"
ORDERS = f"(id INT, customer STRING, amount INT, {KEY})"
COUNTS = "CREATE VIEW counts AS SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer;\n"
COUNTS_QUERY = "SELECT customer, COUNT(*) FROM orders GROUP BY customer"


@pytest.fixture
def shop(database: Database) -> Database:
    """Orders and customers."""
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, amount int, note text)")
    database.run(
        "INSERT INTO orders SELECT n, 'c' || n % 5, n * 10, 'note ' || n FROM generate_series(1, 20) n"
    )
    database.run("CREATE TABLE customers (name text PRIMARY KEY, city text)")
    database.run("INSERT INTO customers SELECT 'c' || n, 'city ' || n % 2 FROM generate_series(0, 4) n")
    database.run("CREATE TABLE target (customer text PRIMARY KEY, total bigint)")
    return database


def caught_up(running: Pipeline) -> Pipeline:
    """The pipeline at the present."""
    running.run_once()
    return running


def total(condition: str) -> str:
    """Totals of the orders that meet a condition."""
    return f"SELECT customer, SUM(amount) FROM orders WHERE {condition} GROUP BY customer"


def to_target(shop: Database, condition: str) -> str:
    """The totals, written to the target."""
    columns = "(customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED)"
    return sink(shop, "target", columns) + f"INSERT INTO target {total(condition)};\n"


def test_a_changed_view_is_computed_anew_and_its_sink_holds_exactly_the_new_rows(
    shop: Database, folder: Path
) -> None:
    base = source(shop, "orders", ORDERS) + COUNTS
    with pipeline(base + to_target(shop, "amount > 0"), folder) as running:
        caught_up(running)
        assert bag(shop, "SELECT * FROM target") == bag(shop, total("amount > 0"))
    shop.run("DELETE FROM orders WHERE id = 20")
    heard = Listening()
    narrower = "amount > 30 AND customer <> 'c1'"
    with pipeline(base + to_target(shop, narrower), folder, heard) as running:
        caught_up(running)
        assert bag(shop, "SELECT * FROM target") == bag(shop, total(narrower))
        assert rows(running, "counts") == bag(shop, COUNTS_QUERY)
    assert heard.subjects("recompute") == {"insert_target"}
    assert heard.subjects("resume") == {"keeps orders, counts"}
    assert heard.subjects("snapshot") == set()


def test_an_edit_is_told_on_the_command_line(shop: Database, folder: Path) -> None:
    script, state = folder / "shop.sql", folder / "state"
    for condition, told in (("amount > 0", ""), ("amount > 50", "computing anew: insert_target")):
        script.write_text(source(shop, "orders", ORDERS) + COUNTS + to_target(shop, condition))
        ran = command("run", script, "--once", "--state", state)
        assert ran.code == 0 and told in ran.err, ran.err
        assert bag(shop, "SELECT * FROM target") == bag(shop, total(condition))
    assert "keeps orders, counts" in ran.err and "snapshot of" not in ran.err


def test_a_table_added_later_gets_its_snapshot_and_the_others_go_on(shop: Database, folder: Path) -> None:
    base = source(shop, "orders", ORDERS) + COUNTS
    with pipeline(base, folder) as running:
        caught_up(running)
    shop.run("INSERT INTO orders VALUES (21, 'c0', 5)")
    shop.run("UPDATE customers SET city = 'far' WHERE name = 'c3'")
    cities = "SELECT city, SUM(amount) AS total FROM orders JOIN customers ON customer = name GROUP BY city"
    heard = Listening()
    with pipeline(
        base + source(shop, "customers") + f"CREATE VIEW cities AS {cities};", folder, heard
    ) as running:
        caught_up(running)
        assert rows(running, "cities") == bag(shop, cities)
        assert rows(running, "counts") == bag(shop, COUNTS_QUERY)
        shop.together(
            "DELETE FROM customers WHERE name = 'c1'", "UPDATE orders SET customer = 'c2' WHERE id < 5"
        )
        caught_up(running)
        assert rows(running, "cities") == bag(shop, cities)
        assert rows(running, "counts") == bag(shop, COUNTS_QUERY)
    assert heard.subjects("snapshot") == {"customers"}


NAMES = "CREATE VIEW names AS SELECT COUNT(*) AS n, MAX(city) AS city FROM customers;"


@pytest.mark.parametrize("changes", [True, False], ids=["changes between", "nothing between"])
def test_a_table_that_goes_and_comes_back_is_read_anew(shop: Database, folder: Path, changes: bool) -> None:
    base, both = source(shop, "orders", ORDERS) + COUNTS, source(shop, "customers") + NAMES
    with pipeline(base + both, folder) as running:
        caught_up(running)
    with pipeline(base, folder) as running:
        caught_up(running)
        shop.run("INSERT INTO customers VALUES ('c7', 'new')")
        if changes:
            shop.run("INSERT INTO orders VALUES (30, 'c7', 1)")
        caught_up(running)
    shop.run("DELETE FROM customers WHERE name = 'c0'")
    with pipeline(base + both, folder) as running:
        caught_up(running)
        assert rows(running, "names") == bag(shop, "SELECT COUNT(*), MAX(city) FROM customers")
        assert rows(running, "counts") == bag(shop, COUNTS_QUERY)


EDITS: dict[str, tuple[bool, dict[str, str]]] = {
    # What is edited, whether the table has to be read anew, and the edited options.
    "as it was": (False, {}),
    "a column more": (True, {"columns": f"(id INT, customer STRING, amount INT, note STRING, {KEY})"}),
    "a column less": (True, {"columns": f"(id INT, customer STRING, {KEY})"}),
    "another type": (True, {"columns": f"(id BIGINT, customer STRING, amount BIGINT, {KEY})"}),
    "no list": (True, {"columns": ""}),
    "a list again": (True, {}),
    "a computed column": (
        False,
        {"columns": f"(id INT, customer STRING, amount INT, twice AS amount * 2, {KEY})"},
    ),
    "another role": (False, {"username": "somebody", "password": "somebody"}),
    "another mode": (False, {"scan__startup__mode": "latest-offset"}),
    "an option without effect": (False, {"debezium__decimal__handling__mode": "string"}),
}


def test_whatever_is_edited_of_a_table_its_views_stay_right(shop: Database, folder: Path) -> None:
    if not shop.run("SELECT 1 FROM pg_roles WHERE rolname = 'somebody'"):
        shop.run("CREATE ROLE somebody LOGIN SUPERUSER PASSWORD 'somebody'")
    with pipeline(source(shop, "orders", ORDERS) + COUNTS, folder) as running:
        caught_up(running)
    for number, (edit, (is_new, options)) in enumerate(EDITS.items()):
        given = dict(options)
        script = source(shop, "orders", given.pop("columns", ORDERS), **given) + COUNTS
        shop.run("INSERT INTO orders VALUES (%s, %s, 3)", 40 + number, f"edit {number}")
        shop.run("DELETE FROM orders WHERE id = %s", 3 + number)
        heard = Listening()
        with pipeline(script, folder, heard) as running:
            caught_up(running)
            assert rows(running, "counts") == bag(shop, COUNTS_QUERY), edit
            assert heard.subjects("snapshot") == ({"orders"} if is_new else set()), edit
            shop.run("UPDATE orders SET customer = 'c' || (id + 1) % 5 WHERE id < 30")
            caught_up(running)
            assert rows(running, "counts") == bag(shop, COUNTS_QUERY), edit


def test_an_edit_that_is_taken_back_before_it_was_computed_harms_nothing(
    shop: Database, folder: Path
) -> None:
    first = source(shop, "orders", ORDERS) + COUNTS
    with pipeline(first, folder) as running:
        caught_up(running)
    edited = source(shop, "orders", f"(id INT, customer STRING, note STRING, {KEY})") + COUNTS
    with pipeline(edited, folder):
        shop.run("INSERT INTO orders VALUES (50, 'c8', 1)")
    with pipeline(first, folder) as running:
        caught_up(running)
        assert rows(running, "counts") == bag(shop, COUNTS_QUERY)


def test_a_sink_that_gets_another_column_holds_no_row_of_the_old_result(shop: Database, folder: Path) -> None:
    base = source(shop, "orders", ORDERS)
    with pipeline(base + to_target(shop, "amount > 0"), folder) as running:
        caught_up(running)
    shop.run("ALTER TABLE target ADD COLUMN n bigint")
    columns = "(customer STRING, total BIGINT, n BIGINT, PRIMARY KEY (customer) NOT ENFORCED)"
    query = "SELECT customer, SUM(amount), COUNT(*) FROM orders WHERE customer <> 'c1' GROUP BY customer"
    with pipeline(base + sink(shop, "target", columns) + f"INSERT INTO target {query};", folder) as running:
        caught_up(running)
        assert bag(shop, "SELECT customer, total, n FROM target") == bag(shop, query)


def test_a_database_that_is_read_no_more_loses_its_slot(shop: Database, folder: Path) -> None:
    base = source(shop, "orders", ORDERS) + COUNTS
    with pipeline(base, folder) as running:
        caught_up(running)
    (slot,) = shop.slots()
    heard = Listening()
    with pipeline(base.replace("'127.0.0.1'", "'localhost'"), folder, heard) as running:
        caught_up(running)
        assert rows(running, "counts") == bag(shop, COUNTS_QUERY)
        (other,) = shop.slots()
        assert other != slot and shop.publications() == [other]
    assert any(subject.startswith("no longer reads") for subject in heard.subjects("resume"))


def test_another_name_on_the_same_state_is_told(shop: Database, folder: Path) -> None:
    script = source(shop, "orders", ORDERS) + COUNTS
    with pipeline(script, folder) as running:
        caught_up(running)
    with pytest.raises(HeadwaterError) as told, pipeline("SET 'pipeline.name' = 'other';\n" + script, folder):
        pass
    assert told.value.hint
