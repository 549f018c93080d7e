"""When the slot, the server or a table is no longer what it was: an error, never a gap in silence.

Oracle: the texts, by hand, and what was done to the server.
"""

from __future__ import annotations

import pytest

from headwater.errors import SourceError
from headwater.log.events import Delivery
from headwater.log.losses import Loss
from headwater.log.manifest import Manifest
from headwater.log.positions import Position
from headwater.services.postgres import temporary_postgres
from headwater.sources.captured.source import CapturedSource
from headwater.sources.postgres.config import config_of, log_folder
from tests.postgres.captures import Started, captured
from tests.postgres.world import Database, World, bag, brief, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, n int"


def make(database: Database, rows: int = 10) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int); ALTER TABLE t REPLICA IDENTITY FULL")
    database.run("INSERT INTO t SELECT i, 0 FROM generate_series(1, %s) i", rows)


def resumed(world: World, database: Database, after: Position) -> SourceError:
    """The error of a start that cannot go on."""
    with (
        pytest.raises(SourceError) as raised,
        world.source(database.table("t", COLUMNS, "id"), after=after),
    ):
        pass
    assert "headwater drop" in raised.value.hint
    return raised.value


def begun(world: World, database: Database) -> Position:
    """A source that was started, read and closed."""
    make(database)
    with world.source(database.table("t", COLUMNS, "id")) as source:
        position = read_now(source)[-1].position
    wait_for(lambda: database.run("SELECT count(*) FROM pg_replication_slots WHERE active") == [(0,)])
    return position


def test_a_slot_that_is_gone_is_an_error(database: Database, world: World) -> None:
    after = begun(world, database)
    database.run("SELECT pg_drop_replication_slot(%s)", database.slots()[0])
    assert "is gone" in resumed(world, database, after).message
    assert database.slots() == []


def test_a_slot_that_ran_ahead_is_an_error(database: Database, world: World) -> None:
    after = begun(world, database)
    database.run("INSERT INTO t VALUES (100, 0)")
    database.run("SELECT pg_replication_slot_advance(%s, pg_current_wal_lsn())", database.slots()[0])
    error = resumed(world, database, after)
    assert "is ahead of the state" in error.message
    assert str(after) in error.detail or "stands at" in error.detail


def test_a_slot_that_the_server_has_given_up_is_an_error(world: World) -> None:
    with temporary_postgres({"fsync": "off", "max_slot_wal_keep_size": "16MB"}) as server:
        database = Database(server.uri)
        after = begun(world, database)
        (slot,) = database.slots()

        def is_lost() -> bool:
            # What the server needs no more goes with a checkpoint, and what the slot needs with it.
            database.run("SELECT pg_logical_emit_message(true, 'other', repeat('x', 20000000))")
            database.run("CHECKPOINT")
            return database.run("SELECT wal_status FROM pg_replication_slots") == [("lost",)]

        wait_for(is_lost)
        error = resumed(world, database, after)
        assert error.message == f"replication slot '{slot}' is lost"
        assert "max_slot_wal_keep_size" in error.detail and "raise max_slot_wal_keep_size" in error.hint
        assert database.slots() == [slot]
        database.close()


def test_a_table_that_was_made_again_is_an_error(database: Database, world: World) -> None:
    after = begun(world, database)
    database.run("DROP TABLE t")
    make(database)
    assert resumed(world, database, after).message == "table 'public.t' was dropped and made again"


def test_a_table_that_was_not_published_all_the_time_is_an_error(database: Database, world: World) -> None:
    after = begun(world, database)
    database.run(
        f"ALTER PUBLICATION {database.publications()[0]} DROP TABLE t; INSERT INTO t VALUES (100, 0)"
    )
    assert resumed(world, database, after).message == "table 'public.t' is no longer published"


def test_a_table_that_left_the_publication_and_came_back_is_an_error(
    database: Database, world: World
) -> None:
    after, publication = begun(world, database), database.publications()[0]
    database.run(f"ALTER PUBLICATION {publication} DROP TABLE t; INSERT INTO t VALUES (100, 0)")
    database.run(f"ALTER PUBLICATION {publication} ADD TABLE t")
    error = resumed(world, database, after)
    assert error.message == "table 'public.t' left the publication and came back"


