"""A slot that somebody else holds: who it is, and how long it is waited for.

Oracle: the server's own view of the slot, and the texts, by hand.
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg2
import pytest
from psycopg2.extras import LogicalReplicationConnection

from headwater.errors import SourceError
from headwater.sources.postgres.server import ACTIVE_SECONDS, free_slot
from tests.postgres.world import Database, World, bag, read_now, wait_for

pytestmark = pytest.mark.services


def make(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int); ALTER TABLE t REPLICA IDENTITY FULL")
    database.run("INSERT INTO t VALUES (1, 0)")


def test_whoever_waits_for_a_slot_hears_who_has_it(
    database: Database, world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    make(database)
    table = database.table("t", "id int, n int", "id", slot__name="one")
    other = World(tmp_path_factory.mktemp("other"), pipeline="second")
    with world.source(table):
        ((pid,),) = database.run("SELECT active_pid FROM pg_replication_slots WHERE slot_name = 'one'")
        with pytest.raises(SourceError, match="replication slot 'one' is in use") as raised:
            other.source(table).__enter__()
    who = f"'headwater test' of role 'postgres' from 127.0.0.1 reads it (server process {pid})"
    assert raised.value.detail == f"{who}."
    waits = [report.subject for report in other.reports if report.stage == "waiting"]
    assert waits == [f"replication slot 'one' is in use: {who}; going on when it is free"]


def test_a_slot_that_the_state_knows_is_waited_for(database: Database, world: World) -> None:
    make(database)
    table = database.table("t", "id int, n int", "id", slot__name="one")
    with world.source(table) as source:
        position = read_now(source)[-1].position
    # As for a machine that died without a goodbye: the server still counts the reader as alive.
    held = psycopg2.connect(database.uri, connection_factory=LogicalReplicationConnection)
    reader = held.cursor()
    names = {"proto_version": "1", "publication_names": database.publications()[0]}
    reader.start_replication("one", options=names)

    def give_up() -> None:
        wait_for(lambda: any(report.stage == "waiting" for report in world.reports))
        time.sleep(3 * ACTIVE_SECONDS)
        held.close()

    with ThreadPoolExecutor(1) as pool:
        over = pool.submit(give_up)
        with world.source(table, after=position) as source:
            over.result()
            database.run("INSERT INTO t VALUES (2, 0)")
            assert bag(read_now(source, after=position), "t") == Counter([(2, 0)])
    assert "is free; going on" in [r.subject for r in world.reports if r.stage == "waiting"][-1]


def test_who_has_our_slot_and_was_silent_for_too_long_is_sent_away(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a capture whose machine died while something was on its way to it: the server hears nothing, and waits."""
    make(database)
    monkeypatch.setattr("headwater.sources.postgres.server.ACTIVE_SECONDS_OURS", 0.2)
    monkeypatch.setattr("headwater.sources.postgres.server.SENT_AWAY_SECONDS", 120.0)
    database.run("CREATE PUBLICATION p FOR TABLE t")
    database.run("SELECT pg_create_logical_replication_slot('one', 'pgoutput')")
    database.run(f"ALTER DATABASE {database.name} SET wal_sender_timeout = '300ms'")
    silent = {"options": "-c wal_sender_timeout=0", "connection_factory": LogicalReplicationConnection}
    told: list[str] = []
    with (
        closing(psycopg2.connect(database.uri, **silent)) as held,
        held.cursor() as reader,
        database.client() as client,
        client.cursor() as cursor,
    ):
        reader.start_replication("one", options={"proto_version": "1", "publication_names": "p"})
        client.autocommit = True
        other = free_slot(cursor, "one", lambda report: told.append(report.subject), is_ours=False)
        assert other is not None and other.active_pid is not None, "of somebody else's nothing is done"
        slot = free_slot(cursor, "one", lambda report: told.append(report.subject), is_ours=True)
    assert slot is not None and slot.active_pid is None
    assert "was silent for too long" in told[-1] or "is free" in told[-1]
