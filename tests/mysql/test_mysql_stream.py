"""What the binary log says of tables, change by change.

Oracle: the changes as they were made, written down by hand, and the rows that are in the tables at the end.
"""

from __future__ import annotations

from collections import Counter

import pytest

from headwater.log.positions import Position
from tests.mysql.world import Database, World
from tests.postgres.world import bag, brief, events, parts, read_now

pytestmark = [pytest.mark.services]


CHANGES = (
    "INSERT INTO t VALUES (3, '')",
    "UPDATE t SET name = 'bob' WHERE id = 2",
    "UPDATE t SET id = 10 WHERE id = 1",
    "DELETE FROM t WHERE id = 3",
    "REPLACE INTO t VALUES (2, 'eve')",
    "INSERT INTO t VALUES (2, 'x') ON DUPLICATE KEY UPDATE name = 'kim'",
    "UPDATE keyless SET name = 'c' WHERE n = 1 LIMIT 1",
    "UPDATE t JOIN other SET t.name = 'both', other.name = 'both' WHERE t.id = 10",
)
TOLD = [
    ("insert", 3, ""),
    ("delete", 2, None),
    ("insert", 2, "bob"),
    ("delete", 1, "ann"),
    ("insert", 10, "ann"),
    ("delete", 3, ""),
    ("delete", 2, "bob"),
    ("insert", 2, "eve"),
    ("delete", 2, "eve"),
    ("insert", 2, "kim"),
    ("delete", 10, "ann"),
    ("insert", 10, "both"),
]


def test_every_change_of_a_row_is_told_with_the_whole_row(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, name varchar(20))",
        "CREATE TABLE keyless (n int, name varchar(20))",
        "CREATE TABLE other (id int PRIMARY KEY, name varchar(20))",
        "CREATE TABLE nothing (id int, name varchar(20))",
        "INSERT INTO t VALUES (1, 'ann'), (2, NULL)",
        "INSERT INTO keyless VALUES (1, 'a'), (1, 'a'), (2, 'b')",
        "INSERT INTO other VALUES (1, 'x')",
    )
    tables = [database.table(name, "id int, name string", "id") for name in ("t", "other", "nothing")]
    with world.source(*tables, database.table("keyless", "n int, name string")) as source:
        first = read_now(source)
        assert brief(first, "t") == [("insert", 1, "ann"), ("insert", 2, None)]
        assert "nothing" not in first[-1].tables
        database.together(*CHANGES)
        then = read_now(source, after=first[-1].position)
        database.run("UPDATE t SET id = id + 1 ORDER BY id DESC", "TRUNCATE keyless", "DELETE FROM other")
        last = read_now(source, after=then[-1].position)
    assert brief(then, "t") == TOLD
    assert parts(then, "t")[0].whole_rows and then[-1].committed_at is not None
    assert brief(then, "keyless") == [("delete", 1, "a"), ("insert", 1, "c")]
    assert brief(last, "keyless") == [("truncate", None, None)]
    assert bag([*first, *then, *last], "t") == {(3, "kim"): 1, (11, "both"): 1}
    assert bag([*first, *then, *last], "other") == {}


def positions(delivery_rows: list[dict[str, object]]) -> set[object]:
    return {row["__hw_position"] for row in delivery_rows}


