"""Rows of Postgres that do not fit, in whole pipelines: views over those that do, and headwater.dead_letters.

Oracle: the same query in Postgres, over the rows that fit.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from headwater.errors import HeadwaterError
from headwater.runtime.letters import letters_in
from headwater.sources.dead_letters import TABLE
from tests.pipeline.test_crash import dying
from tests.pipeline.world import Bag, Listening, bag, command, pipeline, rows, sink, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

COLUMNS = "(id INT, customer STRING, amount DECIMAL(5, 2), PRIMARY KEY (id) NOT ENFORCED)"
TOTALS = "SELECT customer, SUM(amount) AS total, COUNT(*) AS n FROM orders"
FITTING = f"{TOTALS} WHERE amount < 1000 GROUP BY customer"
LETTERS = "SELECT table_name, column_name, CAST(value AS STRING) AS said, error, position FROM headwater.dead_letters"
TARGET = "(said STRING, position STRING, PRIMARY KEY (said, position) NOT ENFORCED)"


EXPECTED = Counter(
    {
        ("orders", "amount", '{"id": "10", "customer": "c1", "amount": "NaN"}'): 1,
        ("orders", "amount", '{"id": "1", "customer": "c1", "amount": "5000"}'): 1,
    }
)


def make(database: Database, identity: str = "DEFAULT") -> None:
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, amount numeric)")
    database.run(f"ALTER TABLE orders REPLICA IDENTITY {identity}")
    database.run("INSERT INTO orders SELECT i, 'c' || i % 3, i * 100 FROM generate_series(1, 12) i")


def script(database: Database, **options: str) -> str:
    views = f"CREATE VIEW totals AS {TOTALS} GROUP BY customer;\n"
    if options:
        views += f"CREATE VIEW letters AS {LETTERS};\n"
    return source(database, "orders", COLUMNS, **options) + views


def told(found: Bag) -> Bag:
    """Of each letter the table, the column and the row."""
    return Counter({row[:3]: count for row, count in found.items()})


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL"])
def test_a_pipeline_that_stopped_goes_on_with_letters(
    database: Database, folder: Path, identity: str
) -> None:
    make(database, identity)
    database.run("DELETE FROM orders WHERE id > 9")
    with pipeline(script(database), folder) as running:
        running.run_once()
        database.run("INSERT INTO orders VALUES (10, 'c1', 'NaN'), (11, 'c1', 0.5)")
        with pytest.raises(HeadwaterError, match="does not fit") as stopped:
            running.run_once()
    assert "dead-letter" in (stopped.value.hint or "")
    parked = script(database, errors="dead-letter")
    with pipeline(parked, folder) as running:
        running.run_once()
        assert rows(running, "totals") == bag(database, FITTING)
        database.together(
            "UPDATE orders SET amount = 5000 WHERE id = 1",
            "UPDATE orders SET amount = 1 WHERE id = 10",
            "DELETE FROM orders WHERE id = 2",
        )
        running.run_once()
        assert rows(running, "totals") == bag(database, FITTING)
    with pipeline(parked, folder) as running:
        database.run("DELETE FROM orders WHERE id = 1; UPDATE orders SET amount = 0.25 WHERE id = 11")
        running.run_once()
        assert rows(running, "totals") == bag(database, FITTING)
        assert told(rows(running, "letters")) == EXPECTED
    _refused_back(database, folder)


def _refused_back(database: Database, folder: Path) -> None:
    """A start that wants all rows again is refused, and leaves the letters where they are."""
    with pytest.raises(HeadwaterError, match="were put aside"), pipeline(script(database), folder):
        pass
    with pipeline(script(database, errors="dead-letter"), folder) as running:
        running.run_once()
        assert told(rows(running, "letters")) == EXPECTED
    assert command("verify", "--state", folder / "state").code == 0


@pytest.mark.parametrize("where", ["before the sink", "after the sink"])
@pytest.mark.parametrize("first", [True, False], ids=["first batch", "later batch"])
def test_a_batch_that_is_repeated_has_its_letters_once(
    database: Database, folder: Path, where: str, first: bool
) -> None:
    make(database)
    database.run("CREATE TABLE target (said text, position text, PRIMARY KEY (said, position))")
    text = script(database, errors="dead-letter") + sink(database, "target", TARGET)
    text += "INSERT INTO target SELECT said, position FROM letters;"
    with pipeline(text, folder) as running:
        if not first:
            running.run_once()
            database.run("UPDATE orders SET amount = 2000 WHERE id < 5")
        with dying(running, where):
            running.run_once()
    with pipeline(text, folder) as running:
        running.run_once()
        assert rows(running, "totals") == bag(database, FITTING)
        found = rows(running, "letters")
        assert sum(found.values()) == len(found) == (3 if first else 7)
    assert bag(database, "SELECT said, position FROM target") == Counter((row[2], row[4]) for row in found)


def test_a_large_value_that_nobody_knows_is_refused(database: Database, folder: Path) -> None:
    """The row did not fit, so that its large value is not in State; the log does not send it again."""
    make(database)
    database.run("ALTER TABLE orders ALTER customer SET STORAGE EXTERNAL")
    parked = script(database, errors="dead-letter")
    with pipeline(parked, folder) as running:
        running.run_once()
        # The second change sends what it changes, so that nothing of before may be taken for it.
        database.run("UPDATE orders SET customer = repeat('old', 3000) WHERE id = 1")
        running.run_once()
        database.run("UPDATE orders SET amount = 5000, customer = repeat('new', 3000) WHERE id = 1")
        database.run("UPDATE orders SET amount = 7 WHERE id = 1")
        with pytest.raises(HeadwaterError, match="not all of the row was sent") as refused:
            running.run_once()
    assert "headwater.dead_letters" in (refused.value.detail or "")
    assert "resnapshot orders" in (refused.value.hint or "")
    database.run("ALTER TABLE orders REPLICA IDENTITY FULL")
    assert command("resnapshot", "orders", "--state", folder / "state").code == 0
    with pipeline(parked, folder) as running:
        running.run_once()
        assert rows(running, "totals") == bag(database, FITTING)
        database.run("UPDATE orders SET amount = 5000 WHERE id = 1")
        database.run("UPDATE orders SET amount = 8 WHERE id = 1")
        running.run_once()
        assert rows(running, "totals") == bag(database, FITTING)


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL"])
def test_the_changes_of_a_table_are_those_of_rows_that_fit(
    database: Database, folder: Path, identity: str
) -> None:
    make(database, identity)
    asked = "CREATE VIEW told AS SELECT op, before.amount AS b, after.amount AS a FROM CHANGES(orders);"
    with pipeline(script(database, errors="dead-letter") + asked, folder) as running:
        running.run_once()
        before = rows(running, "told")
        database.together(
            "UPDATE orders SET amount = 5000 WHERE id = 1",
            "UPDATE orders SET amount = 2 WHERE id = 2",
            "UPDATE orders SET amount = 3 WHERE id = 12",
            "UPDATE orders SET amount = 6000 WHERE id = 10",
            "DELETE FROM orders WHERE id = 11",
        )
        running.run_once()
        found = rows(running, "told") - before
    # By its key alone nobody can say of an update whether the row was there before.
    came = "c" if identity == "FULL" else "u"
    assert {(op, *map(str, row)) for op, *row in found} == {
        ("d", "100.00", "None"),
        ("u", "200.00", "2.00"),
        (came, "None", "3.00"),
    }


@pytest.mark.parametrize("where", ["before the sink", "after the sink"])
def test_letters_that_are_dropped_go_once_whoever_dies(database: Database, folder: Path, where: str) -> None:
    make(database)
    database.run("CREATE TABLE target (name text PRIMARY KEY, n bigint)")
    counts = "(name STRING, n BIGINT, PRIMARY KEY (name) NOT ENFORCED)"
    text = script(database, errors="dead-letter") + sink(database, "target", counts)
    text += "INSERT INTO target SELECT column_name, COUNT(*) FROM letters GROUP BY column_name;"
    with pipeline(text, folder) as running:
        running.run_once()
        ids = [one["letter"] for one in letters_in(running.engine, running.states[TABLE], 10)]
        assert len(ids) == 3
        running.letters.drop(ids[:2])
        with dying(running, where):
            running.run_once()
    heard = Listening()
    with pipeline(text, folder, heard) as running:
        running.run_once()
        left = letters_in(running.engine, running.states[TABLE], 10)
        assert [one["letter"] for one in left] == ids[2:]
        assert bag(database, "SELECT * FROM target") == Counter({("amount", 1): 1})
        database.run("UPDATE orders SET amount = 2000 WHERE id = 1")
        running.run_once()
    assert bag(database, "SELECT * FROM target") == Counter({("amount", 2): 1})
    assert [done.is_repeat for done in heard.batches] == [True, False]
