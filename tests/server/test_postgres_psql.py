"""psql at the endpoint: its commands, its errors, its transactions.

Oracle: the rows that were put there, and what psql prints for tables of the same shape in a Postgres.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.postgres_world import ORDERS, World, postgres_world

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An endpoint over a small shop; who comes from this machine needs no password."""
    with postgres_world(tmp_path_factory.mktemp("world")) as made:
        yield made


def test_rows_of_a_table_and_a_view_are_shown(world: World) -> None:
    assert world.psql("SELECT * FROM orders ORDER BY id DESC").splitlines() == [
        "id|customer|total",
        "4||",
        "3|bøb|7.00",
        "2|ann|4.50",
        "1|ann|10.50",
        "(4 rows)",
    ]
    assert "ann|15.00|2" in world.psql('SELECT * FROM "shop".totals WHERE orders > 1')


def test_d_lists_and_describes_relations(world: World) -> None:
    assert world.psql("\\d").splitlines()[1:-1] == [
        "Schema|Name|Type|Owner",
        "shop|orders|table|postgres",
        "shop|totals|view|postgres",
    ]
    assert "shop|orders|table" in world.psql("\\dt") and "totals" not in world.psql("\\dt")
    assert "shop|totals|view" in world.psql("\\dv") and "orders" not in world.psql("\\dv")
    described = world.psql("\\d orders").splitlines()
    assert described[:5] == [
        'Table "shop.orders"',
        "Column|Type|Collation|Nullable|Default",
        "id|integer||not null|",
        "customer|text|||",
        "total|numeric(10,2)|||",
    ]
    assert '"orders_pkey" PRIMARY KEY, btree (id)' in described[-1]
    assert "total|numeric(20,2)" in world.psql("\\d totals")
    assert "headwater|" in world.psql("\\l") and "shop|" in world.psql("\\dn")


def test_errors_have_a_place_a_hint_and_a_code(world: World) -> None:
    unknown = world.psql("SELECT custmer FROM orders", expects=1)
    assert 'column "custmer" does not exist' in unknown
    assert 'HINT:  Perhaps you meant to reference the column "orders.customer"' in unknown
    assert "LINE 1: SELECT custmer" in unknown
    assert 'relation "nothing" does not exist' in world.psql("SELECT * FROM nothing", expects=1)
    assert "syntax error at or near" in world.psql("SELECT FROM WHERE orders", expects=1)
    assert "LINE 1: BEGIN; SELECT x FROM orders" in world.psql("BEGIN; SELECT x FROM orders", expects=1)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO orders VALUES (9, 'x', 1)",
        "UPDATE orders SET total = 0",
        "DELETE FROM orders",
        "TRUNCATE orders",
        "DROP VIEW totals",
        "CREATE TABLE other AS SELECT * FROM orders",
        "SELECT * INTO other FROM orders",
        "WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone",
        "SELECT * FROM orders FOR UPDATE",
        "CREATE TABLE nothing_of_ours (a int)",
        "DO $$ BEGIN PERFORM 1; END $$",
    ],
)
def test_whatever_writes_is_refused(world: World, statement: str) -> None:
    said = world.psql(f"SET default_transaction_read_only = off; {statement}", expects=1)
    assert "read" in said or "permission denied" in said
    assert world.psql("SELECT count(*) FROM orders").splitlines()[1] == "4"


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT query_to_xml('SELECT * FROM shop.orders', true, true, '')",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_terminate_backend(1)",
        "SELECT lo_creat(-1)",
        "CREATE TEMP TABLE mine (a int)",
    ],
)
def test_nothing_is_reached_through_the_postgres_behind(world: World, statement: str) -> None:
    assert "permission denied" in world.psql(f"BEGIN READ WRITE; {statement}", expects=1)


@pytest.mark.parametrize(
    "statement", ["EXPLAIN SELECT * FROM orders", "COPY orders TO STDOUT", "MOVE orders"]
)
def test_what_would_read_the_empty_shapes_is_refused(world: World, statement: str) -> None:
    assert "is not supported here" in world.psql(statement, expects=1)


@pytest.mark.parametrize(
    "changed",
    [
        "PASSWORD 'mine'",
        "SET search_path = nowhere",
        "SET client_encoding = 'LATIN1'",
        "IN DATABASE headwater SET statement_timeout = 1",
    ],
)
def test_what_a_client_makes_of_its_role_no_other_client_meets(world: World, changed: str) -> None:
    settings = ("SHOW search_path", "SHOW client_encoding", "SHOW statement_timeout")
    before = world.psql(*settings)
    world.psql("SET default_transaction_read_only = off", f"ALTER ROLE headwater {changed}")
    assert world.psql(*settings) == before


def test_a_text_with_several_statements_is_answered_one_by_one(world: World) -> None:
    said = world.psql("BEGIN; SELECT count(*) FROM orders; SELECT 'a;b' AS t; COMMIT; SHOW search_path")
    expected = ["BEGIN", "count", "4", "(1 row)", "t", "a;b", "(1 row)", "COMMIT"]
    assert said.splitlines() == [*expected, "search_path", '"shop"', "(1 row)"]


def test_new_relations_are_seen_and_old_ones_are_gone(world: World) -> None:
    with world.connect() as client, client.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM orders")
        client.commit()
        world.reader.put("later.news", ORDERS, [(1, "x", None)], key=("id",))
        cursor.execute("SELECT customer FROM news")
        assert cursor.fetchall() == [("x",)]
        client.commit()
        world.reader.now = {name: one for name, one in world.reader.now.items() if name[0] != "later"}
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'later'")
        assert cursor.fetchall() == []
    client.close()


def test_the_database_of_a_client_says_where_bare_names_are_looked_for_first(world: World) -> None:
    world.reader.put("archive.orders", ORDERS, [(7, "old", None)], key=("id",))
    try:
        with world.connect(dbname="shop") as client, client.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM orders")
            assert cursor.fetchone() == (4,)
            cursor.execute("SELECT o.id, s.id FROM archive.orders AS o JOIN shop.orders AS s ON s.id = 1")
            assert cursor.fetchone() == (7, 1)
            cursor.execute("SET search_path = archive")
            cursor.execute("SELECT count(*) FROM orders")
            assert cursor.fetchone() == (1,)
        client.close()
    finally:
        world.reader.now = {name: one for name, one in world.reader.now.items() if name[0] != "archive"}
