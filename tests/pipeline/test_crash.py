"""A crash at the worst moments: a batch that was begun is done again, exactly, and only by the script that began it.

Oracle: the same query in Postgres; and which rows the sink has in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from headwater.errors import AwayError, HeadwaterError
from headwater.runtime.pipeline import Pipeline
from tests.ends.lossy import Lossy
from tests.pipeline.world import Listening, bag, pipeline, rows, sink, source
from tests.postgres.world import Database, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm]

SINK = "SELECT customer, total FROM target"
QUERY = "SELECT customer, SUM(amount) FROM orders GROUP BY customer"
ORDERS = "(id INT, customer STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)"
TOTALS = "(customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED)"


class Crash(BaseException):
    """The process died here."""


@pytest.fixture
def shop(database: Database) -> Database:
    """Orders and a target."""
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, amount int)")
    database.run("INSERT INTO orders SELECT n, 'c' || n % 3, n FROM generate_series(1, 9) n")
    database.run("CREATE TABLE target (customer text PRIMARY KEY, total bigint)")
    return database


def script(shop: Database, condition: str = "") -> str:
    """The totals of all orders, or of some."""
    query = QUERY.replace(" GROUP", f" {condition} GROUP")
    return source(shop, "orders", ORDERS) + sink(shop, "target", TOTALS) + f"INSERT INTO target {query};"


@contextmanager
def dying(running: Pipeline, where: str) -> Iterator[None]:
    """Let the next batch die after its cut was written down, or after the sink has it."""

    def die(*_: object, **__: object) -> None:
        raise Crash

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Crash):
        if where == "before the sink":
            for one in running.ends.sinks.values():
                patch.setattr(one, "write", die)
        else:
            patch.setattr(running.progress, "commit", die)
        yield


@pytest.mark.parametrize("where", ["before the sink", "after the sink"])
@pytest.mark.parametrize("first", [True, False], ids=["first batch", "later batch"])
def test_a_batch_that_was_begun_is_done_again_by_the_script_that_began_it(
    shop: Database, folder: Path, where: str, first: bool
) -> None:
    with pipeline(script(shop), folder) as running:
        if not first:
            running.run_once()
            shop.together(
                "UPDATE orders SET customer = 'new' WHERE id = 1", "DELETE FROM orders WHERE id = 2"
            )
        expected = bag(shop, QUERY)
        with dying(running, where):
            running.run_once()
    assert (bag(shop, SINK) == expected) == (where == "after the sink")
    shop.run("UPDATE orders SET amount = amount + 100, customer = 'late' WHERE id > 6")
    with pytest.raises(HeadwaterError) as told, pipeline(script(shop, "WHERE amount > 3"), folder):
        pass
    assert "was interrupted" in told.value.message and "former script" in told.value.hint
    with pipeline(script(shop), folder) as running:
        running.run_once()
        assert bag(shop, SINK) == bag(shop, QUERY)
    with pipeline(script(shop, "WHERE amount > 3"), folder) as running:
        running.run_once()
    assert bag(shop, SINK) == bag(shop, QUERY.replace(" GROUP", " WHERE amount > 3 GROUP"))


def test_a_view_that_waits_for_a_snapshot_when_the_process_dies_is_computed_afterwards(
    shop: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = "CREATE VIEW many AS SELECT COUNT(*) AS n FROM orders;"
    with pipeline(source(shop, "orders", ORDERS) + count, folder) as running:
        running.run_once()
    shop.run("CREATE TABLE names (customer text PRIMARY KEY, name text)")
    shop.run("INSERT INTO names VALUES ('c0', 'ann'), ('c1', 'bob')")
    shop.run("INSERT INTO orders VALUES (10, 'c0', 7)")
    query = "SELECT name, SUM(amount) AS total FROM orders o JOIN names n ON o.customer = n.customer GROUP BY name"
    both = source(shop, "orders", ORDERS) + count + source(shop, "names") + f"CREATE VIEW named AS {query};"
    with pipeline(both, folder) as running:
        # As if the snapshot took longer than the next change of another table.
        monkeypatch.setattr(type(running.ends), "whole_at", lambda *_: False)
        assert running.step(wait=120.0) is not None
        monkeypatch.undo()
    with pipeline(both, folder) as running:
        running.run_once()
        assert rows(running, "named") == bag(shop, query)
        assert rows(running, "many") == bag(shop, "SELECT COUNT(*) FROM orders")


def test_a_pipeline_that_goes_on_waits_for_a_sink_that_is_away_and_one_that_begins_does_not(
    shop: Database, folder: Path
) -> None:
    assert shop.port is not None
    port = shop.port
    with Lossy(port) as way:
        reads, at, writes = script(shop).partition("CREATE TABLE target")
        text = reads + at + writes.replace(str(port), str(way.port))
        with pipeline(text, folder) as running:
            running.run_once()
        other = sink(shop, "target", TOTALS, name="other").replace(f":{port}/", ":1/")
        with pytest.raises(AwayError), pipeline(f"{text}\n{other}INSERT INTO other {QUERY};", folder):
            pass
    with pytest.raises(AwayError), pipeline(text, folder / "anew"):
        pass
    shop.run("INSERT INTO orders VALUES (10, 'c9', 10)")
    heard = Listening()
    with ExitStack() as closing, ThreadPoolExecutor(1) as beside:

        def waits() -> list[str]:
            # For a slot that is just let go one may wait too.
            told = [report.subject for report in heard.reports if report.stage == "waiting"]
            return [subject for subject in told if f"127.0.0.1:{way.port}" in subject]

        def come_back() -> None:
            wait_for(lambda: bool(waits()))
            closing.enter_context(Lossy(port, at=way.port))

        back = beside.submit(come_back)
        with pipeline(text, folder, heard) as running:
            running.run_once()
            back.result()
            assert bag(shop, SINK) == bag(shop, QUERY)
    away, over = waits()
    assert away.endswith("going on when it does") and over.endswith("is back; going on")
