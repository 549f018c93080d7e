"""Nothing lost, nothing doubled, nothing left running, whatever is killed.

Oracle: the rows of the table at the end, and the processes and slots that are there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headwater.errors import SourceError, StateError
from headwater.log.manifest import Manifest
from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from headwater.sources.postgres.config import config_of, log_folder
from headwater.sources.postgres.source import POSTGRES, open_source
from tests.faults.line import Line
from tests.postgres.captures import Started, captured
from tests.postgres.world import Database, World, bag, brief, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, n int"


def make(database: Database, rows: int = 10) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int); ALTER TABLE t REPLICA IDENTITY FULL")
    database.run("INSERT INTO t SELECT i, 0 FROM generate_series(1, %s) i", rows)


def alive(pid: int) -> bool:
    """True if a process runs; one that waits to be reaped does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@contextmanager
def writing(database: Database) -> Iterator[None]:
    """Someone who changes rows all the while."""
    stop = threading.Event()

    def write() -> None:
        with database.client() as client, client.cursor() as cursor:
            number = 1000
            while not stop.is_set():
                number += 1
                cursor.execute("INSERT INTO t VALUES (%s, 0)", (number,))
                cursor.execute("UPDATE t SET n = n + 1 WHERE id <= 5")
                cursor.execute("DELETE FROM t WHERE id = %s", (number - 3,))
                client.commit()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def test_a_capture_that_is_killed_comes_back_and_loses_nothing(database: Database, world: World) -> None:
    make(database)
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        with writing(database):
            for _ in range(5):
                before = source.capture_pid
                os.kill(before, signal.SIGKILL)
                said += read_now(source, after=said[-1].position)
                assert source.capture_pid != before
        said += read_now(source, after=said[-1].position)
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))
    assert [r.stage for r in world.reports].count("reconnect") >= 5


def test_what_the_server_was_told_never_passes_what_is_durable(database: Database, world: World) -> None:
    make(database)
    confirmed = (
        "SELECT (confirmed_flush_lsn - '0/0'::pg_lsn)::int8 FROM pg_replication_slots"
        " WHERE database = current_database()"
    )
    with world.source(database.table("t", COLUMNS, "id")) as source:
        log = Manifest(log_folder(world.context))
        said = read_now(source)
        for _ in range(30):
            # Log that is not ours makes the server send keepalives with positions beyond what we know.
            database.run("INSERT INTO t VALUES (-1, 0); DELETE FROM t WHERE id = -1")
            database.run("CREATE TABLE other AS SELECT generate_series(1, 100); DROP TABLE other")
            told, durable = database.run(confirmed)[0][0], log.number("last")
            assert durable is not None and told <= durable
        said += read_now(source, after=said[-1].position)
        wait_for(lambda: database.run(confirmed)[0][0] >= said[-1].position.value - 1)
        log.close()


@pytest.mark.parametrize("bytes_through", [0, 500, 1_000, 2_000, 3_000, 4_500, 6_000])
def test_a_line_that_breaks_while_the_source_starts_is_tried_again(
    database: Database, world: World, bytes_through: int
) -> None:
    make(database)
    with Line(int(database.port or 0)) as line:
        table = database.table("t", COLUMNS, "id", port=str(line.port))
        line.short = [bytes_through] * 2
        assert POSTGRES.resolving_key(table.options) == ()
        line.short = [bytes_through] * 3
        with world.source(table) as source:
            assert not line.short
            database.run("INSERT INTO t VALUES (11, 11)")
            line.short = [bytes_through]
            said = read_now(source)
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))


def test_a_server_that_always_hangs_up_is_told_of(database: Database, world: World) -> None:
    make(database)
    with Line(int(database.port or 0)) as line:
        line.short = [0] * 100
        with (
            pytest.raises(SourceError, match="does not answer"),
            world.source(database.table("t", COLUMNS, "id", port=str(line.port))),
        ):
            pass
    assert database.slots() == []


def test_a_capture_ends_with_its_parent(database: Database, tmp_path: Path) -> None:
    make(database)
    script = textwrap.dedent(
        f"""
        import sys, time
        from pathlib import Path
        from tests.postgres.world import Database, World
        database = Database({database.uri!r})
        world = World(Path({str(tmp_path)!r}))
        with world.source(database.table("t", "{COLUMNS}", "id")) as source:
            print(source.capture_pid, flush=True)
            sys.stdin.read()
        """
    )
    house = str(Path(__file__).parent.parent.parent)
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": house},
    )
    assert parent.stdout is not None and parent.stdin is not None
    capture = int(parent.stdout.readline())
    assert alive(capture)
    shown = Path(f"/proc/{capture}/cmdline").read_bytes() + Path(f"/proc/{capture}/environ").read_bytes()
    assert b"postgres:postgres" not in shown and b"password" not in shown.lower()
    parent.kill()
    wait_for(lambda: not alive(capture))
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()


