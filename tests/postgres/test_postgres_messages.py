"""An application's messages as rows of a table, straight from the log.

Oracle: the messages as they were sent, written down by hand, and what the server answered when they were.
"""

from __future__ import annotations

import datetime
import os
import signal
from dataclasses import replace
from typing import Any

import pytest

from headwater.errors import OptionError, SourceError
from headwater.log.events import POSITION
from headwater.sources.base import SourceTable, only_inserts
from headwater.sources.postgres.catalog import describe, resolving_key
from headwater.sources.postgres.source import POSTGRES, forget
from tests.postgres.world import Database, World, brief, events, read_now, wait_for

pytestmark = pytest.mark.services

ALL = (
    "prefix string, content string, lsn string, transaction_id bigint, commit_time timestamp,"
    " transactional boolean"
)


def messages(
    database: Database, columns: str = "content string", *key: str, prefix: str = "orders", **more: str
) -> SourceTable:
    """A declared table of messages."""
    return database.table("m", columns, *key, table_name="", messages__prefix=prefix, **more)


def send(database: Database, content: str, *, prefix: str = "orders", transactional: bool = True) -> Any:
    """Write a message; where the server says it stands."""
    given = (transactional, prefix, content)
    return database.run("SELECT pg_logical_emit_message(%s, %s, %s)::text", *given)[0][0]


def test_a_message_is_a_row_with_all_the_server_knows_of_it(database: Database, world: World) -> None:
    table = SourceTable("m", describe(messages(database).options), messages(database).options)
    with world.source(table) as source:
        before = datetime.datetime.now(datetime.UTC)
        with database.client() as client, client, client.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()::text::bigint")
            (xid,) = cursor.fetchone()
            cursor.execute("SELECT pg_logical_emit_message(true, 'orders', 'é {\"a\": 1}')::text")
            (first,) = cursor.fetchone()
        second = send(database, "", transactional=False)
        said = events(read_now(source), "m")
    moment = said[0]["commit_time"]
    after = datetime.datetime.now(datetime.UTC)
    assert before <= moment <= after
    shown = [[row[name] for name in table.schema.names] for row in said]
    assert shown == [
        ["orders", 'é {"a": 1}', first, xid, moment, True],
        ["orders", "", second, None, None, False],
    ]


def test_a_message_and_the_changes_of_its_transaction_share_one_position(
    database: Database, world: World
) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    with world.source(messages(database), database.table("t", "id int", "id")) as source:
        for number in (1, 2):
            database.together(
                f"SELECT pg_logical_emit_message(true, 'orders', 'before {number}')",
                f"INSERT INTO t VALUES ({number})",
                f"SELECT pg_logical_emit_message(true, 'orders', 'after {number}')",
            )
        database.run("BEGIN; SELECT pg_logical_emit_message(true, 'orders', 'never'); ROLLBACK")
        said = read_now(source)
    assert brief(said, "m") == [("insert", f"{word} {n}") for n in (1, 2) for word in ("before", "after")]
    one, two = (row[POSITION] for row in events(said, "t"))
    assert [row[POSITION] for row in events(said, "m")] == [one, one, two, two]


