"""A standby as a source, and one that takes the place of its primary.

Oracle: the rows at the server that is the primary at the end, and the texts of refusals, by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import psycopg2
import psycopg2.extras
import pytest

from headwater.errors import SourceError
from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.faults.line import Line
from tests.postgres.standby import SLOT, asked, standby_of
from tests.postgres.world import Database, World, bag, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, n int"
SYNCED = "SELECT count(*) FROM pg_replication_slots WHERE synced AND NOT temporary"


@pytest.fixture
def primary() -> Iterator[EmbeddedPostgres]:
    """A server with a table of ten rows."""
    with temporary_postgres({"fsync": "off"}) as server:
        database = Database(server.uri)
        database.run("CREATE TABLE t (id int PRIMARY KEY, n int); ALTER TABLE t REPLICA IDENTITY FULL")
        database.run("INSERT INTO t SELECT i, 0 FROM generate_series(1, 10) i")
        database.close()
        yield server


@pytest.fixture
def standby(primary: EmbeddedPostgres) -> Iterator[EmbeddedPostgres]:
    """Its standby."""
    with standby_of(primary) as server:
        yield server


def promoted(standby: EmbeddedPostgres, line: Line) -> Database:
    """The standby as a primary, at the end of the line."""
    assert asked(standby, "SELECT pg_promote()") == [(True,)]
    line.to = standby.port
    line.cut()
    return Database(standby.uri)


def follow_slots(primary: EmbeddedPostgres, slot: str) -> None:
    """What a user does so that a slot outlives its server."""
    replication = psycopg2.connect(
        primary.uri, connection_factory=psycopg2.extras.LogicalReplicationConnection
    )
    with replication.cursor() as cursor:
        cursor.execute(f"ALTER_REPLICATION_SLOT {slot} (FAILOVER true)")
    replication.close()


def copy_slots(primary: Database, standby: EmbeddedPostgres) -> None:
    """Have the standby copy slots until it keeps ours, which it can only where something happens."""

    def is_kept() -> bool:
        primary.run("UPDATE t SET n = n + 1 WHERE id = 1")
        primary.run("SELECT pg_log_standby_snapshot()")
        asked(standby, "SELECT pg_sync_replication_slots()")
        return asked(standby, SYNCED) == [(1,)]

    wait_for(is_kept)


def test_changes_of_a_standby_are_refused_and_first_rows_are_read(
    standby: EmbeddedPostgres, world: World
) -> None:
    database = Database(standby.uri)
    with pytest.raises(SourceError) as raised, world.source(database.table("t", COLUMNS, "id")):
        pass
    assert raised.value.message == "the server is a standby"
    assert "'scan.startup.mode' = 'snapshot'" in raised.value.hint
    with world.source(database.table("t", COLUMNS, "id", scan__startup__mode="snapshot")) as source:
        said = read_now(source)
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))
    database.close()


def test_a_slot_that_is_kept_at_the_standby_outlives_the_primary(
    primary: EmbeddedPostgres, standby: EmbeddedPostgres, world: World
) -> None:
    with Line(primary.port) as line:
        old = Database(primary.uri)
        table = old.table("t", COLUMNS, "id", port=str(line.port))
        with world.source(table) as source:
            said = read_now(source)
        (slot,) = old.slots()
        follow_slots(primary, slot)
        # The primary sends us nothing that the standby does not have.
        old.run(f"ALTER SYSTEM SET synchronized_standby_slots = '{SLOT}'")
        old.run("SELECT pg_reload_conf()")
        wait_for(lambda: old.run("SHOW synchronized_standby_slots") == [(SLOT,)])
        with world.source(table, after=said[-1].position) as source:
            old.run("UPDATE t SET n = id WHERE id <= 5")
            said += read_now(source, after=said[-1].position)
            copy_slots(old, standby)
            old.run("INSERT INTO t VALUES (11, 11)")
            said += read_now(source, after=said[-1].position)
            old.close()
            primary.kill()
            new = promoted(standby, line)
            new.run("DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (12, 12)")
            said += read_now(source, after=said[-1].position)
    assert bag(said, "t") == Counter(new.run("SELECT id, n FROM t"))
    assert sum(bag(said, "t").values()) == 11
    new.close()


def test_a_standby_that_missed_what_we_know_is_refused(
    primary: EmbeddedPostgres, standby: EmbeddedPostgres, world: World
) -> None:
    with Line(primary.port) as line:
        old = Database(primary.uri)
        table = old.table("t", COLUMNS, "id", port=str(line.port))
        with world.source(table) as source:
            said = read_now(source)
        (slot,) = old.slots()
        standby.kill()
        with world.source(table, after=said[-1].position) as source:
            old.run("UPDATE t SET n = id")
            # So many that what the new primary writes to become one is less.
            old.run("INSERT INTO t SELECT i, 0 FROM generate_series(11, 10000) i")
            said += read_now(source, after=said[-1].position)
        old.close()
        primary.kill()
        standby.start()
        new = promoted(standby, line)
        # A slot that is where a copy of ours would be: before what we know.
        new.run("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", slot)
        # Far enough that positions alone tell nothing.
        new.run("CREATE TABLE other AS SELECT repeat('x', 1000) FROM generate_series(1, 10000)")
        with pytest.raises(SourceError) as raised, world.source(table, after=said[-1].position):
            pass
        assert raised.value.message == "the server has gone another way than the state"
        assert "timeline 2" in raised.value.detail and "headwater drop" in raised.value.hint
        new.close()
