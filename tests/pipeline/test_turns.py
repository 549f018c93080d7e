"""Shared state: a driver that stood still while another took over changes nothing when it wakes up.

Oracle: the same query in Postgres.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from headwater.changes.change_set import ChangeSet
from headwater.errors import StateError
from headwater.log.positions import Cut
from headwater.runtime.holding import looked_at
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.progress import Progress
from headwater.storage import turns
from headwater.storage.book import Overtaken
from headwater.storage.turns import Turn
from tests.pipeline.world import bag, command, pipeline, sink, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

SINK = "SELECT customer, total FROM target"
QUERY = "SELECT customer, SUM(amount) FROM orders GROUP BY customer"


class Stands(BaseException):
    """The process stands still here."""


@pytest.fixture
def shared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose state is shared from the beginning, as on a cluster; a driver that lives is never taken for dead."""
    monkeypatch.setattr(turns, "LEASE_SECONDS", 120.0)
    monkeypatch.setattr(turns, "RENEW_SECONDS", 0.3)
    (folder / "state" / turns.FOLDER).mkdir(parents=True)
    return folder


@pytest.fixture
def shop(database: Database) -> Database:
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, amount int)")
    database.run("INSERT INTO orders SELECT n, 'c' || n % 3, n FROM generate_series(1, 9) n")
    database.run("CREATE TABLE target (customer text PRIMARY KEY, total bigint)")
    return database


def script(shop: Database) -> str:
    columns = "(id INT, customer STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)"
    target = "(customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED)"
    return source(shop, "orders", columns) + sink(shop, "target", target) + f"INSERT INTO target {QUERY};"


def stand_still(running: Pipeline, monkeypatch: pytest.MonkeyPatch) -> list[ChangeSet]:
    """Let a driver stop before it writes its next batch; its lease is renewed no more, its capture is gone."""
    kept: list[ChangeSet] = []

    def stop(changes: Sequence[ChangeSet], _: int) -> None:
        kept.extend(changes)
        raise Stands

    (written,) = running.ends.sinks.values()
    with monkeypatch.context() as patch, pytest.raises(Stands):
        patch.setattr(written, "write", stop)
        running.run_once()
    turn = getattr(running.progress.check_turn, "__self__", None)
    assert isinstance(turn, Turn) and turn._thread is not None
    turn._ended.set()
    # One that is just renewing its lease would look alive.
    turn._thread.join()
    monkeypatch.setattr(turns, "LEASE_SECONDS", 0.5)
    for one in running.ends.sources.values():
        one.close()
    return kept


def test_who_stood_still_writes_nothing_after_another_took_over(
    shop: Database, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pipeline(script(shop), shared) as first:
        first.run_once()
        assert bag(shop, SINK) == bag(shop, QUERY)
        with pytest.raises(StateError) as told, pipeline(script(shop), shared):
            pass
        assert "another driver works" in told.value.message
        shop.run("UPDATE orders SET amount = amount + 100 WHERE id < 4")
        late, before = stand_still(first, monkeypatch), first.progress.batch_id
        with pipeline(script(shop), shared) as second:
            assert second.progress.planned_batch == before + 1, "the batch that was begun is not known"
            second.run_once()
            shop.run("DELETE FROM orders WHERE customer = 'c1'")
            second.run_once()
            assert bag(shop, SINK) == bag(shop, QUERY)
            (written,) = first.ends.sinks.values()
            written.write(late, before + 1)
            assert bag(shop, SINK) == bag(shop, QUERY)
            with pytest.raises(Overtaken):
                first.progress.commit(before + 1, first.progress.cut, {})
            with pytest.raises(Overtaken):
                first.progress.plan(before + 2, Cut())
            shop.run("INSERT INTO orders VALUES (10, 'c9', 1)")
            second.run_once()
            assert bag(shop, SINK) == bag(shop, QUERY)
    assert command("verify", "--state", shared / "state").code == 0
    records = sorted((shared / "state" / "progress.db.records").glob("*.json"))
    assert [json.loads(path.read_text())["turn"] for path in records][-1] == 3
    with looked_at(shared / "state") as books, closing(Progress(books)) as saved:
        assert saved.text("script") == script(shop)


def test_state_of_one_machine_is_not_shared_and_shared_state_can_be_dropped(
    shop: Database, shared: Path
) -> None:
    text = script(shop).partition("CREATE TABLE target")[0] + f"CREATE VIEW totals AS {QUERY};"
    with pipeline(text, shared) as running:
        running.run_once()
    slots = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"
    assert shop.run(slots) == [(1,)]
    assert command("drop", "--state", shared / "state").code == 0
    assert shop.run(slots) == [(0,)] and not (shared / "state").exists()
    with pipeline(text, shared) as running:
        running.run_once()
    (shared / "state" / turns.FOLDER).mkdir()
    with pytest.raises(StateError) as told, pipeline(text, shared):
        pass
    assert "did not share it" in told.value.message
