"""Care for the server that is read: its log can be freed, what it keeps for us is watched, and limited.

Oracle: the server's own view of the slot, and the texts, by hand.
"""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from headwater.errors import SourceError
from headwater.log.positions import Position
from headwater.options import Secret
from headwater.services.postgres import temporary_postgres
from headwater.sources.base import Report, Retained, SourceTable
from headwater.sources.captured.source import CapturedSource
from headwater.sources.postgres.config import CaptureConfig, config_of
from headwater.sources.postgres.retained import look
from headwater.sources.postgres.watch import Watch
from tests.postgres.captures import Started, captured
from tests.postgres.world import Database, World, bag, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, n int"
SEGMENT = 16 << 20


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches in this process looks often."""
    monkeypatch.setattr("headwater.sources.postgres.watch.WATCH_SECONDS", 0.05)


def make(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int); ALTER TABLE t REPLICA IDENTITY FULL")
    database.run("INSERT INTO t VALUES (1, 0)")


def declared(database: Database, **options: str) -> SourceTable:
    return database.table("t", COLUMNS, "id", **options)


def grow(database: Database, segments: int = 1) -> None:
    """Let the server's log grow by whole files, without a change of any table."""
    for _ in range(segments):
        database.run("SELECT pg_logical_emit_message(false, 'elsewhere', 'x')")
        database.run("SELECT pg_switch_wal()")


def confirmed(database: Database) -> int:
    ((found,),) = database.run(
        "SELECT (confirmed_flush_lsn - '0/0'::pg_lsn)::int8 FROM pg_replication_slots"
        " WHERE database = current_database()"
    )
    assert isinstance(found, int)
    return found


def begun(world: World, table: SourceTable, database: Database) -> Position:
    """A source that was started, read and closed."""
    make(database)
    with world.source(table) as source:
        position = read_now(source)[-1].position
    wait_for(lambda: database.run("SELECT count(*) FROM pg_replication_slots WHERE active") == [(0,)])
    return position


def hears(world: World, source: CapturedSource, after: Position, words: str) -> bool:
    """True once the source reported these words."""
    source.read(after, 1)
    return any(words in report.subject for report in world.reports)


@pytest.mark.parametrize("name", ["heartbeat__interval__ms", "debezium__heartbeat__interval__ms"])
def test_a_heartbeat_moves_the_position_of_an_idle_database(
    database: Database, world: World, name: str
) -> None:
    make(database)
    with world.source(declared(database, **{name: "100"})) as source:
        places = [read_now(source)[-1].position.value]
        for _ in range(4):
            last = places[-1]
            wait_for(lambda last=last: confirmed(database) > last)  # type: ignore[misc]  # bound at once
            places.append(confirmed(database))
        said = read_now(source)
    assert bag(said, "t") == {(1, 0): 1}


def test_a_server_that_waits_for_whoever_reads_its_log_does_not_wait_for_us_in_vain(world: World) -> None:
    """Then the commit of a message of ours would wait for a confirmation that only the one who sends it can give."""
    with temporary_postgres({"fsync": "off"}) as server:
        database = Database(server.uri)
        make(database)
        with world.source(declared(database, heartbeat__interval__ms="100")) as source:
            read_now(source)
            database.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
            database.run("SELECT pg_reload_conf()")
            wait_for(lambda: database.run("SHOW synchronous_standby_names") == [("*",)])
            for _ in range(5):
                last = confirmed(database)
                wait_for(lambda last=last: confirmed(database) > last)  # type: ignore[misc]  # bound at once
            with database.client() as client, client.cursor() as cursor:
                cursor.execute("INSERT INTO t VALUES (2, 0)")
                client.commit()
            assert bag(read_now(source), "t") == {(1, 0): 1, (2, 0): 1}
        database.close()


def test_a_heartbeat_comes_also_while_the_server_is_busy_elsewhere(database: Database, world: World) -> None:
    make(database)
    stop = threading.Event()

    def elsewhere() -> None:
        with database.client() as client, client.cursor() as cursor:
            client.autocommit = True
            cursor.execute("CREATE TABLE other (i int)")
            while not stop.is_set():
                cursor.execute("INSERT INTO other SELECT generate_series(1, 10)")

    writer = threading.Thread(target=elsewhere)
    with world.source(declared(database, heartbeat__interval__ms="300 ms")):
        writer.start()
        try:
            ((end,),) = database.run("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::int8")
            for _ in range(3):
                wait_for(lambda end=end: confirmed(database) > end)  # type: ignore[misc]  # bound at once
                ((end,),) = database.run("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::int8")
        finally:
            stop.set()
            writer.join()


def test_a_start_tells_that_the_server_keeps_too_much(database: Database, world: World) -> None:
    table = declared(database, wal__retained__max="20 mb")
    after = begun(world, table, database)
    with database.client() as client, client.cursor() as cursor:
        # It stays open: what is kept is not less when the stream has come further than the first look.
        cursor.execute("UPDATE t SET n = 1")
        grow(database, 3)
        with world.source(table, after=after) as source:
            wait_for(lambda: hears(world, source, after, "more than 'wal.retained.max' (20.0 MB)"))
            assert database.slots() != []
    notes = [report for report in world.reports if "wal.retained.max" in report.subject]
    assert notes[0].stage == "note" and len(notes) == 1


