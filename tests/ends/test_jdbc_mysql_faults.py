"""Deadlocks, lost connections and servers that die. Oracle: the rows that a second client reads afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pymysql
import pytest

from headwater.errors import SinkError
from headwater.services.mysql import MysqlServer
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc import sink as sink_module
from headwater.sinks.jdbc.mysql import session
from headwater.sinks.jdbc.mysql.session import is_away
from tests.ends.kafka_world import Heard
from tests.ends.lossy import Lossy
from tests.ends.mysql_world import MysqlDatabase
from tests.ends.postgres_world import changes, schema, sink, wait_for
from tests.ends.test_jdbc_faults import in_background

pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

TOTALS = schema("id int, total int", "id")


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_module, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(sink_module, "LONGEST_PAUSE", 0.2)


def make_totals(database: MysqlDatabase, *, retries: str = "3") -> SinkTable:
    database.run("CREATE TABLE totals (id int PRIMARY KEY, total int)")
    return database.table("totals", TOTALS, sink__max_retries=retries)


@pytest.mark.parametrize("retries", ["0", "3"])
def test_a_deadlock_is_tried_again_as_often_as_said(maria: MysqlDatabase, retries: str) -> None:
    table = make_totals(maria, retries=retries)
    maria.run("CREATE TABLE heavy (id int PRIMARY KEY)")
    with sink(table) as to, maria.client() as other:
        to.write([changes(table, (1, 1, 10))], 1)
        # The server undoes the transaction that wrote less.
        other.execute("INSERT INTO heavy VALUES " + ", ".join(f"({n})" for n in range(50)))
        other.execute("UPDATE totals SET total = 99 WHERE id = 1")
        thread, raised = in_background(lambda: to.write([changes(table, (-1, 1, 10), (1, 1, 11))], 2))
        maria.wait_for_waiting()
        other.execute("UPDATE headwater_batches SET batch_id = batch_id + 0")
        other.connection.commit()
        thread.join()
        if retries == "0":
            assert isinstance(raised[0], SinkError)
            assert raised[0].message == "sink table 'totals' could not be written in 1 try"
            assert "Deadlock" in raised[0].detail and to.last_batch() == 1
            assert maria.run("SELECT * FROM totals") == [(1, 99)]
        else:
            assert raised == [] and maria.run("SELECT * FROM totals") == [(1, 11)]


def test_a_lock_that_is_held_too_long_is_tried_again(
    maria: MysqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "BEGIN", (*session.BEGIN, "SET innodb_lock_wait_timeout = 1"))
    # As many tries as it takes this test to look.
    table = make_totals(maria, retries="1000")
    with sink(table) as to, maria.client() as other:
        to.write([changes(table, (1, 1, 10))], 1)
        other.execute("SELECT * FROM totals FOR UPDATE")
        thread, raised = in_background(lambda: to.write([changes(table, (-1, 1, 10), (1, 2, 20))], 2))
        (waiting,) = maria.wait_for_waiting()
        # Its transaction is over, or it waits anew in the next one.
        began = f"SELECT trx_id FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = {waiting}"
        before = maria.run(began)
        wait_for(lambda: maria.run(began) != before, pause=0.15)
        other.connection.rollback()
        thread.join()
        assert raised == [] and to.last_batch() == 2
    assert maria.run("SELECT * FROM totals") == [(2, 20)]


def test_a_connection_that_is_killed_is_made_again(maria: MysqlDatabase) -> None:
    table, waits = make_totals(maria), Heard()
    with sink(table, waits=waits) as to, maria.client() as holder:
        to.write([changes(table, (1, 1, 10))], 1)
        holder.execute("SELECT * FROM totals FOR UPDATE")
        thread, raised = in_background(lambda: to.write([changes(table, (-1, 1, 10), (1, 2, 20))], 2))
        maria.run(f"KILL {maria.wait_for_waiting()[0]}")
        holder.connection.rollback()
        thread.join()
        assert raised == [] and to.last_batch() == 2
        sessions = (
            f"SELECT id FROM information_schema.processlist WHERE db = '{maria.name}' AND command = 'Sleep'"
        )
        for (number,) in maria.run(sessions):
            maria.run(f"KILL {number}")
        to.write([changes(table, (1, 3, 30))], 3)
    assert maria.run("SELECT * FROM totals ORDER BY 1") == [(2, 20), (3, 30)]
    assert waits.said == []


def test_a_commit_whose_answer_is_lost_is_not_done_twice(maria: MysqlDatabase) -> None:
    maria.run("CREATE TABLE notes (text varchar(9))")
    with Lossy(maria.server.port) as way:
        url = maria.url("?sslMode=DISABLED", port=way.port)
        table = maria.table("notes", schema("text string"), append_only=True, url=url)
        with sink(table) as to:
            way.is_armed = True
            to.write([changes(table, (1, "once"))], 1)
            assert (way.lost, to.last_batch()) == (1, 1)
    assert maria.run("SELECT * FROM notes") == [("once",)]


def test_what_was_altered_under_us_is_an_error(maria: MysqlDatabase) -> None:
    table = make_totals(maria)
    with sink(table) as to:
        maria.run("ALTER TABLE totals DROP COLUMN total")
        with pytest.raises(SinkError) as caught:
            to.write([changes(table, (1, 1, 1))], 1)
        assert caught.value.hint == "The table was altered: restart the pipeline, or put the column back."
        maria.run("DROP TABLE totals")
        with pytest.raises(SinkError) as caught:
            to.write([changes(table, (1, 1, 1))], 1)
        assert caught.value.hint == "The table was dropped: create it again."


@pytest.fixture
def own() -> Iterator[MysqlServer]:
    """A server that may be killed."""
    folder = Path(mkdtemp(prefix="headwater-mysql-"))
    try:
        with MysqlServer(folder) as running:
            yield running
    finally:
        shutil.rmtree(folder)


def test_a_server_that_is_killed_in_the_middle_of_a_batch_is_waited_for(own: MysqlServer) -> None:
    waits, database = Heard(), MysqlDatabase(own)
    # Many more tries than 'sink.max-retries' allows are made while the server is away.
    database.run("CREATE TABLE notes (id int, total int)")
    table = make_totals(database, retries="1")
    notes = database.table("notes", schema("id int, total int"), append_only=True)
    with sink(table, notes, waits=waits) as to:
        to.write([changes(table, (1, 1, 10), (1, 2, 20)), changes(notes, (1, 1, 1))], 1)
        second = [changes(table, (-1, 1, 10), (1, 3, 30)), changes(notes, (1, 2, 2))]
        with database.client() as holder:
            holder.execute("SELECT * FROM totals FOR UPDATE")
            thread, raised = in_background(lambda: to.write(second, 2))
            database.wait_for_waiting()
            own.kill()
        wait_for(lambda: bool(waits.said))
        assert thread.is_alive()
        own.start()
        thread.join(200)
        assert raised == [] and to.last_batch() == 2
        to.write(second, 2)
        to.write([changes(table, (1, 4, 40))], 3)
        with database.client() as cursor:
            cursor.execute("SELECT * FROM totals ORDER BY 1")
            assert cursor.fetchall() == ((2, 20), (3, 30), (4, 40))
            cursor.execute("SELECT * FROM notes ORDER BY 1")
            assert cursor.fetchall() == ((1, 1), (2, 2))
    assert f"MySQL at 127.0.0.1:{own.port} does not answer" in (waits.said[0] or "")
    assert waits.said[1:] == [None]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (pymysql.err.OperationalError(2003, "no connection came about"), True),
        (pymysql.err.OperationalError(2013, "Lost connection"), True),
        (pymysql.err.OperationalError(1040, "Too many connections"), True),
        (pymysql.err.OperationalError(1053, "Server shutdown in progress"), True),
        (pymysql.err.InterfaceError(0, ""), True),
        (pymysql.err.OperationalError(1045, "Access denied"), False),
        (pymysql.err.OperationalError(1049, "Unknown database"), False),
        (pymysql.err.IntegrityError(1062, "Duplicate entry"), False),
    ],
)
def test_what_is_waited_for_and_what_is_not(error: pymysql.Error, expected: bool) -> None:
    assert is_away(error) is expected