def test_a_message_outside_of_transactions_comes_at_its_own_place(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    with world.source(messages(database), database.table("t", "id int", "id")) as source:
        database.run("INSERT INTO t VALUES (1)")
        database.together(
            "SELECT pg_logical_emit_message(true, 'orders', 'with the transaction')",
            "INSERT INTO t VALUES (2)",
            "SELECT pg_logical_emit_message(false, 'orders', 'before its commit')",
        )
        database.run("BEGIN; SELECT pg_logical_emit_message(false, 'orders', 'rolled back'); ROLLBACK")
        send(database, "last", transactional=False)
        said = read_now(source)
    contents = ["before its commit", "with the transaction", "rolled back", "last"]
    assert brief(said, "m") == [("insert", content) for content in contents]
    early, inside, rolled, last = (row[POSITION] for row in events(said, "m"))
    one, two = (row[POSITION] for row in events(said, "t"))
    assert one < early < inside == two < rolled < last


def test_after_a_restart_no_message_is_lost_or_doubled(database: Database, world: World) -> None:
    table = messages(database)
    send(database, "before the start")
    with world.source(table) as source:
        send(database, "1")
        send(database, "2", transactional=False)
        first = read_now(source)
    send(database, "3", transactional=False)
    send(database, "4")
    send(database, "5", transactional=False)
    with world.source(table, after=first[-1].position) as source:
        send(database, "6", transactional=False)
        then = read_now(source, after=first[-1].position)
    assert [content for _, content in brief(first, "m")] == ["1", "2"]
    assert [content for _, content in brief(then, "m")] == ["3", "4", "5", "6"]
    assert events(first, "m")[-1][POSITION] < events(then, "m")[0][POSITION]


def test_a_capture_that_is_killed_again_and_again_tells_each_message_once(
    database: Database, world: World
) -> None:
    sent = [str(number) for number in range(120)]
    with world.source(messages(database)) as source:
        for number, content in enumerate(sent):
            if number % 40 == 20:
                killed = source.capture_pid
                os.kill(killed, signal.SIGKILL)
                wait_for(lambda killed=killed: source.capture_pid != killed)  # type: ignore[misc]  # bound in the loop
            send(database, content, transactional=number % 2 == 0)
        assert [content for _, content in brief(read_now(source), "m")] == sent


def test_content_can_be_bytes_and_lsn_a_number(database: Database, world: World) -> None:
    columns = "lsn bigint, content binary, commit_time timestamp_ntz, transactional string"
    with world.source(messages(database, columns, "lsn")) as source:
        ((place,),) = database.run("SELECT pg_logical_emit_message(true, 'orders', %s)::text", b"\xff\x00a")
        high, low = (int(part, 16) for part in place.split("/"))
        ((_, lsn, content, moment, transactional),) = brief(read_now(source), "m")
    assert (lsn, content, transactional) == ((high << 32) + low, b"\xff\x00a", "true")
    assert abs(moment - datetime.datetime.now(datetime.UTC).replace(tzinfo=None)) < datetime.timedelta(
        minutes=5
    )


def test_bytes_that_are_no_text_are_an_error_that_says_so(database: Database, world: World) -> None:
    with world.source(messages(database)) as source:
        send(database, "good")
        database.run("SELECT pg_logical_emit_message(true, 'orders', %s)", b"caf\xe9")
        with pytest.raises(SourceError) as raised:
            read_now(source)
    assert "column 'content' of table 'm' does not fit its type string" in raised.value.message
    assert r"caf\xe9" in raised.value.detail
    assert "'content BYTES'" in raised.value.hint


def test_a_table_reads_the_prefixes_it_names(database: Database, world: World) -> None:
    expected = {
        "orders": ["orders"],
        "orders, audit.login": ["orders", "audit.login"],
        "audit*": ["audit", "audit.login"],
        "*": ["orders", "audit", "audit.login", "or.ers"],
        "or?ers": [],
    }
    tables = [replace(messages(database, "prefix string", prefix=prefix), name=prefix) for prefix in expected]
    with world.source(*tables) as source:
        for sent in ("orders", "audit", "headwater", "audit.login", "or.ers"):
            send(database, "x", prefix=sent)
        said = read_now(source)
    assert {prefix: [found for _, found in brief(said, prefix)] for prefix in expected} == expected


def test_messages_alone_need_no_table_and_leave_nothing_behind(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    with world.source(messages(database)) as source:
        database.run("INSERT INTO t VALUES (1)")
        send(database, "1")
        first = read_now(source)
        assert database.run("SELECT count(*) FROM pg_publication_tables") == [(0,)]
    database.run(f"DROP PUBLICATION {database.publications()[0]}")
    database.run("INSERT INTO t VALUES (2)")
    with world.source(messages(database), after=first[-1].position) as source:
        send(database, "2")
        then = read_now(source, after=first[-1].position)
    assert [content for _, content in brief(first + then, "m")] == ["1", "2"]
    forget([messages(database)], world.context)
    assert (database.slots(), database.publications()) == ([], [])


def test_messages_can_be_added_beside_a_table_that_is_not_read_again(
    database: Database, world: World
) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
    table = database.table("t", "id int", "id")
    with world.source(table) as source:
        first = read_now(source)
    send(database, "before they were declared")
    world.reports.clear()
    with world.source(table, messages(database), after=first[-1].position) as source:
        database.together("INSERT INTO t VALUES (2)", "SELECT pg_logical_emit_message(true, 'orders', 'new')")
        then = read_now(source, after=first[-1].position)
    assert brief(then, "m") == [("insert", "new")]
    assert brief(then, "t") == [("insert", 2)]
    assert [report for report in world.reports if report.stage == "snapshot"] == []


def test_another_prefix_begins_anew(database: Database, world: World) -> None:
    with world.source(messages(database)) as source:
        first = read_now(source)
    send(database, "old", prefix="audit")
    with world.source(messages(database, prefix="audit"), after=first[-1].position) as source:
        send(database, "no longer")
        send(database, "new", prefix="audit")
        assert brief(read_now(source, after=first[-1].position), "m") == [("insert", "new")]


def test_messages_can_begin_where_a_slot_stands(database: Database, world: World) -> None:
    database.run("CREATE PUBLICATION mine")
    database.run("SELECT pg_create_logical_replication_slot('mine', 'pgoutput')")
    send(database, "kept by the slot")
    table = messages(
        database,
        slot__name="mine",
        debezium__publication__name="mine",
        scan__startup__mode="committed-offset",
    )
    with world.source(table) as source:
        assert brief(read_now(source), "m") == [("insert", "kept by the slot")]


def test_a_role_that_may_not_publish_is_told_what_to_do(database: Database, world: World) -> None:
    database.run("CREATE ROLE outbox_reader LOGIN REPLICATION PASSWORD 'postgres'")
    try:
        with (
            pytest.raises(SourceError) as raised,
            world.source(messages(database, username="outbox_reader")),
        ):
            pass
    finally:
        database.run("DROP ROLE outbox_reader")
    assert raised.value.message == "role 'outbox_reader' may not make a publication"
    assert "FOR TABLE" not in raised.value.hint
    assert database.slots() == []


@pytest.mark.parametrize(
    ("columns", "key", "message", "hint"),
    [
        ("contents string", (), "messages have no column 'contents'", "Did you mean 'content'?"),
        ("content int", (), "column 'content' of table 'm' cannot be read as int", "STRING or BYTES"),
        ("lsn date", (), "column 'lsn' of table 'm' cannot be read as date", "STRING or BIGINT"),
        ("prefix string", ("prefix",), "a key of table 'm' must hold lsn", "(lsn)"),
    ],
)
def test_a_declaration_that_does_not_fit_messages_is_refused(
    database: Database, world: World, columns: str, key: tuple[str, ...], message: str, hint: str
) -> None:
    with pytest.raises(SourceError) as raised, world.source(messages(database, columns, *key)):
        pass
    assert raised.value.message == message
    assert hint in raised.value.hint
    assert database.slots() == []


def test_options_of_messages_and_of_tables_do_not_mix(database: Database) -> None:
    with pytest.raises(OptionError, match="needs option 'table-name'") as raised:
        database.options("")
    assert "messages.prefix" in raised.value.hint
    with pytest.raises(OptionError, match="cannot stand beside 'table-name'"):
        database.options("t", messages__prefix="orders")
    with pytest.raises(OptionError, match=r"'messages\.prefix' does not take"):
        database.options("", messages__prefix="orders, headwater")
    with pytest.raises(OptionError, match="has no meaning for messages"):
        database.options("", messages__prefix="orders", scan__startup__mode="snapshot")


def test_messages_only_ever_come(database: Database) -> None:
    found = messages(database).options
    assert only_inserts(POSTGRES, found) and resolving_key(found) == ()
    assert not only_inserts(POSTGRES, database.options("t"))
    assert POSTGRES.origin(found) != POSTGRES.origin(database.options("orders"))
    assert POSTGRES.group(found) == POSTGRES.group(database.options("t"))
