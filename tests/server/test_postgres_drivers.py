"""Programs at the endpoint: psycopg2 with cursors, prepared statements and transactions; many of them at once.

Oracle: the rows that were put there; inside a transaction, those that were there at its first query.
"""

from __future__ import annotations

import logging
import os
import random
import resource
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal

import psycopg2
import psycopg2.errors
import pytest
from psycopg2.extensions import TRANSACTION_STATUS_IDLE

from headwater.services.running import is_alive
from tests.postgres.world import wait_for
from tests.server.made_up import exchanged, mutated
from tests.server.postgres_world import ORDERS, World, fill, postgres_world

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An endpoint that asks for a password; two are right."""
    with postgres_world(tmp_path_factory.mktemp("world"), passwords=("sécret", "only reads")) as made:
        yield made


@pytest.fixture()
def world(made: World) -> World:
    """The same, with the rows that it began with, and without the clients of the test before."""
    wait_for(lambda: made.reader.held_by == made.reader.answering == 0)
    made.reader.now = {}
    fill(made.reader)
    return made


@pytest.fixture()
def client(world: World) -> Iterator[psycopg2.extensions.connection]:
    """A client that has said who it is."""
    with closing(world.connect()) as connected:
        yield connected


def rows(
    client: psycopg2.extensions.connection, query: str, given: object = None
) -> list[tuple[object, ...]]:
    """What a query gives."""
    with client.cursor() as cursor:
        cursor.execute(query, given)
        return list(cursor.fetchall())


def test_a_client_proves_any_of_the_tokens_and_no_other_password(world: World) -> None:
    for password in ("sécret", "only reads"):
        with closing(world.connect(password=password)) as client:
            assert rows(client, "SELECT count(*) FROM orders") == [(4,)]
    for wrong in ({"password": "secret"}, {"user": "postgres"}, {"password": ""}):
        with pytest.raises(psycopg2.OperationalError, match="password") as refused:
            world.connect(**wrong)
        assert "sécret" not in str(refused.value)


def test_two_queries_in_one_transaction_see_one_cut(
    world: World, client: psycopg2.extensions.connection
) -> None:
    assert rows(client, "SELECT count(*) FROM orders") == [(4,)]
    world.reader.put("shop.orders", ORDERS, [(1, "ann", Decimal("1.00"))], key=("id",))
    world.reader.put("shop.totals", {"customer": "string"}, [("ann",)])
    assert rows(client, "SELECT count(*) FROM orders") == [(4,)]
    assert rows(client, "SELECT sum(orders) FROM totals") == [(4,)]
    assert world.reader.held_by == 1
    client.commit()
    assert rows(client, "SELECT count(*) FROM orders") == [(1,)]
    assert rows(client, "SELECT customer FROM totals") == [("ann",)]
    client.rollback()
    wait_for(lambda: world.reader.held_by == 0)


def test_a_client_that_is_gone_holds_nothing(world: World) -> None:
    client = world.connect()
    rows(client, "SELECT count(*) FROM orders")
    assert world.reader.held_by == 1
    client.close()
    wait_for(lambda: world.reader.held_by == 0)


def test_a_postgres_behind_that_died_is_started_again(world: World) -> None:
    with closing(world.connect()) as client:
        assert rows(client, "SELECT count(*) FROM orders") == [(4,)]
        behind = world.endpoint.shapes.pid
        assert behind is not None
        os.kill(behind, signal.SIGKILL)
        # Until it is gone, what it began for this client could still answer.
        wait_for(lambda: not is_alive(behind))
        with pytest.raises(psycopg2.Error):
            rows(client, "SELECT count(*) FROM pg_class; SELECT count(*) FROM orders")
    with closing(world.connect()) as client:
        assert rows(client, "SELECT count(*) FROM orders") == [(4,)]
        assert rows(client, "SELECT count(*) FROM pg_class WHERE relname = 'totals'") == [(1,)]


def test_after_an_error_a_transaction_is_over(client: psycopg2.extensions.connection) -> None:
    with pytest.raises(psycopg2.errors.ReadOnlySqlTransaction) as refused:
        rows(client, "DELETE FROM orders")
    assert refused.value.diag.message_hint == "Views are read here; change the source."
    with pytest.raises(psycopg2.errors.InFailedSqlTransaction):
        rows(client, "SELECT count(*) FROM orders")
    client.rollback()
    assert rows(client, "SELECT count(*) FROM orders") == [(4,)]


def test_a_cursor_gives_its_rows_piece_by_piece(client: psycopg2.extensions.connection) -> None:
    with client.cursor("orders by id") as cursor:
        cursor.itersize = 3
        cursor.execute("SELECT id FROM orders WHERE id > %s ORDER BY id", (1,))
        assert cursor.fetchone() == (2,)
        assert cursor.fetchmany(5) == [(3,), (4,)]
        assert cursor.fetchall() == []
    with pytest.raises(psycopg2.errors.InvalidCursorName):
        rows(client, 'FETCH 1 FROM "orders by id"')
    client.rollback()


def test_a_cursor_with_hold_outlives_its_transaction(
    world: World, client: psycopg2.extensions.connection
) -> None:
    with client.cursor("held", withhold=True) as cursor:
        cursor.execute("SELECT id FROM orders ORDER BY id")
        client.commit()
        assert world.reader.answering == 1
        assert cursor.fetchone() == (1,)
    assert world.reader.answering == 0
    with pytest.raises(psycopg2.errors.FeatureNotSupported):
        rows(client, "DECLARE odd SCROLL CURSOR FOR SELECT id FROM orders; FETCH BACKWARD 1 FROM odd")


def test_a_prepared_statement_takes_parameters(client: psycopg2.extensions.connection) -> None:
    with client.cursor() as cursor:
        cursor.execute(
            "PREPARE of_customer (text, int) AS SELECT id FROM orders WHERE customer = $1 AND id < $2"
        )
    assert rows(client, "EXECUTE of_customer('ann', 2)") == [(1,)]
    assert rows(client, "EXECUTE of_customer('bøb', 9)") == [(3,)]
    with client.cursor() as cursor:
        cursor.execute("DEALLOCATE of_customer")
    with pytest.raises(psycopg2.errors.InvalidSqlStatementName):
        rows(client, "EXECUTE of_customer('ann', 2)")


def test_tools_ask_the_catalog(client: psycopg2.extensions.connection) -> None:
    grafana = (
        "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = 'shop' ORDER BY 1"
    )
    assert rows(client, grafana) == [("orders",), ("totals",)]
    metabase = (
        "SELECT c.relname, has_table_privilege(c.oid, 'SELECT'), has_any_column_privilege(c.oid, 'UPDATE')"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'shop' AND c.relkind = 'v'"
    )
    assert rows(client, metabase) == [("totals", True, False)]
    keys = "SELECT conkey FROM pg_constraint WHERE conrelid = 'shop.orders'::regclass AND contype = 'p'"
    assert rows(client, keys) == [([1],)]
    assert rows(client, "SELECT current_schema(), current_database()") == [("shop", "headwater")]


def test_a_query_that_is_cancelled_ends(world: World) -> None:
    world.reader.waits_for = threading.Event()
    try:
        psql = world.open_psql("SELECT count(*) FROM orders")
        assert world.reader.waiting.wait(120)
        psql.send_signal(signal.SIGINT)
        assert "canceling statement due to user request" in psql.communicate(timeout=120)[1]
    finally:
        world.reader.waits_for = None


def test_a_query_of_the_catalog_that_is_cancelled_ends(
    world: World, client: psycopg2.extensions.connection
) -> None:
    client.autocommit = True
    psql = world.open_psql("SELECT pg_sleep(100)")
    sleeping = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    wait_for(lambda: rows(client, sleeping) == [(1,)])
    psql.send_signal(signal.SIGINT)
    assert "canceling statement due to user request" in psql.communicate(timeout=120)[1]


def test_a_hundred_thousand_rows_stream_through(world: World, client: psycopg2.extensions.connection) -> None:
    text = "x" * 500
    world.reader.put("shop.many", {"id": "int", "text": "string"}, [(i, text) for i in range(100_000)])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with client.cursor("many") as cursor:
        cursor.itersize = 5_000
        cursor.execute("SELECT id, text FROM many ORDER BY id")
        assert sum(number for number, _ in cursor) == 99_999 * 100_000 // 2
    # The rows take fifty megabytes, and DuckDB has them twice; what is sent is never all there as well.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000
    assert client.notices == []


def test_many_clients_ask_at_once(world: World) -> None:
    def ask(number: int) -> list[tuple[object, ...]]:
        with closing(world.connect()) as client:
            return rows(client, "SELECT id FROM orders WHERE id = %s", (number % 4 + 1,))

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, range(60))) == [[(number % 4 + 1,)] for number in range(60)]


QUERIES = (
    "SELECT id, customer, total FROM orders WHERE id IN (1, 2) AND customer LIKE 'a%' ORDER BY total DESC LIMIT 2",
    "SELECT o.id, t.total::numeric(10,1) FROM shop.orders o LEFT JOIN totals t ON t.customer = o.customer",
    "WITH w AS (SELECT customer, count(*) AS n FROM orders GROUP BY 1) SELECT w.*, sum(n) OVER () FROM w",
    "SELECT CASE WHEN total > 5 THEN 'x' || id ELSE upper(customer) END, round(total / 3, 2) FROM orders",
    "DECLARE c CURSOR FOR SELECT id FROM orders; FETCH 2 FROM c; CLOSE c",
    "PREPARE p AS SELECT total FROM orders WHERE id = $1; EXECUTE p (1); DEALLOCATE p",
    "BEGIN; SELECT sum(orders) FROM totals; SELECT relname FROM pg_class WHERE relname = 'orders'; COMMIT",
    "INSERT INTO orders VALUES (1); SET search_path = shop; SHOW search_path; EXPLAIN SELECT * FROM orders",
)


def test_made_up_statements_are_answered_or_refused_and_end_no_conversation(
    world: World, client: psycopg2.extensions.connection, random_seed: str, caplog: pytest.LogCaptureFixture
) -> None:
    client.autocommit = True
    dice = random.Random(random_seed)
    for number in range(600):
        text = exchanged(QUERIES, dice) if number % 2 else mutated(dice.choice(QUERIES), dice)
        text = text.replace("\0", "")
        with client.cursor() as cursor:
            try:
                cursor.execute(text)
            except psycopg2.Error as problem:
                assert problem.pgcode not in (None, "XX000") or "empty query" in str(problem), (problem, text)
            if client.info.transaction_status != TRANSACTION_STATUS_IDLE:
                cursor.execute("ROLLBACK")
    assert rows(client, "SELECT count(*) FROM shop.orders") == [(4,)]
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []
