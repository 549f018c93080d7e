"""Tables that change while they are read.

Oracle: the rows as the server shows them, and the texts of the errors.
"""

from __future__ import annotations

import pytest

from headwater.errors import SourceError
from headwater.sources.mysql import statements
from headwater.sources.mysql.statements import folded, statements_in
from tests.mysql.world import Database, World
from tests.postgres.world import brief, read_now

pytestmark = [pytest.mark.services]


def test_columns_that_nobody_declared_come_and_go(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, x int, name varchar(9))", "INSERT INTO t VALUES (1, 1, 'a')"
    )
    with world.source(database.table("t", "id int, name string", "id")) as source:
        first = read_now(source)
        database.run(
            "ALTER TABLE t ADD COLUMN (more int, most json)",
            "INSERT INTO t VALUES (2, 1, 'b', 1, '{}')",
        )
        then = read_now(source, after=first[-1].position)
        database.run("ALTER TABLE t DROP COLUMN x, ADD COLUMN front varchar(5) FIRST")
        then += read_now(source, after=then[-1].position)
        database.run(
            "INSERT INTO t VALUES ('f', 3, 'c', 1, NULL)", "ALTER TABLE t MODIFY name text, MODIFY id bigint"
        )
        last = read_now(source, after=then[-1].position)
        database.run(
            "INSERT INTO t VALUES ('f', 4, 'd', 1, NULL)", "ALTER TABLE t RENAME COLUMN more TO other"
        )
        database.run("INSERT INTO t VALUES ('f', 5, 'e', 1, NULL)")
        last += read_now(source, after=last[-1].position)
    said = [*first, *then, *last]
    assert brief(said, "t") == [("insert", n, letter) for n, letter in enumerate("abcde", 1)]


def test_a_declared_column_that_goes_or_changes_stops_the_reading(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, name varchar(9), day date)")
    with world.source(database.table("t", "id int, name string", "id")) as source:
        said = read_now(source)
        database.run("INSERT INTO t VALUES (1, 'a', NULL)", "ALTER TABLE t CHANGE name title varchar(9)")
        database.run("INSERT INTO t VALUES (2, 'b', NULL)")
        with pytest.raises(SourceError, match="no longer has the column 'name'") as caught:
            said += read_now(source, after=said[-1].position)
    assert "title" in caught.value.detail
    with world.source(database.table("t", "id int, title string", "id")) as source:
        assert brief(read_now(source), "t")[-1] == ("insert", 2, "b")


def test_a_table_made_anew_is_emptied_first(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    with world.source(database.table("t", "id int", "id")) as source:
        first = read_now(source)
        database.run(
            "DROP TABLE t", "CREATE TABLE t (pad int, id int PRIMARY KEY)", "INSERT INTO t VALUES (0, 2)"
        )
        then = read_now(source, after=first[-1].position)
        assert brief(then, "t") == [("truncate", None), ("insert", 2)]
        database.run("RENAME TABLE t TO gone")
        with pytest.raises(SourceError, match="was renamed to"):
            read_now(source, after=then[-1].position)


def test_a_copy_that_takes_the_place_of_its_table_goes_on(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    with world.source(database.table("t", "id int", "id")) as source:
        first = read_now(source)
        database.run(
            "CREATE TABLE _t_gho LIKE t",
            "ALTER TABLE _t_gho ADD COLUMN first_ int FIRST",
            "INSERT INTO _t_gho (id) SELECT id FROM t",
            "RENAME TABLE t TO _t_del, _t_gho TO t",
            "INSERT INTO t VALUES (7, 2)",
            "DROP TABLE _t_del",
        )
        then = read_now(source, after=first[-1].position)
    assert brief(then, "t") == [("insert", 2)]


@pytest.mark.parametrize("metadata", ["MINIMAL", "FULL"])
def test_changes_of_a_table_while_nobody_reads(database: Database, world: World, metadata: str) -> None:
    database.run(
        f"SET GLOBAL binlog_row_metadata = '{metadata}'",
        "CREATE TABLE t (id int PRIMARY KEY, name varchar(9), n int unsigned, e enum('a','b'))",
    )
    table = database.table("t", "id int, name string, n bigint, e string", "id")
    try:
        with world.source(table) as source:
            said = read_now(source)
        database.run(
            "INSERT INTO t VALUES (1, 'a', 4000000000, 'b')",
            "ALTER TABLE t ADD COLUMN front varchar(9) FIRST",
            "INSERT INTO t VALUES ('x', 2, 'b', 4000000000, 'a')",
            "ALTER TABLE t DROP COLUMN front, ADD COLUMN more varchar(9) AFTER id, MODIFY e enum('z','a','b')",
            "INSERT INTO t VALUES (3, 'x', 'c', 4000000000, 'a')",
        )
        with world.source(table, after=said[-1].position) as source:
            if metadata == "MINIMAL":
                with pytest.raises(SourceError) as caught:
                    said += read_now(source, after=said[-1].position)
            else:
                said += read_now(source, after=said[-1].position)
    finally:
        level = "NO_LOG" if database.is_maria else "MINIMAL"
        database.run(f"SET GLOBAL binlog_row_metadata = '{level}'")
    if metadata == "MINIMAL":
        assert "binlog_row_metadata = 'FULL'" in caught.value.hint
        return
    big = 4_000_000_000
    assert brief(said, "t") == [
        ("insert", 1, "a", big, "b"),
        ("insert", 2, "b", big, "a"),
        ("insert", 3, "c", big, "a"),
    ]


def test_names_are_told_without_their_letters_where_the_server_does_so() -> None:
    said = [folded(found) for found in statements_in("Shop", "RENAME TABLE Orders TO `Old`.Gone, x TO Y")]
    assert said == [
        statements.Renamed(("shop", "orders"), ("old", "gone")),
        statements.Renamed(("shop", "x"), ("shop", "y")),
    ]
    assert [folded(found) for found in statements_in("Shop", "truncate T")] == [
        statements.Truncated(("shop", "t"))
    ]


A, B = ("shop", "a"), ("other", "b `c`")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("DROP TABLE IF EXISTS a, `other`.`b ``c``` /* generated by server */", ["Dropped", A, B]),
        ("DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `a`", []),
        ("/* note */ ALTER TABLE a ADD x int -- why", ["Altered", A]),
        ("CREATE OR REPLACE TABLE a (id int)", ["Dropped", A, A]),
        ("RENAME TABLE a TO x, x TO a", ["Renamed", A, ("shop", "x")]),
        ("ALTER TABLE a RENAME TO other.`b ``c```", ["Altered", A, A]),
        ("ALTER TABLE a RENAME COLUMN x TO y", ["Altered", A]),
        ("TRUNCATE a", ["Truncated", A]),
        ("CREATE VIEW a AS SELECT 1", []),
        ("drop database `shop`", ["Dropped", ("shop", "")]),
    ],
)
def test_statements_say_what_becomes_of_tables(text: str, found: list[object]) -> None:
    said = statements_in("shop", text)
    names = [statement.table for statement in said if not isinstance(statement, statements.Written)]
    assert [type(said[0]).__name__, *names] == found if found else said == []