def test_a_stopped_capture_still_ends_with_close(database: Database, world: World) -> None:
    make(database)
    with world.source(database.table("t", COLUMNS, "id")) as source:
        capture = source.capture_pid
        os.kill(capture, signal.SIGSTOP)
    assert not alive(capture)


def test_two_pipelines_cannot_have_one_slot(database: Database, world: World, tmp_path: Path) -> None:
    make(database)
    table = database.table("t", COLUMNS, "id", slot__name="one")
    other = World(tmp_path / "other", pipeline="second")
    with world.source(table):
        with (
            pytest.raises(SourceError, match="replication slot 'one' is in use") as raised,
            other.source(table),
        ):
            pass
        assert "'headwater test'" in raised.value.detail
        assert "slot.name" in raised.value.hint
    assert database.slots() == ["one"]


def test_one_folder_has_one_capture(database: Database, world: World) -> None:
    make(database)
    first = database.table("t", COLUMNS, "id", slot__name="one")
    second = database.table("t", COLUMNS, "id", slot__name="two")
    with (
        world.source(first),
        pytest.raises(StateError, match="the log is in use"),
        world.source(second),
    ):
        pass
    assert database.slots() == ["one"]


@pytest.mark.parametrize("letter", ["INT", "QUIT"])
def test_a_server_that_restarts_is_found_again(world: World, letter: str) -> None:
    with temporary_postgres({"fsync": "off"}) as server:
        database = Database(server.uri)
        make(database)
        with world.source(database.table("t", COLUMNS, "id")) as source:
            said = read_now(source)
            database.run("INSERT INTO t VALUES (100, 1)")
            os.kill(server.pid, signal.SIGINT if letter == "INT" else signal.SIGQUIT)
            # The server of the fixture ends; another one goes on with its data on the same port.
            server.stop()
            with EmbeddedPostgres(server.folder, server.port, settings={"fsync": "off"}):
                database = Database(server.uri)
                database.run("INSERT INTO t VALUES (101, 1)")
                said += read_now(source, after=said[-1].position)
                assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))
                database.close()
        told = [r.subject for r in world.reports if r.stage == "reconnect"]
        assert "again: " in told[0], "and why"


def test_forget_leaves_nothing_even_while_someone_reads(database: Database, world: World) -> None:
    make(database)
    table = database.table("t", COLUMNS, "id")
    source = open_source([table], world.context)
    source.start(None)
    POSTGRES.forget([table], world.context)
    assert database.slots() == [] and database.publications() == []
    source.close()
    POSTGRES.forget([table], world.context)


def test_a_crash_in_the_snapshot_is_made_good(database: Database, world: World) -> None:
    make(database, 250_000)
    database.run("CREATE TABLE s (id int PRIMARY KEY); INSERT INTO s VALUES (1)")
    tables = [database.table("s", "id int", "id"), database.table("t", COLUMNS, "id")]
    killed = []

    def kill(source_pid: int) -> None:
        killed.append(source_pid)
        os.kill(source_pid, signal.SIGKILL)

    world.context = type(world.context)(
        world.context.pipeline,
        world.context.folder,
        lambda report: kill(captures()[0]) if report.done and not killed else None,
    )
    with world.source(*tables) as source:
        database.run("UPDATE t SET n = 1 WHERE id = 5; INSERT INTO s VALUES (2)")
        said = read_now(source)
    assert killed, "the capture was killed in the middle"
    assert brief(said, "s") == [("insert", 1), ("insert", 2)]
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))
    assert len(database.slots()) == 1


def captures() -> list[int]:
    """The captures that this process has started and that run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text, command = status.read_text(), (status.parent / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if f"\nPPid:\t{os.getpid()}\n" in text and b"postgres.capture" in command:
            found.append(int(status.parent.name))
    return found


def test_the_slot_moves_in_a_busy_database_whose_table_is_idle(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(database)
    monkeypatch.setattr("headwater.sources.postgres.stream.IDLE_SECONDS", 0.2)
    monkeypatch.setattr("headwater.sources.postgres.stream.IDLE_BYTES", 10_000)
    config = config_of([database.table("t", COLUMNS, "id")], world.context, after=None)
    confirmed = "SELECT confirmed_flush_lsn > %s::pg_lsn FROM pg_replication_slots WHERE slot_name = %s"
    started = Started()
    with captured(config, monkeypatch, started) as ended:
        wait_for(lambda: bool(started))
        database.run("CREATE TABLE other AS SELECT i, 'some text' FROM generate_series(1, 20000) i")
        ((end,),) = database.run("SELECT pg_current_wal_lsn()::text")
        wait_for(lambda: database.run(confirmed, end, config.slot) == [(True,)])
        database.run("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active_pid > 0")
    assert "connection to postgres was lost" in str(ended[0])