def test_a_start_gives_up_a_slot_that_keeps_too_much(database: Database, world: World) -> None:
    table = declared(database, wal__retained__max="20mb", wal__retained__action="drop-slot")
    after = begun(world, table, database)
    grow(database, 3)
    with pytest.raises(SourceError, match="was dropped, because postgres kept too much") as raised:
        world.source(table, after=after).__enter__()
    assert "'wal.retained.max' is 20.0 MB" in raised.value.detail
    assert "headwater drop" in raised.value.hint
    assert database.slots() == []
    with pytest.raises(SourceError, match="is gone") as again:
        world.source(table, after=after).__enter__()
    assert "dropped by the limit on what the server keeps" in again.value.detail


def test_below_the_limit_nothing_is_dropped_or_said(database: Database, world: World) -> None:
    table = declared(database, wal__retained__max="1gb", wal__retained__action="drop-slot")
    after = begun(world, table, database)
    with world.source(table, after=after) as source:
        read_now(source, after=after)
    assert len(database.slots()) == 1
    assert [report for report in world.reports if report.stage == "note"] == []


def test_a_stream_whose_slot_keeps_too_much_gives_it_up(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    make(database)
    table = declared(database, wal__retained__max="40mb", wal__retained__action="drop-slot")
    config = config_of([table], world.context, after=None)
    started = Started()
    with database.client() as client, client.cursor() as cursor:
        with captured(config, monkeypatch, started) as ended:
            wait_for(lambda: bool(started))
            # A transaction that stays open keeps all log since its begin, however fast the rest is read.
            cursor.execute("UPDATE t SET n = 1")
            grow(database, 4)
        client.rollback()
    assert "was dropped, because postgres kept too much" in str(ended[0])
    assert database.slots() == []


def test_first_rows_are_watched_too(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    make(database)
    table = declared(database, wal__retained__max="20mb", wal__retained__action="drop-slot")
    warned = threading.Event()

    def during_the_first_rows(_: str, **facts: object) -> None:
        if facts["stage"] == "snapshot":
            assert len(database.slots()) == 1
            grow(database, 3)
            assert warned.wait(120.0)

    def hear(_: str, **facts: object) -> None:
        if "wal.retained.max" in str(facts.get("subject")):
            warned.set()

    monkeypatch.setattr("headwater.sources.captured.process.say", during_the_first_rows)
    with captured(config_of([table], world.context, after=None), monkeypatch, hear) as ended:
        pass
    assert "was dropped, because postgres kept too much" in str(ended[0])
    assert database.slots() == []


def test_what_the_server_threatens_and_does_is_told(world: World, quick: None) -> None:
    with temporary_postgres({"fsync": "off", "max_slot_wal_keep_size": "16MB"}) as server:
        database = Database(server.uri)
        database.run("SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
        heard: list[Report] = []
        seen: list[Retained] = []
        watch = Watch(watched(database, world), heard.append, seen.append)
        grow(database, 6)
        wait_for(lambda: any("will remove what is above max_slot_wal_keep_size" in r.subject for r in heard))
        database.run("CHECKPOINT")
        wait_for(lambda: any("has removed log that replication slot 's'" in r.subject for r in heard))
        wait_for(lambda: seen[-1].status == "lost")
        assert {one.slot for one in seen} == {"s"} and max(one.kept for one in seen) > 16 << 20
        assert all(one.behind <= one.kept for one in seen)
        watch.stop()
        database.close()


def watched(database: Database, world: World, user: str = "postgres") -> CaptureConfig:
    """What a watch over slot `s` has to know."""
    config = config_of([declared(database, slot__name="s")], world.context, after=None)
    address = replace(config.address, user=user, password=Secret("postgres"))
    return replace(config, address=address)


def test_a_look_that_fails_is_told_and_so_is_the_next_that_does_not(
    database: Database, world: World, quick: None
) -> None:
    database.run("CREATE ROLE looks LOGIN PASSWORD 'postgres'")
    database.run("SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
    heard: list[Report] = []
    watch = Watch(watched(database, world, "looks"), heard.append, lambda retained: None)
    mine = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'looks'"
    database.run("ALTER ROLE looks NOLOGIN")
    wait_for(lambda: database.run(mine) is not None and len(heard) == 1)
    assert heard[0].stage == "note" and "cannot be seen" in heard[0].subject
    database.run("ALTER ROLE looks LOGIN")
    wait_for(lambda: len(heard) == 2)
    assert "can be seen again" in heard[1].subject
    watch.stop()
    wait_for(lambda: database.run("SELECT FROM pg_stat_activity WHERE usename = 'looks'") == [])
    database.run("DROP ROLE looks")


def test_what_is_kept_is_counted_as_the_server_does(database: Database) -> None:
    database.run("SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
    grow(database, 2)
    with database.client() as client, client.cursor() as cursor:
        kept = look(cursor, "s")
        assert look(cursor, "none") is None
    assert kept is not None and kept.status == "reserved"
    assert SEGMENT < kept.behind <= kept.retained < 3 * SEGMENT
