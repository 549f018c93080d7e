"""What the log says of tables, change by change.

Oracle: the changes as they were made, written down by hand.
"""

from __future__ import annotations

import pytest

from headwater.log.events import UNCHANGED
from tests.postgres.world import Database, World, bag, brief, events, parts, read_now

pytestmark = pytest.mark.services

LARGE = "x" * 3000 + "".join(chr(65 + i % 57) for i in range(9000))


def test_a_table_with_full_identity_says_whole_rows(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, name text); ALTER TABLE t REPLICA IDENTITY FULL")
    database.run("INSERT INTO t VALUES (1, 'ann'), (2, NULL)")
    with world.source(database.table("t", "id int, name string", "id")) as source:
        first = read_now(source)
        assert brief(first, "t") == [("insert", 1, "ann"), ("insert", 2, None)]
        database.together(
            "INSERT INTO t VALUES (3, '')",
            "UPDATE t SET name = 'bob' WHERE id = 2",
            "UPDATE t SET id = 10 WHERE id = 1",
            "DELETE FROM t WHERE id = 3",
        )
        then = read_now(source, after=first[-1].position)
        assert brief(then, "t") == [
            ("insert", 3, ""),
            ("delete", 2, None),
            ("insert", 2, "bob"),
            ("delete", 1, "ann"),
            ("insert", 10, "ann"),
            ("delete", 3, ""),
        ]
        assert parts(then, "t")[0].whole_rows
        assert then[-1].committed_at is not None


def test_a_table_with_its_key_as_identity_says_what_became_of_keys(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, name text)")
    database.run("INSERT INTO t VALUES (1, 'ann'), (2, 'bob')")
    with world.source(database.table("t", "id int, name string", "id")) as source:
        first = read_now(source)
        database.together(
            "UPDATE t SET name = 'eve' WHERE id = 1",
            "UPDATE t SET id = 20 WHERE id = 2",
            "DELETE FROM t WHERE id = 1",
        )
        then = read_now(source, after=first[-1].position)
        assert brief(then, "t") == [
            ("upsert", 1, "eve"),
            ("delete_key", 2, None),
            ("upsert", 20, "bob"),
            ("delete_key", 1, None),
        ]
        assert not parts(then, "t")[0].whole_rows


def test_an_index_can_be_the_identity(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, code text NOT NULL UNIQUE, n int);"
        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_code_key; INSERT INTO t VALUES (1, 'a', 1)"
    )
    with world.source(database.table("t", "id int, code string, n int", "code")) as source:
        first = read_now(source)
        database.run("UPDATE t SET n = 2; DELETE FROM t")
        then = read_now(source, after=first[-1].position)
    assert brief(then, "t") == [("upsert", 1, "a", 2), ("delete_key", None, "a", None)]


def test_every_key_can_move_at_once(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, n int); ALTER TABLE t REPLICA IDENTITY FULL;"
        "INSERT INTO t SELECT i, i FROM generate_series(1, 100) i"
    )
    with world.source(database.table("t", "id int, n int")) as source:
        first = read_now(source)
        database.run("UPDATE t SET id = id + 1")
        said = first + read_now(source, after=first[-1].position)
    assert bag(said, "t") == {(i + 1, i): 1 for i in range(1, 101)}


