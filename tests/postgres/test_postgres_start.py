"""How a source begins, goes on, and takes up tables.

Oracle: the rows of the table at the end, and what the server says of slots and publications.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import closing
from dataclasses import replace

import psycopg2.errors
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.errors import OptionError, SourceError
from headwater.log.events import SEQ
from headwater.log.store import LogWriter
from headwater.sources.base import Report
from headwater.sources.postgres.begin import begin
from headwater.sources.postgres.config import config_of
from headwater.sources.postgres.connect import connect_replication
from headwater.sources.postgres.server import create_slot
from headwater.sources.postgres.source import POSTGRES, open_source
from tests.postgres.world import Database, World, bag, brief, parts, read_now, read_to, wait_for

pytestmark = pytest.mark.services


def make(database: Database, *names: str) -> None:
    for name in names:
        database.run(f"CREATE TABLE {name} (id int PRIMARY KEY, n int)")
        database.run(f"ALTER TABLE {name} REPLICA IDENTITY FULL; INSERT INTO {name} VALUES (1, 1)")


def test_changes_during_the_snapshot_are_said_once(database: Database, world: World) -> None:
    make(database, "t")
    database.run("INSERT INTO t SELECT i, 0 FROM generate_series(2, 60000) i")
    stop = threading.Event()

    def write() -> None:
        with database.client() as client, client.cursor() as cursor:
            client.autocommit = True
            for number in range(100_000, 1_000_000):
                if stop.is_set():
                    return
                cursor.execute("INSERT INTO t VALUES (%s, 1)", (number,))
                cursor.execute("UPDATE t SET n = n + 1 WHERE id = %s", (number % 500 + 1,))
                cursor.execute("DELETE FROM t WHERE id = %s", (1000 + number % 50_000,))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        wait_for(lambda: database.run("SELECT count(*) FROM t WHERE id >= 100000")[0][0] > 20)
        with world.source(database.table("t", "id int, n int", "id")) as source:
            so_far = database.run("SELECT max(id) FROM t")[0][0]
            wait_for(lambda: database.run("SELECT max(id) FROM t")[0][0] > so_far + 20)
            stop.set()
            writer.join()
            said = read_now(source)
    finally:
        stop.set()
        writer.join()
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))
    assert any(r.stage == "snapshot" and r.subject == "t" for r in world.reports)


def test_tables_of_one_database_share_one_slot_and_one_position(database: Database, world: World) -> None:
    make(database, "a", "b")
    tables = [database.table("a", "id int, n int", "id"), database.table("b", "id int, n int", "id")]
    with world.source(*tables) as source:
        assert len(database.slots()) == 1 and database.publications() == database.slots()
        # The server may take a moment to let the connection go that made the slot.
        readers = "SELECT application_name FROM pg_stat_replication"
        wait_for(lambda: database.run(readers) == [("headwater test",)])
        first = read_now(source)
        database.together("UPDATE a SET n = 2", "UPDATE b SET n = 2")
        then = read_now(source, after=first[-1].position)
        both = [d for d in then if d.tables]
        assert [sorted(d.tables) for d in both] == [["a", "b"]]


def test_a_finished_table_is_never_read_again(database: Database, world: World) -> None:
    make(database, "t")
    database.run("CREATE ROLE reader LOGIN REPLICATION PASSWORD 'reader'")
    try:
        database.run("GRANT CREATE ON DATABASE " + database.name + " TO reader; GRANT SELECT ON t TO reader")
        database.run("GRANT CREATE ON SCHEMA public TO reader; ALTER TABLE t OWNER TO reader")
        table = database.table("t", "id int, n int", "id", username="reader", password="reader")
        with world.source(table) as source:
            first = read_now(source)
            source.commit(first[-1].position)
        database.run(
            "INSERT INTO t VALUES (2, 2); REVOKE ALL ON t FROM reader; ALTER TABLE t OWNER TO postgres"
        )
        with world.source(table, after=first[-1].position) as source:
            assert brief(read_now(source, after=first[-1].position), "t") == [("insert", 2, 2)]
        POSTGRES.forget([database.table("t", "id int")], world.context)
        assert database.slots() == [] and database.publications() == []
    finally:
        database.run("DROP OWNED BY reader; DROP ROLE reader")


def test_what_was_not_committed_is_said_again(database: Database, world: World) -> None:
    make(database, "t")
    table = database.table("t", "id int, n int", "id")
    with world.source(table) as source:
        database.run("INSERT INTO t VALUES (2, 2)")
        once = read_now(source)
    with world.source(table) as source:
        assert brief(read_to(source, once[-1].position), "t") == brief(once, "t")
        repeated = source.read(None, 1, upto=once[-1].position)
        assert repeated is not None and repeated.position == once[-1].position
        assert brief([repeated], "t") == brief(once, "t")


def test_what_was_committed_cannot_be_asked_for_again(database: Database, world: World) -> None:
    make(database, "t")
    table = database.table("t", "id int, n int", "id")
    with world.source(table) as source:
        source.commit(read_now(source)[-1].position)
    with pytest.raises(SourceError, match="the log no longer has its beginning"), world.source(table):
        pass


def test_a_table_that_comes_later_gets_its_own_snapshot(database: Database, world: World) -> None:
    make(database, "a", "b")
    a, b = database.table("a", "id int, n int", "id"), database.table("b", "id int, n int", "id")
    with world.source(a) as source:
        first = read_now(source)
    database.run("INSERT INTO a VALUES (2, 2); INSERT INTO b VALUES (2, 2)")
    source = open_source([a, b], world.context)
    whole = source.start(first[-1].position)
    try:
        assert whole is not None and whole > first[-1].position
        database.run("UPDATE b SET n = 3 WHERE id = 2")
        then = read_now(source, after=first[-1].position)
    finally:
        source.close()
    assert then[0].position >= whole, "nothing is delivered while a table would seem empty"
    assert bag(first + then, "a") == {(1, 1): 1, (2, 2): 1}
    assert bag(then, "b") == {(1, 1): 1, (2, 3): 1}
    assert len(brief(then, "a")) == 1, "the table that was there is not read again"
    assert len(database.slots()) == 1, "the slot for the snapshot is gone"


def test_a_table_declared_otherwise_is_read_again(database: Database, world: World) -> None:
    make(database, "a", "b")
    a, b = database.table("a", "id int, n int", "id"), database.table("b", "id int, n int", "id")
    with world.source(a, b) as source:
        first = read_now(source)
    with world.source(database.table("a", "id int", "id"), after=first[-1].position) as source:
        then = read_now(source, after=first[-1].position)
    assert brief(then, "a") == [("insert", 1)] and brief(then, "b") == []
    with world.source(database.table("a", "id int", "id"), b, after=then[-1].position) as source:
        later = read_now(source, after=then[-1].position)
    assert brief(later, "a") == [] and brief(later, "b") == [("insert", 1, 1)]


def test_latest_offset_says_only_what_comes(database: Database, world: World) -> None:
    make(database, "t")
    with world.source(database.table("t", "id int, n int", scan__startup__mode="latest-offset")) as source:
        database.run("INSERT INTO t VALUES (2, 2)")
        assert brief(read_now(source), "t") == [("insert", 2, 2)]


def test_committed_offset_goes_on_from_the_slot(database: Database, world: World) -> None:
    make(database, "t")
    table = database.table(
        "t", "id int, n int", "id", scan__startup__mode="committed-offset", slot__name="mine_1"
    )
    with pytest.raises(SourceError, match="there is no replication slot 'mine_1'"), world.source(table):
        pass
    assert database.publications() == []
    database.run("CREATE PUBLICATION mine_1 FOR TABLE t")
    database.run("SELECT pg_create_logical_replication_slot('mine_1', 'pgoutput')")
    database.run("INSERT INTO t VALUES (2, 2)")
    with world.source(table) as source:
        assert brief(read_now(source), "t") == [("insert", 2, 2)]


def test_snapshot_needs_no_slot_and_then_says_nothing(database: Database, world: World) -> None:
    make(database, "t")
    table = database.table("t", "id int, n int", "id", scan__startup__mode="snapshot")
    with world.source(table) as source:
        end = source.now()
        database.run("INSERT INTO t VALUES (2, 2)")
        said = read_to(source, end)
        assert brief(said, "t") == [("insert", 1, 1)]
        assert source.read(said[-1].position, 10, wait=0.3) is None
        assert database.slots() == [] and database.publications() == []
    with world.source(table, after=end) as source:
        assert source.read(end, 10) is None


def test_different_slots_in_one_database_are_an_error(database: Database, world: World) -> None:
    make(database, "a", "b")
    a = database.table("a", "id int", "id", slot__name="one")
    b = database.table("b", "id int", "id", slot__name="two")
    with pytest.raises(OptionError, match=r"different values of 'slot\.name'") as raised:
        open_source([a, b], world.context)
    assert "table 'a' has 'one', table 'b' has 'two'" in raised.value.detail
    silent = replace(b, options=database.options("b"))
    with world.source(a, silent):
        assert database.slots() == ["one"]


def test_a_start_that_fails_leaves_the_slot_that_somebody_else_made_meanwhile(
    database: Database, world: World
) -> None:
    make(database, "t")
    config = config_of([database.table("t", "id int, n int", "id")], world.context, after=None)

    def come_between(report: Report) -> None:
        if report.stage == "slot":
            database.run("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", config.slot)

    taken = pytest.raises(psycopg2.errors.DuplicateObject)
    with closing(LogWriter(config.folder, notation="lsn")) as log, taken:
        begin(config, log, come_between)
    assert database.slots() == [config.slot] and database.publications() == []


def test_a_slot_for_a_moment_that_a_killed_capture_still_holds_is_waited_for(
    database: Database, world: World
) -> None:
    make(database, "a", "b")
    tables = [database.table(name, "id int, n int", "id") for name in ("a", "b")]
    with world.source(tables[0]) as source:
        read_now(source)
    # As one that takes its place: it is the one that waits for long.
    config = replace(config_of(tables, world.context, after=None), again=True)
    waited: list[str] = []
    with closing(connect_replication(config.address)) as killed:
        create_slot(killed, f"{config.slot}_first", temporary=True)

        def notice(report: Report) -> None:
            # The slot of the source before may not be free yet either.
            if report.stage == "waiting" and f"{config.slot}_first" in report.subject and not waited:
                waited.append(report.subject)
                killed.close()

        with closing(LogWriter(config.folder, notation="lsn")) as log:
            begin(config, log, notice)
            assert set(log.manifest.tables()) == {"a", "b"}
    assert len(waited) == 1


def test_an_empty_table_and_a_wide_one_come_through(database: Database, world: World) -> None:
    database.run("CREATE TABLE empty (id int PRIMARY KEY); CREATE TABLE wide (id int PRIMARY KEY, x text)")
    database.run("INSERT INTO wide VALUES (1, repeat('ab,\"\n', 2000000)), (2, NULL)")
    tables = [database.table("empty", "id int", "id"), database.table("wide", "id int, x string", "id")]
    with world.source(*tables) as source:
        said = read_now(source)
    assert brief(said, "empty") == []
    assert brief(said, "wide") == [("insert", 1, 'ab,"\n' * 2_000_000), ("insert", 2, None)]


def test_a_large_snapshot_stays_in_files(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t SELECT i, i FROM generate_series(1, 600000) i"
    )
    database.run("ANALYZE t")
    expected = pa.array(range(1, 600_001), pa.int32())
    with world.source(database.table("t", "id int, n int", "id")) as source:
        said = read_now(source)
        (part,) = parts(said, "t")
        assert part.rows is None and len(part.files) > 1 and part.whole_rows
        found = pa.concat_tables(pq.ParquetFile(path).read() for path in part.files)
        assert found.select(["id", "n"]) == pa.table({"id": expected, "n": expected})
        numbers = found.column(SEQ).to_pylist()
        assert numbers == sorted(set(numbers)) and numbers[0] == 1
    first, *_, last = [r for r in world.reports if r.stage == "snapshot"]
    assert first == Report("snapshot", "t", 0, 600_000)
    assert (last.done, last.total, last.seconds_left) == (600_000, 600_000, 0)


def test_an_idle_position_moves_when_asked(database: Database, world: World) -> None:
    make(database, "t")
    with world.source(database.table("t", "id int, n int", "id")) as source:
        first = read_now(source)
        database.run("CREATE TABLE other (id int); INSERT INTO other SELECT generate_series(1, 1000)")
        then = read_now(source, after=first[-1].position)
        assert all(not d.tables for d in then)
