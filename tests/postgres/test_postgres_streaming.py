"""Transactions that the server sends before they are committed: only what is committed is told, in the order of commits.

Oracle: the changes as they were made, written down by hand, and the rows of the table at the end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from headwater.log.events import COMMITTED, POSITION, TRANSACTION, UNCHANGED
from headwater.sources.postgres.server import number
from tests.postgres.streams import HELD, MUCH, capturing, fill, stream_early, was_streamed
from tests.postgres.world import Database, World, bag, brief, events, parts, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, note string"
ROWS = "SELECT id, note FROM t"


def make(database: Database, *, identity: str = "FULL") -> None:
    database.run(f"CREATE TABLE t (id int PRIMARY KEY, note text); ALTER TABLE t REPLICA IDENTITY {identity}")


@pytest.mark.parametrize("held", HELD)
def test_transactions_that_run_beside_each_other_come_in_the_order_of_their_commits(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    table = database.table("t", COLUMNS, "id")
    with capturing(database, world, monkeypatch, table, held=held) as capture:
        with database.client() as one, database.client() as two, one.cursor() as a, two.cursor() as b:
            for step in range(3):
                fill(a, first=1_000 + 100 * step)
                fill(b, first=2_000 + 100 * step)
                database.run("INSERT INTO t VALUES (%s, 'small')", step)
            two.commit()
            database.run("INSERT INTO t VALUES (3, 'between')")
            one.commit()
        database.run("INSERT INTO t VALUES (4, 'last')")
        said = capture.read()
        assert was_streamed(database)
    found = events(said, "t")
    expected = [0, 1, 2, *range(2_000, 2_300), 3, *range(1_000, 1_300), 4]
    assert [row["id"] for row in found] == expected
    assert bag(said, "t") == Counter(database.run(ROWS))
    positions = [row[POSITION] for row in found]
    assert positions == sorted(positions)
    assert len({row[TRANSACTION] for row in found}) == 7
    assert len({(row[TRANSACTION], row[COMMITTED]) for row in found}) == 7


@pytest.mark.parametrize("held", HELD)
def test_what_is_rolled_back_leaves_nothing(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    with capturing(database, world, monkeypatch, database.table("t", COLUMNS, "id"), held=held) as capture:
        with database.client() as client, client.cursor() as cursor:
            fill(cursor, count=300)
            client.rollback()
            for savepoint, first in (("a", 1_000), ("b", 2_000), ("c", 3_000)):
                fill(cursor, first=first)
                cursor.execute(f"SAVEPOINT {savepoint}")
            fill(cursor, first=4_000)
            cursor.execute("ROLLBACK TO c")
            fill(cursor, first=5_000, count=5)
            cursor.execute("RELEASE c; ROLLBACK TO b")
            fill(cursor, first=6_000)
            cursor.execute("SAVEPOINT d; DELETE FROM t WHERE id < 1050")
            cursor.execute("ROLLBACK TO d; RELEASE d")
            cursor.execute("DELETE FROM t WHERE id = 1001; UPDATE t SET note = 'new' WHERE id = 6001")
            client.commit()
        said = capture.read()
        assert was_streamed(database)
    expected = Counter(database.run(ROWS))
    assert {id for id, _ in expected} == {
        1_000,
        *range(1_002, 1_100),
        *range(2_000, 2_100),
        *range(6_000, 6_100),
    }
    assert bag(said, "t") == expected


@pytest.mark.parametrize("held", HELD)
def test_many_small_rollbacks_leave_nothing(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    with capturing(database, world, monkeypatch, database.table("t", COLUMNS, "id"), held=held) as capture:
        database.run(
            f"DO $$ BEGIN FOR i IN 1..400 LOOP BEGIN INSERT INTO t VALUES (i, {MUCH});"
            " IF i % 3 = 0 THEN RAISE EXCEPTION 'no'; END IF; EXCEPTION WHEN raise_exception THEN NULL;"
            " END; END LOOP; END $$"
        )
        said = capture.read()
        assert was_streamed(database)
    assert [row["id"] for row in events(said, "t")] == [i for i in range(1, 401) if i % 3]
    assert bag(said, "t") == Counter(database.run(ROWS))


@pytest.mark.parametrize("held", HELD)
def test_a_table_is_read_as_committed_transactions_have_made_it(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    with capturing(database, world, monkeypatch, database.table("t", COLUMNS, "id"), held=held) as capture:
        with database.client() as client, client.cursor() as cursor:
            cursor.execute("ALTER TABLE t DROP COLUMN note; ALTER TABLE t ADD COLUMN other int")
            cursor.execute("INSERT INTO t SELECT i, i FROM generate_series(1, 3000) i")
            client.rollback()
            fill(cursor, first=1)
            cursor.execute("SAVEPOINT s; ALTER TABLE t DROP COLUMN note; ALTER TABLE t ADD COLUMN other int")
            cursor.execute("INSERT INTO t SELECT i, i FROM generate_series(10000, 13000) i")
            cursor.execute("ROLLBACK TO s")
            fill(cursor, first=101, count=50)
            client.commit()
            fill(cursor, first=151, count=50)
            cursor.execute("ALTER TABLE t ADD COLUMN before text")
            cursor.execute("ALTER TABLE t RENAME note TO old; ALTER TABLE t ADD COLUMN note text")
            cursor.execute(f"INSERT INTO t SELECT i, {MUCH}, 'b', 'n' FROM generate_series(201, 300) i")
            client.commit()
        database.run("INSERT INTO t VALUES (301, 'a', 'b', 'c')")
        said = capture.read()
        assert was_streamed(database)
    found = [(row["id"], len(row["note"])) for row in events(said, "t")]
    assert found == [*((i, 1_280) for i in range(1, 201)), *((i, 1) for i in range(201, 302))]


@pytest.mark.parametrize("held", HELD)
def test_a_type_that_only_the_transaction_sees_is_read_as_declared(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    database.run("ALTER TABLE t ADD COLUMN n int")
    table = database.table("t", "id int, note string, n int", "id")
    with capturing(database, world, monkeypatch, table, held=held) as capture:
        with database.client() as client, client.cursor() as cursor:
            for end in (client.rollback, client.commit):
                cursor.execute("CREATE DOMAIN small AS int CHECK (VALUE < 10000)")
                cursor.execute("ALTER TABLE t ALTER COLUMN n TYPE small")
                cursor.execute(f"INSERT INTO t SELECT i, {MUCH}, i FROM generate_series(1, 200) i")
                end()
        database.run("INSERT INTO t VALUES (201, 'last', 201)")
        said = capture.read()
        assert was_streamed(database)
    assert bag(said, "t") == Counter(database.run("SELECT id, note, n FROM t"))


@pytest.mark.parametrize("held", HELD)
def test_a_value_that_does_not_fit_is_an_error_only_if_it_is_committed(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    database.run("ALTER TABLE t ADD COLUMN n numeric")
    table = database.table("t", "id int, note string, n decimal(10,2)", "id")
    with capturing(database, world, monkeypatch, table, held=held) as capture:
        with database.client() as client, client.cursor() as cursor:
            cursor.execute(f"INSERT INTO t SELECT i, {MUCH}, 'NaN' FROM generate_series(1, 200) i")
            client.rollback()
            fill(cursor)
            client.commit()
            said = capture.read()
            cursor.execute(f"INSERT INTO t SELECT i, {MUCH}, 'NaN' FROM generate_series(301, 500) i")
            client.commit()
        wait_for(lambda: bool(capture.ended))
    assert [row["id"] for row in events(said, "t")] == list(range(1, 101))
    assert "column 'n' of table 't' does not fit its type decimal(10,2)" in str(capture.ended[0])


@pytest.mark.parametrize("held", HELD)
def test_all_kinds_of_changes_stand_in_a_stream(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database, identity="DEFAULT")
    database.run("CREATE TYPE mood AS ENUM ('good'); CREATE TABLE u (id int PRIMARY KEY, m mood)")
    database.run("ALTER TABLE t ALTER note SET STORAGE EXTERNAL; INSERT INTO u VALUES (0, 'good')")
    tables = database.table("t", COLUMNS, "id"), database.table("u", "id int, m string", "id")
    with capturing(database, world, monkeypatch, *tables, held=held) as capture:
        with database.client() as client, client.cursor() as cursor:
            cursor.execute("INSERT INTO t VALUES (1, repeat('x', 100000)); TRUNCATE u")
            fill(cursor, first=2)
            cursor.execute("UPDATE t SET id = -1 WHERE id = 1; INSERT INTO u VALUES (1, 'good')")
            fill(cursor, first=102)
            client.commit()
        said = capture.read()
        assert was_streamed(database)
    assert brief(said, "u") == [("insert", 0, "good"), ("truncate", None, None), ("insert", 1, "good")]
    told = [(row["id"], row[UNCHANGED]) for row in events(said, "t")]
    assert told[101:103] == [(1, None), (-1, ["note"])]
    assert [id for id, _ in told[:101] + told[103:]] == list(range(1, 202))


@pytest.mark.parametrize("held", HELD)
def test_messages_of_an_application_stand_in_a_stream(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    told = "content string, transaction_id bigint, commit_time timestamp"
    messages = database.table("m", told, table_name="", messages__prefix="x")
    tables = database.table("t", COLUMNS, "id"), messages
    with capturing(database, world, monkeypatch, *tables, held=held) as capture:
        with database.client() as client, client.cursor() as cursor:
            fill(cursor)
            cursor.execute("SELECT pg_logical_emit_message(true, 'x', 'inside')")
            cursor.execute("SELECT pg_logical_emit_message(false, 'x', 'outside')")
            fill(cursor, first=101)
            client.commit()
        said = capture.read()
        assert was_streamed(database)
    rows, ((xid, committed),) = events(said, "t"), {(r[TRANSACTION], r[COMMITTED]) for r in events(said, "t")}
    assert [row["id"] for row in rows] == list(range(1, 201))
    found = [(row["content"], row["transaction_id"], row["commit_time"]) for row in events(said, "m")]
    assert found == [("outside", None, None), ("inside", int(xid), committed)]


@pytest.mark.parametrize("held", HELD)
def test_what_is_rolled_back_behind_a_message_leaves_what_was_before_it(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    """From the message on nothing is read ahead; the table was announced before it, and was not again."""
    make(database)
    with capturing(database, world, monkeypatch, database.table("t", COLUMNS, "id"), held=held) as capture:
        with database.client() as client, client.cursor() as cursor:
            fill(cursor)
            cursor.execute("SELECT pg_logical_emit_message(true, 'x', 'inside')")
            fill(cursor, first=101)
            cursor.execute("SAVEPOINT s")
            fill(cursor, first=201)
            cursor.execute("ROLLBACK TO s")
            fill(cursor, first=301)
            client.commit()
        said = capture.read()
        assert was_streamed(database)
    assert [row["id"] for row in events(said, "t")] == [*range(1, 201), *range(301, 401)]
    assert bag(said, "t") == Counter(database.run(ROWS))


@pytest.mark.parametrize("held", HELD)
def test_columns_beside_the_rows_tell_of_the_commit(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    made = database.table("t", f"{COLUMNS}, op_ts timestamp, lsn string, txid bigint, row_kind string", "id")
    table = replace(made, metadata={name: name for name in ("op_ts", "lsn", "txid", "row_kind")})
    with capturing(database, world, monkeypatch, table, held=held) as capture:
        with database.client() as client, client.cursor() as cursor:
            fill(cursor)
            client.commit()
        found = events(capture.read(), "t")
        assert was_streamed(database)
    assert {(row["op_ts"], str(row["txid"])) for row in found} == {
        (found[0][COMMITTED], found[0][TRANSACTION])
    }
    ((lsn, kind),) = {(row["lsn"], row["row_kind"]) for row in found}
    assert kind == "+I" and number(lsn) < min(row[POSITION] for row in found)


@pytest.mark.parametrize("held", HELD)
def test_first_rows_have_what_was_committed_before_them(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    stream_early(database)
    database.run("CREATE TABLE u (id int PRIMARY KEY, note text); ALTER TABLE u REPLICA IDENTITY FULL")
    one, two = database.table("t", COLUMNS, "id"), database.table("u", COLUMNS, "id")
    with world.source(one) as source:
        first = read_now(source)
    with database.client() as client, client.cursor() as cursor:
        for table in ("t", "u"):
            fill(cursor, table=table)
        client.commit()
        # The stream begins before this, the first rows of the second table after it.
        with capturing(database, world, monkeypatch, one, two, held=held) as capture:
            fill(cursor, table="u", first=101)
            client.commit()
            said = capture.read()
            assert was_streamed(database)
    assert not parts(first, "t")
    for table in ("t", "u"):
        assert bag(said, table) == Counter(database.run(f"SELECT id, note FROM {table}"))