def test_a_truncate_is_an_event_of_each_table(database: Database, world: World) -> None:
    database.run("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
    database.run("INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)")
    tables = [database.table("a", "id int", "id"), database.table("b", "id int", "id")]
    with world.source(*tables) as source:
        first = read_now(source)
        database.together("TRUNCATE a, b", "INSERT INTO b VALUES (2)")
        then = read_now(source, after=first[-1].position)
    assert brief(then, "a") == [("truncate", None)]
    assert brief(then, "b") == [("truncate", None), ("insert", 2)]
    assert not parts(then, "a")[0].whole_rows


def test_large_values_that_did_not_change_are_filled_or_named(database: Database, world: World) -> None:
    for name in ("whole", "keyed"):
        database.run(f"CREATE TABLE {name} (id int PRIMARY KEY, n int, large text)")
        database.run(f"ALTER TABLE {name} ALTER large SET STORAGE EXTERNAL")
        database.run(f"INSERT INTO {name} VALUES (1, 1, %s)", LARGE)
    database.run("ALTER TABLE whole REPLICA IDENTITY FULL")
    tables = [database.table(name, "id int, n int, large string", "id") for name in ("whole", "keyed")]
    with world.source(*tables) as source:
        first = read_now(source)
        database.run("UPDATE whole SET n = 2; UPDATE keyed SET n = 2; UPDATE keyed SET id = 5")
        then = read_now(source, after=first[-1].position)
    assert brief(then, "whole") == [("delete", 1, 1, LARGE), ("insert", 1, 2, LARGE)]
    assert brief(then, "keyed") == [
        ("upsert", 1, 2, None),
        ("delete_key", 1, None, None),
        ("upsert", 5, 2, None),
    ]
    unchanged = [row[UNCHANGED] for row in events(then, "keyed")]
    assert unchanged == [["large"], None, ["large"]]


def test_only_declared_columns_are_read_in_declared_order(database: Database, world: World) -> None:
    database.run('CREATE TABLE t (id int PRIMARY KEY, "Big Name" text, hidden int, note text)')
    database.run("ALTER TABLE t REPLICA IDENTITY FULL; INSERT INTO t VALUES (1, 'a', 1, 'x')")
    tables = [
        database.table("t", "note string, big name string, id bigint"),
        database.table("again", "id string", table_name="t"),
    ]
    with world.source(*tables) as source:
        first = read_now(source)
        database.run("UPDATE t SET hidden = 2")
        database.run("ALTER TABLE t ADD COLUMN more int DEFAULT 3; ALTER TABLE t DROP COLUMN hidden")
        database.run("INSERT INTO t VALUES (2, 'b', 'y', 4)")
        said = first + read_now(source, after=first[-1].position)
    assert brief(said, "t") == [("insert", "x", "a", 1), ("insert", "y", "b", 2)]
    assert brief(said, "again") == [("insert", "1"), ("insert", "2")]


def test_partitions_come_under_the_name_of_their_table(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id int, day int, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);"
        "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10);"
        "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20); INSERT INTO t VALUES (1, 1), (2, 11)"
    )
    with world.source(database.table("t", "id int, day int", "id", "day")) as source:
        first = read_now(source)
        database.run("UPDATE t SET day = 12 WHERE id = 1")
        then = read_now(source, after=first[-1].position)
    assert sorted(brief(first, "t")) == [("insert", 1, 1), ("insert", 2, 11)]
    assert brief(then, "t") == [("delete_key", 1, 1), ("insert", 1, 12)]


def test_what_is_rolled_back_was_never_said(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    with world.source(database.table("t", "id int", "id")) as source:
        database.run("BEGIN; INSERT INTO t VALUES (1); ROLLBACK")
        database.together(
            "INSERT INTO t VALUES (2)", "SAVEPOINT s", "INSERT INTO t VALUES (3)", "ROLLBACK TO s"
        )
        assert brief(read_now(source), "t") == [("insert", 2)]


def test_a_transaction_of_any_size_comes_whole(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int, note text); ALTER TABLE t REPLICA IDENTITY FULL")
    with world.source(database.table("t", "id int, note string")) as source:
        database.run("INSERT INTO t VALUES (0, 'before')")
        database.together(
            "INSERT INTO t SELECT i, 'note ' || i FROM generate_series(1, 120000) i",
            "DELETE FROM t WHERE id = 7",
        )
        database.run("INSERT INTO t VALUES (-1, 'after')")
        said = read_now(source)
        large = [part for part in parts(said, "t") if part.count >= 120_001]
        assert len(large) == 1, "the transaction came at once"
        assert len(large[0].files) >= 3, "it was written in parts"
        expected = {(i, f"note {i}"): 1 for i in range(1, 120_001) if i != 7}
        assert bag(said, "t") == expected | {(0, "before"): 1, (-1, "after"): 1}