@pytest.mark.parametrize(
    ("published", "change", "message"),
    [
        ("TABLE t", "ALTER PUBLICATION p DROP TABLE t", "table 'public.t' is no longer published"),
        (
            "TABLE t",
            "ALTER PUBLICATION p SET (publish = 'insert')",
            "publication 'p' does not publish every kind of change",
        ),
        (
            "TABLES IN SCHEMA public",
            "ALTER PUBLICATION p DROP TABLES IN SCHEMA public",
            "table 'public.t' is no longer published",
        ),
        ("ALL TABLES", "ALTER TABLE t SET UNLOGGED", "table 'public.t' is unlogged"),
    ],
)
def test_what_is_no_longer_published_while_it_is_read_is_an_error(
    database: Database,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    published: str,
    change: str,
    message: str,
) -> None:
    make(database)
    database.run(f"CREATE PUBLICATION p FOR {published}")
    monkeypatch.setattr("headwater.sources.postgres.watch.WATCH_SECONDS", 0.05)
    table = database.table("t", COLUMNS, "id", debezium__publication__name="p")
    started = Started()
    with captured(config_of([table], world.context, after=None), monkeypatch, started) as ended:
        wait_for(lambda: bool(started))
        database.run(change)
    assert str(ended[0]) == message


def test_a_table_that_never_left_the_publication_goes_on(database: Database, world: World) -> None:
    """A log that was begun before such numbers were kept learns them."""
    after, publication = begun(world, database), database.publications()[0]
    log = Manifest(log_folder(world.context))
    log.remember(f"member {publication} t", "")
    log.close()
    database.run("CREATE TABLE other (id int)")
    for number in (100, 101):
        database.run("INSERT INTO t VALUES (%s, 0)", number)
        database.run(f"ALTER PUBLICATION {publication} SET TABLE t, other")
        with world.source(database.table("t", COLUMNS, "id"), after=after) as source:
            said = read_now(source, after=after)
            after = said[-1].position
        assert (number, 0) in bag(said, "t")


def test_another_server_is_an_error(database: Database, world: World) -> None:
    after = begun(world, database)
    log = Manifest(log_folder(world.context))
    log.remember("system", "1")
    log.close()
    assert resumed(world, database, after).message == "this is not the server the state was built from"


def test_a_server_that_is_behind_is_an_error(database: Database, world: World) -> None:
    after = begun(world, database)
    log = Manifest(log_folder(world.context))
    log.remember("last", str(after.value + 2**40))
    log.close()
    assert resumed(world, database, after).message == "the server is behind the state"


def test_a_column_that_vanishes_is_told(database: Database, world: World) -> None:
    make(database)
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        database.run("INSERT INTO t VALUES (100, 0)")
        database.run("ALTER TABLE t RENAME n TO m; INSERT INTO t VALUES (101, 0)")
        lost = read_on(source, said)
    assert lost.message == "column 'n' of table 't' is gone"
    assert "now has the columns id, m" in lost.detail
    assert brief(said, "t")[-1] == ("insert", 100, 0), "what came before is there"


def test_a_column_that_changes_its_type(database: Database, world: World) -> None:
    make(database)
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        database.run("ALTER TABLE t ALTER n TYPE bigint; INSERT INTO t VALUES (100, 7)")
        said += read_now(source, after=said[-1].position)
        assert brief(said, "t")[-1] == ("insert", 100, 7)
        database.run("ALTER TABLE t ALTER n TYPE date USING '2024-01-01'; INSERT INTO t VALUES (101, now())")
        assert read_on(source, said).message == "column 'n' of table 't' can no longer be read as int"


def test_an_identity_that_shrinks_is_told(database: Database, world: World) -> None:
    make(database)
    with world.source(database.table("t", COLUMNS)) as source:
        said = read_now(source)
        before = brief(said, "t")
        database.run("ALTER TABLE t REPLICA IDENTITY DEFAULT; UPDATE t SET n = 5 WHERE id = 1")
        lost = read_on(source, said)
        assert (lost.column, lost.message) == (None, "the replica identity of table 't' has changed")
        database.run("DELETE FROM t WHERE id = 1")
        said += read_now(source, after=said[-1].position)
    assert brief(said, "t") == before, "of a table that is lost nothing is told any more"


def read_on(source: CapturedSource, said: list[Delivery]) -> Loss:
    """Read up to what comes before a loss, and give that."""
    while True:
        delivery = source.read(said[-1].position, 10, wait=60.0)
        assert delivery is not None, "the source neither speaks nor tells of a loss"
        if delivery.losses:
            return delivery.losses[0]
        said.append(delivery)