def test_transactions_arrive_whole_and_what_is_taken_back_never_does(
    database: Database, world: World
) -> None:
    database.run(
        "CREATE TABLE a (id int PRIMARY KEY)",
        "CREATE TABLE b (id int PRIMARY KEY)",
        "CREATE TABLE old (id int PRIMARY KEY) ENGINE = MyISAM",
        "INSERT INTO old VALUES (0)",
    )
    tables = [database.table(name, "id int", "id") for name in ("a", "b", "old")]
    with world.source(*tables) as source:
        said = read_now(source)
        database.run("BEGIN", "INSERT INTO a VALUES (1)", "ROLLBACK")
        database.together(
            "INSERT INTO a VALUES (2)",
            "SAVEPOINT s",
            "INSERT INTO a VALUES (3)",
            "ROLLBACK TO SAVEPOINT s",
            "INSERT INTO b VALUES (2)",
            "INSERT INTO b VALUES (3)",
        )
        together = read_now(source, after=said[-1].position)
        assert len(positions(events(together, "a") + events(together, "b"))) == 1
        assert brief(together, "a") == [("insert", 2)]
        assert brief(together, "b") == [("insert", 2), ("insert", 3)]
        # What a table without transactions was told stays, whatever becomes of the rest.
        if database.is_maria:
            # MySQL with GTIDs refuses to mix them.
            database.run("BEGIN", "INSERT INTO a VALUES (5)", "INSERT INTO old VALUES (1)", "ROLLBACK")
        database.run("INSERT INTO old VALUES (2), (3)", "FLUSH BINARY LOGS", "INSERT INTO a VALUES (9)")
        database.run("FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
        said += together + read_now(source, after=together[-1].position)
    for name in ("a", "b", "old"):
        assert bag(said, name) == Counter(database.run(f"SELECT * FROM {name}")), name


def test_a_transaction_of_any_size_comes_whole(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int, note varchar(20))", "CREATE TABLE digits (d int)")
    database.run("INSERT INTO digits VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)")
    number = " + ".join(f"{place}.d * {10**at}" for at, place in enumerate("abcde"))
    with world.source(database.table("t", "id int, note string")) as source:
        database.run("INSERT INTO t VALUES (-2, 'before')")
        database.together(
            f"INSERT INTO t SELECT {number}, concat('note ', {number})"
            " FROM digits a, digits b, digits c, digits d, digits e",
            "DELETE FROM t WHERE id = 7",
        )
        database.run("INSERT INTO t VALUES (-1, 'after')")
        said = read_now(source)
    large = [part for part in parts(said, "t") if part.count >= 100_001]
    assert len(large) == 1, "the transaction came at once"
    assert len(large[0].files) >= 2, "it was written in parts"
    expected = {(i, f"note {i}"): 1 for i in range(100_000) if i != 7}
    assert bag(said, "t") == expected | {(-2, "before"): 1, (-1, "after"): 1}


def test_compressed_logs_are_read(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, note varchar(500))")
    is_maria = database.is_maria
    with world.source(database.table("t", "id int, note string", "id")) as source:
        if is_maria:
            database.run("SET GLOBAL log_bin_compress = ON", "SET GLOBAL log_bin_compress_min_len = 10")
        else:
            database.run("SET SESSION binlog_transaction_compression = ON")
        try:
            database.together(
                "INSERT INTO t VALUES (1, repeat('x', 500)), (2, repeat('y', 500)), (3, '')",
                "UPDATE t SET note = repeat('z', 400) WHERE id < 3",
                "DELETE FROM t WHERE id = 2",
            )
            database.run("CREATE TABLE aside (id int)", "TRUNCATE t", "INSERT INTO t VALUES (9, 'n')")
        finally:
            if is_maria:
                database.run("SET GLOBAL log_bin_compress = OFF")
        said = read_now(source)
    assert brief(said, "t") == [
        ("insert", 1, "x" * 500),
        ("insert", 2, "y" * 500),
        ("insert", 3, ""),
        ("delete", 1, "x" * 500),
        ("insert", 1, "z" * 400),
        ("delete", 2, "y" * 500),
        ("insert", 2, "z" * 400),
        ("delete", 2, "z" * 400),
        ("truncate", None, None),
        ("insert", 9, "n"),
    ]


ODD = "`Odd ``name``, ünd.so`"
WIDE = 200


def test_names_of_all_sorts_are_found(database: Database, world: World) -> None:
    numbers = range(WIDE)
    database.run(
        f"CREATE TABLE {ODD} (`ID` int PRIMARY KEY, `a b` int, `sel``ect` varchar(9), hidden int)",
        f"INSERT INTO {ODD} VALUES (1, 2, 'x', 3)",
        f"CREATE TABLE wide ({', '.join(f'c{n} int' for n in numbers)})",
    )
    odd = database.table("odd", "id int, a b int, sel`ect string", "id", table_name=r"Odd `name`, ünd\.so")
    with world.source(odd, database.table("wide", ", ".join(f"c{n} int" for n in numbers))) as source:
        database.run(
            f"UPDATE {ODD} SET hidden = 5",
            f"UPDATE {ODD} SET `a b` = 4",
            f"INSERT INTO wide VALUES ({', '.join(map(str, numbers))}), ({', '.join(['NULL'] * WIDE)})",
            f"ALTER TABLE {ODD} ADD COLUMN `fi``rst` int FIRST",
            f"UPDATE {ODD} SET `a b` = 5",
        )
        said = read_now(source)
    x = "x"
    assert brief(said, "odd") == [
        ("insert", 1, 2, x),
        ("delete", 1, 2, x),
        ("insert", 1, 4, x),
        ("delete", 1, 4, x),
        ("insert", 1, 5, x),
    ]
    assert brief(said, "wide") == [("insert", *numbers), ("insert", *[None] * WIDE)]


def test_columns_that_are_computed_or_hidden_are_read_as_others(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE made (a int, twice int AS (a * 2) VIRTUAL, thrice int AS (a * 3) STORED, z int)",
        "INSERT INTO made (a, z) VALUES (1, 9)",
        "CREATE TABLE shy (id int PRIMARY KEY, secret int INVISIBLE, n int)",
        "INSERT INTO shy (id, secret, n) VALUES (1, 2, 3)",
    )
    tables = [
        database.table("made", "a int, twice int, thrice int, z bigint"),
        database.table("shy", "n int, secret int, id string", "id"),
    ]
    with world.source(*tables) as source:
        database.run(
            "INSERT INTO made (a, z) VALUES (2, 8)",
            "UPDATE made SET z = 7 WHERE a = 2",
            "DELETE FROM made WHERE a = 2",
            "UPDATE shy SET secret = 5",
        )
        said = read_now(source)
    assert brief(said, "made") == [
        ("insert", 1, 2, 3, 9),
        ("insert", 2, 4, 6, 8),
        ("delete", 2, 4, 6, 8),
        ("insert", 2, 4, 6, 7),
        ("delete", 2, 4, 6, 7),
    ]
    assert brief(said, "shy") == [("insert", 3, 2, "1"), ("delete", 3, 2, "1"), ("insert", 3, 5, "1")]


def test_statements_that_look_like_changes_but_are_none(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)", "CREATE TABLE fed (id int)"
    )
    with world.source(database.table("t", "id int", "id"), database.table("fed", "id int")) as source:
        database.run(
            "CREATE TEMPORARY TABLE t (id int)",
            "INSERT INTO t VALUES (99)",
            "DROP TEMPORARY TABLE t",
            "CREATE TABLE IF NOT EXISTS t (id int)",
            "CREATE TABLE IF NOT EXISTS t (id int)",
            "CREATE TRIGGER feeds AFTER INSERT ON t FOR EACH ROW INSERT INTO fed VALUES (new.id * 10)",
            "INSERT INTO t VALUES (2)",
            "ANALYZE TABLE t",
            "OPTIMIZE TABLE t",
            "CREATE INDEX found ON t (id)",
            "CREATE VIEW seen AS SELECT * FROM t",
            "GRANT SELECT ON *.* TO headwater",
            "INSERT INTO t VALUES (3)",
        )
        said = read_now(source)
    assert brief(said, "t") == [("insert", 1), ("insert", 2), ("insert", 3)]
    assert brief(said, "fed") == [("insert", 20), ("insert", 30)]


def test_a_position_reads_as_a_file_and_a_place(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    file, at = database.place()
    with world.source(database.table("t", "id int", "id")) as source:
        now = source.now()
    # Others of this server may begin a new file meanwhile.
    later, _ = database.place()
    first, last = (int(name.rpartition(".")[2]) for name in (file, later))
    assert now >= Position((first << 40) + at, "binlog")
    assert any(str(now).startswith(f"{number:06}:") for number in range(first, last + 1))
