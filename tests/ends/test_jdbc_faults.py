"""Deadlocks, lost connections and refusals. Oracle: the rows a second client reads afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg2
import pytest

from headwater.errors import SinkError
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc import sink as sink_module
from tests.ends.postgres_world import Database, changes, schema, sink, wait_for

pytestmark = pytest.mark.services


@pytest.fixture
def totals(database: Database, monkeypatch: pytest.MonkeyPatch) -> SinkTable:
    """A table with a row in it; pauses between tries are short."""
    monkeypatch.setattr(sink_module, "FIRST_PAUSE", 0.02)
    database.run("CREATE TABLE totals (id int PRIMARY KEY, total int)")
    return database.table("totals", schema("id int, total int", "id"))


def in_background(work: Callable[[], None]) -> tuple[threading.Thread, list[Exception]]:
    """Start work in a thread; what it raises is in the list."""
    raised: list[Exception] = []

    def run() -> None:
        try:
            work()
        except (SinkError, psycopg2.Error) as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


def waiting(database: Database) -> list[int]:
    """The sessions of sinks that wait for a lock."""
    found = database.run(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'headwater' "
        "AND datname = current_database() AND wait_event_type = 'Lock'"
    )
    return [pid for (pid,) in found]


GATE = """
CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('application_name') = 'headwater' THEN PERFORM pg_advisory_xact_lock(1); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER gate BEFORE INSERT OR UPDATE OR DELETE ON totals EXECUTE FUNCTION gate();
"""


def deadlocked(
    database: Database, other: Any, write: Callable[[], None]
) -> tuple[threading.Thread, list[Exception]]:
    """Let a sink and another session wait for each other's rows until the sink is undone; the sink goes on by itself.

    Who begins to wait last notices, and is undone: the sink stands at a gate until the other one waits.
    """
    database.run(GATE)
    other.execute("SET deadlock_timeout = '10min'")
    other.execute("UPDATE totals SET total = 99 WHERE id = 1")
    with database.client() as gate:
        gate.execute("SELECT pg_advisory_lock(1)")
        thread, raised = in_background(write)
        wait_for(lambda: bool(waiting(database)))
        second, refused = in_background(
            lambda: other.execute("UPDATE headwater_batches SET batch_id = batch_id")
        )
        everyone = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        wait_for(lambda: database.run(everyone) == [(2,)])
        gate.execute("SELECT pg_advisory_unlock(1)")
    second.join()
    assert refused == []
    return thread, raised


def test_a_deadlock_is_tried_again(database: Database, totals: SinkTable) -> None:
    with sink(totals) as to, database.client() as other:
        to.write([changes(totals, (1, 1, 10))], 1)
        second = [changes(totals, (-1, 1, 10), (1, 1, 11))]
        thread, raised = deadlocked(database, other, lambda: to.write(second, 2))
        # The sink's first try is undone; it comes again after this.
        other.connection.commit()
        thread.join()
    assert raised == []
    assert database.run("SELECT * FROM totals") == [(1, 11)]
    counted = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    wait_for(lambda: database.run(counted) == [(1,)])


def test_a_connection_that_is_killed_in_the_middle_is_made_again(
    database: Database, totals: SinkTable
) -> None:
    with sink(totals) as to, database.client() as holder:
        to.write([changes(totals, (1, 1, 10))], 1)
        holder.execute("LOCK TABLE totals")
        thread, raised = in_background(lambda: to.write([changes(totals, (-1, 1, 10), (1, 2, 20))], 2))
        wait_for(lambda: bool(waiting(database)))
        database.run("SELECT pg_terminate_backend(%s)", waiting(database)[0])
        holder.connection.rollback()
        thread.join()
        assert raised == []
        assert to.last_batch() == 2
    assert database.run("SELECT * FROM totals") == [(2, 20)]


def test_a_connection_that_was_killed_between_batches_is_made_again(
    database: Database, totals: SinkTable
) -> None:
    with sink(totals) as to:
        to.write([changes(totals, (1, 1, 10))], 1)
        database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'headwater' AND datname = current_database()"
        )
        to.write([changes(totals, (1, 2, 20))], 2)
    assert database.run("SELECT * FROM totals ORDER BY 1") == [(1, 10), (2, 20)]


def test_after_the_last_try_nothing_is_written_and_the_error_says_so(
    database: Database, totals: SinkTable
) -> None:
    table = database.table("totals", totals.schema, sink__max_retries="0")
    with sink(table) as to, database.client() as other:
        to.write([changes(table, (1, 1, 10))], 1)
        second = [changes(table, (-1, 1, 10), (1, 2, 20))]
        thread, raised = deadlocked(database, other, lambda: to.write(second, 2))
        thread.join()
    assert isinstance(raised[0], SinkError)
    assert raised[0].message == "sink table 'totals' could not be written in 1 try"
    assert "deadlock" in raised[0].detail
    assert database.run("SELECT * FROM totals") == [(1, 10)]


@pytest.mark.parametrize(
    ("make", "row", "hint"),
    [
        ("id int PRIMARY KEY, total varchar(3)", (1, "long"), "Widen the column, or shorten the value"),
        ("id int PRIMARY KEY, total text NOT NULL", (1, None), "Make the column nullable, or replace NULL"),
        ("id int PRIMARY KEY, total uuid", (1, "no"), "Cast the value in the query to what the column takes"),
        ("id int PRIMARY KEY, total text", (1, "a\0b"), "Remove the character 0 in the query"),
        ("id int PRIMARY KEY, total text UNIQUE", (2, "there"), "Another unique index of the table forbids"),
    ],
)
def test_a_value_the_table_refuses_is_an_error_with_a_hint(
    database: Database, make: str, row: tuple[object, ...], hint: str
) -> None:
    database.run(f"CREATE TABLE refusing ({make})")
    if "UNIQUE" in make:
        database.run("INSERT INTO refusing VALUES (1, 'there')")
    table = database.table("refusing", schema("id int, total string", "id"))
    with sink(table) as to, pytest.raises(SinkError) as caught:
        to.write([changes(table, (1, *row))], 1)
    assert "'refusing'" in caught.value.message
    assert caught.value.hint.startswith(hint)


def test_a_table_that_was_dropped_or_altered_under_us_is_an_error(
    database: Database, totals: SinkTable
) -> None:
    with sink(totals) as to:
        database.run("ALTER TABLE totals DROP COLUMN total")
        with pytest.raises(SinkError) as caught:
            to.write([changes(totals, (1, 1, 1))], 1)
        assert caught.value.hint == "The table was altered: restart the pipeline, or put the column back."
        database.run("DROP TABLE totals")
        with pytest.raises(SinkError) as caught:
            to.write([changes(totals, (1, 1, 1))], 1)
        assert caught.value.hint == "The table was dropped: create it again."
