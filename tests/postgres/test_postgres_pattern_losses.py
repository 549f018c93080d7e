"""Tables that match a pattern and change: what one of them loses is lost of the declared table, and all go on.

Oracle: the rows of these tables at the server, each with the name of its table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.log.losses import Loss
from headwater.log.store import LogWriter
from headwater.sources.postgres.finding import Opening, still_good
from headwater.sources.postgres.options import PostgresOptions, origin
from tests.postgres.shards import Holder, at_server, make, orders
from tests.postgres.world import Database, World, brief, read_now

pytestmark = pytest.mark.services


def losses(held: Holder) -> list[Loss]:
    """What was lost, in order."""
    return [loss for delivery in held.deliveries for loss in delivery.losses]


@pytest.mark.parametrize("is_running", [True, False])
def test_a_column_that_one_of_them_loses_is_told_of_the_declared_table(
    database: Database, world: World, tmp_path: Path, is_running: bool
) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")

    def change() -> None:
        database.run("INSERT INTO orders_2 VALUES (2, 2)")
        database.run("ALTER TABLE orders_2 DROP COLUMN n; INSERT INTO orders_2 VALUES (3)")
        database.run("UPDATE orders_1 SET n = 7")

    with world.source(held.table) as source:
        held.read(source)
        if is_running:
            change()
            held.read(source)
    if not is_running:
        change()
    with world.source(held.table, after=held.after) as source:
        found = held.read(source)
    (lost,) = losses(held)
    assert (lost.table, lost.column) == ("orders", "n")
    assert lost.message == "column 'n' of table 'orders (public.orders_2)' is gone"
    assert found == at_server(database, "orders_1") + Counter(
        [("orders_2", 1, 1), ("orders_2", 2, 2), ("orders_2", 3, None)]
    )
    with world.source(held.table, after=held.after) as source:
        make(database, "orders_3")
        database.run("UPDATE orders_1 SET n = 8; DELETE FROM orders_2")
        held.until(source, at_server(database, "orders_1", "orders_3"))
        database.run("DROP TABLE orders_2; UPDATE orders_3 SET n = 5")
        held.until(source, at_server(database, "orders_1", "orders_3"))
    assert losses(held) == [lost], "it is told once"


def test_a_key_that_one_of_them_loses_is_the_loss_of_the_declared_table(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2")
    other = database.table("other", "id int, n int", "id")
    database.run("CREATE TABLE other (id int PRIMARY KEY, n int)")
    with world.source(orders(database), other) as source:
        said = read_now(source)
        database.run("ALTER TABLE orders_2 RENAME id TO number; INSERT INTO orders_2 VALUES (5, 5)")
        database.run("INSERT INTO other VALUES (1, 1); INSERT INTO orders_1 VALUES (2, 2)")
        after = read_now(source, after=said[-1].position)
    (lost,) = [loss for delivery in after for loss in delivery.losses]
    assert (lost.table, lost.column) == ("orders", None)
    assert brief(after, "orders") == [("insert", "orders_1", 2, 2)]
    assert brief(after, "other") == [("insert", 1, 1)]


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL"])
def test_one_that_is_dropped_while_nobody_reads_has_lost_nothing(
    database: Database, world: World, tmp_path: Path, identity: str
) -> None:
    make(database, "orders_1", "orders_2", identity=identity)
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
    database.run("INSERT INTO orders_2 VALUES (2, 2); UPDATE orders_2 SET n = 3; DROP TABLE orders_2")
    database.run("UPDATE orders_1 SET n = 5")
    with world.source(held.table, after=held.after) as source:
        held.until(source, at_server(database, "orders_1"))
    assert losses(held) == []


def test_one_that_no_longer_tells_whole_rows_is_lost_if_its_key_does_not_say_what_it_is(
    database: Database, world: World
) -> None:
    make(database, "orders_1", "orders_2", identity="FULL")
    table = database.table("orders", "id int, n int", "id", table_name="orders_.*")
    with world.source(table) as source:
        said = read_now(source)
        database.run("ALTER TABLE orders_2 REPLICA IDENTITY DEFAULT; DELETE FROM orders_2")
        after = read_now(source, after=said[-1].position)
    (lost,) = [loss for delivery in after for loss in delivery.losses]
    assert (lost.table, lost.column) == ("orders", None)
    assert "others that match may have rows of the same key" in lost.detail
    assert brief(after, "orders") == [], "nobody knows whose row went"


def test_all_of_them_are_read_anew_and_nothing_is_lost_any_more(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
        database.run("ALTER TABLE orders_2 DROP COLUMN n, ADD COLUMN n int; UPDATE orders_2 SET n = 4")
        held.read(source)
        assert [loss.column for loss in losses(held)] == ["n"] and held.after is not None
        source.commit(held.after)
    anew = Holder(replace(held.table, anew=True), tmp_path / "anew", after=held.after)
    with world.source(anew.table, after=held.after) as source:
        assert anew.read(source) == at_server(database, "orders_1", "orders_2")
        database.run("UPDATE orders_2 SET n = 6")
        assert anew.read(source) == at_server(database, "orders_1", "orders_2")
    assert losses(anew) == []


def test_one_that_loses_a_column_and_is_dropped_while_nobody_reads_goes(
    database: Database, world: World, tmp_path: Path
) -> None:
    make(database, "orders_1", "orders_2")
    held = Holder(orders(database), tmp_path / "rows")
    with world.source(held.table) as source:
        held.read(source)
    database.run("ALTER TABLE orders_2 DROP COLUMN n; INSERT INTO orders_2 VALUES (9)")
    database.run("DROP TABLE orders_2; UPDATE orders_1 SET n = 3")
    with world.source(held.table, after=held.after) as source:
        held.until(source, at_server(database, "orders_1"))


def test_a_moment_that_the_stream_has_passed_is_not_read_from(tmp_path: Path) -> None:
    class Connection:
        is_closed = False

        def close(self) -> None:
            self.is_closed = True

    log = LogWriter(tmp_path, notation="lsn")
    log.append([], first=100, last=100, committed_at=None)
    for position, is_good in ((99, False), (100, True), (101, True)):
        opening = Opening(Connection(), position, "snapshot", frozenset())
        assert still_good(opening, log) is (opening if is_good else None)
        assert opening.replication.is_closed is not is_good
    assert still_good(None, log) is None


def test_a_pattern_is_another_table_than_a_name(database: Database) -> None:
    plain, pattern = (orders(database, table_name=name).options for name in ("orders_1", "orders_."))
    assert isinstance(plain, PostgresOptions) and isinstance(pattern, PostgresOptions)
    assert origin(plain) == '["public", "orders_1"]'
    assert origin(pattern) == '["public", "orders_.", "pattern"]'
