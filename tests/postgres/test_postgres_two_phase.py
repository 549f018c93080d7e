"""Transactions that are prepared: told once they are committed, and never before.

Oracle: the changes as they were made, written down by hand.
"""

from __future__ import annotations

import pytest

from headwater.errors import SourceError
from headwater.log.events import COMMITTED, POSITION, TRANSACTION
from tests.postgres.streams import HELD, capturing, fill, stream_early, was_streamed
from tests.postgres.world import Database, World, events, read_now

pytestmark = pytest.mark.services

COLUMNS = "id int, note string"


@pytest.fixture(autouse=True)
def table(database: Database) -> None:
    """A table that logs whole rows."""
    database.run("CREATE TABLE t (id int PRIMARY KEY, note text); ALTER TABLE t REPLICA IDENTITY FULL")


def prepare(database: Database, name: str, *, first: int, count: int) -> None:
    """Prepare a transaction of so many rows."""
    with database.client() as client, client.cursor() as cursor:
        fill(cursor, first=first, count=count)
        cursor.execute(f"PREPARE TRANSACTION '{database.name} {name}'")
        client.commit()


def end(database: Database, name: str, how: str) -> None:
    """Commit or roll back what was prepared."""
    database.run(f"{how} PREPARED '{database.name} {name}'")


@pytest.mark.parametrize("count", [3, 200])
@pytest.mark.parametrize("held", HELD)
def test_what_is_prepared_is_told_when_it_is_committed(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, count: int, held: int
) -> None:
    table = database.table("t", COLUMNS, "id")
    with capturing(database, world, monkeypatch, table, held=held) as capture:
        prepare(database, "one", first=1_000, count=count)
        prepare(database, "two", first=2_000, count=count)
        prepare(database, "never", first=3_000, count=count)
        database.run("INSERT INTO t VALUES (1, 'between')")
        assert [row["id"] for row in events(capture.read(), "t")] == [1]
        end(database, "two", "COMMIT")
        database.run("INSERT INTO t VALUES (2, 'then')")
        end(database, "never", "ROLLBACK")
        end(database, "one", "COMMIT")
        said = capture.read()
        assert was_streamed(database) == (count == 200)
    found = events(said, "t")
    expected = [1, *range(2_000, 2_000 + count), 2, *range(1_000, 1_000 + count)]
    assert [row["id"] for row in found] == expected
    positions = [row[POSITION] for row in found]
    assert positions == sorted(positions)
    assert len({(row[TRANSACTION], row[COMMITTED]) for row in found}) == 4


def test_what_is_prepared_outlives_a_restart(database: Database, world: World) -> None:
    stream_early(database)
    table = database.table("t", COLUMNS, "id")
    with world.source(table) as source:
        prepare(database, "one", first=1, count=200)
        database.run("INSERT INTO t VALUES (-1, 'after')")
        first = read_now(source)
    with world.source(table, after=first[-1].position) as source:
        end(database, "one", "COMMIT")
        then = read_now(source, after=first[-1].position)
    assert [row["id"] for row in events(first, "t")] == [-1]
    assert [row["id"] for row in events(then, "t")] == list(range(1, 201))


def test_a_slot_that_tells_of_what_is_only_prepared_is_refused(database: Database, world: World) -> None:
    slot = f"{database.name}_mine"
    database.run("SELECT pg_create_logical_replication_slot(%s, 'pgoutput', false, true)", slot)
    table = database.table("t", COLUMNS, "id", slot__name=slot)
    with pytest.raises(SourceError) as raised, world.source(table):
        pass
    assert "tells of prepared transactions before they are committed" in raised.value.message
    assert database.publications() == [] and database.slots() == [slot]


def test_our_own_slot_does_not(database: Database, world: World) -> None:
    with world.source(database.table("t", COLUMNS, "id")):
        found = database.run(
            "SELECT two_phase FROM pg_replication_slots WHERE slot_name = ANY(%s)", database.slots()
        )
    assert found == [(False,)]
