"""A sink waits for a Postgres that is away and goes on with the very batch. Oracle: the rows of a second client."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress

import psycopg2
import pytest

from headwater.errors import SinkError
from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from headwater.services.running import is_alive
from headwater.sinks.jdbc import sink as sink_module
from headwater.sinks.jdbc.postgres.session import is_away
from tests.ends.kafka_world import Heard
from tests.ends.lossy import Lossy
from tests.ends.postgres_world import Database, changes, schema, sink, wait_for
from tests.ends.test_jdbc_faults import in_background, waiting

pytestmark = pytest.mark.services

TOTALS = schema("id int, total int", "id")


@pytest.fixture
def own() -> Iterator[EmbeddedPostgres]:
    """A server that may be killed."""
    with temporary_postgres() as running:
        yield running


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_module, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(sink_module, "LONGEST_PAUSE", 0.2)


def make_totals(database: Database) -> None:
    database.run("CREATE TABLE totals (id int PRIMARY KEY, total int)")


def kill(server: EmbeddedPostgres, sessions: list[tuple[int, ...]]) -> None:
    """End a server and its sessions as a power cut would; while one of them is left, it does not start again."""
    pids = [server.pid, *(pid for (pid,) in sessions)]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not any(map(is_alive, pids)))


def test_a_server_that_is_killed_in_the_middle_of_a_batch_is_waited_for(own: EmbeddedPostgres) -> None:
    waits, database = Heard(), Database(own.uri)
    # Many more tries than 'sink.max-retries' allows are made while the server is away.
    make_totals(database)
    table = database.table("totals", TOTALS, sink__max_retries="1")
    with sink(table, waits=waits) as to:
        to.write([changes(table, (1, 1, 10), (1, 2, 20))], 1)
        with database.client() as holder:
            holder.execute("LOCK TABLE totals")
            thread, raised = in_background(lambda: to.write([changes(table, (-1, 1, 10), (1, 3, 30))], 2))
            wait_for(lambda: bool(waiting(database)))
            kill(own, database.run("SELECT pid FROM pg_stat_activity"))
        wait_for(lambda: bool(waits.said))
        assert thread.is_alive()
        own.start()
        thread.join(200)
        assert raised == [] and to.last_batch() == 2
        to.write([changes(table, (1, 4, 40))], 3)
    assert Database(own.uri).run("SELECT * FROM totals ORDER BY 1") == [(2, 20), (3, 30), (4, 40)]
    assert f"Postgres at 127.0.0.1:{own.port} does not answer" in (waits.said[0] or "")
    assert waits.said[1:] == [None]


def test_a_commit_whose_answer_is_lost_is_not_done_twice(database: Database) -> None:
    database.run("CREATE TABLE lines (text text)")
    port = int(database.url().rsplit(":", 1)[1].split("/")[0])
    with Lossy(port) as way:
        url = database.url().replace(f":{port}/", f":{way.port}/")
        table = database.table("lines", schema("text string"), append_only=True, url=url)
        with sink(table) as to:
            way.is_armed = True
            to.write([changes(table, (1, "once"))], 1)
            assert (way.lost, to.last_batch()) == (1, 1)
    assert database.run("SELECT * FROM lines") == [("once",)]


def test_a_login_that_is_refused_while_waiting_is_an_error(database: Database) -> None:
    database.run("DROP ROLE IF EXISTS leaver")
    database.run("CREATE ROLE leaver LOGIN PASSWORD 'once' SUPERUSER")
    make_totals(database)
    table = database.table("totals", TOTALS, username="leaver", password="once")
    with sink(table) as to:
        database.run("ALTER ROLE leaver PASSWORD 'other'")
        to.close()
        with pytest.raises(SinkError) as caught:
            to.write([changes(table, (1, 1, 10))], 1)
    assert caught.value.message.startswith("cannot connect to Postgres")
    assert caught.value.hint == "Check the options 'username' and 'password'."
    database.run("DROP OWNED BY leaver")
    database.run("DROP ROLE leaver")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('connection to server at "h", port 1 failed: Connection refused', True),
        ("connection failed: FATAL:  the database system is starting up", True),
        ("connection failed: FATAL:  the database system is shutting down", True),
        ("connection failed: FATAL:  the database system is in recovery mode", True),
        ("connection failed: FATAL:  sorry, too many clients already", True),
        ("server closed the connection unexpectedly", True),
        ("SSL SYSCALL error: EOF detected", True),
        ('connection failed: FATAL:  password authentication failed for user "u"', False),
        ('connection failed: FATAL:  database "x" does not exist', False),
        ('connection failed: FATAL:  role "u" does not exist', False),
        ('connection failed: FATAL:  no pg_hba.conf entry for host "h"', False),
        ("connection failed: fe_sendauth: no password supplied", False),
        ("server does not support SSL, but SSL was required", False),
        ("SSL error: certificate verify failed", False),
        ('connection failed: could not load private key file "k.pem": bad decrypt', False),
        ('connection failed: private key file "k.pem" has group or world access', False),
        ('weak sslmode "require" may not be used with sslrootcert=system (use "verify-full")', False),
        ('invalid port number: "99999"', False),
    ],
)
def test_what_is_waited_for_and_what_is_not(said: str, expected: bool) -> None:
    assert is_away(psycopg2.OperationalError(said)) is expected
