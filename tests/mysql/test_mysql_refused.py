"""What the log tells in a way that cannot be followed exactly: reading stops where it stands, and says why.

Oracle: the statements that were run, and what each server writes of them.
"""

from __future__ import annotations

import pytest

from headwater.errors import SourceError
from tests.mysql.world import Database, World
from tests.postgres.world import brief, read_now
from tests.stage.shared import SharedMysql

pytestmark = [pytest.mark.services, pytest.mark.timeout(600)]


def test_rows_that_are_not_told_one_by_one_are_refused(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE aside (id int)")
    with world.source(database.table("t", "id int", "id")) as source:
        database.run("SET SESSION binlog_format = 'STATEMENT'", "INSERT INTO aside VALUES (1)")
        database.run("INSERT INTO t VALUES (1)")
        with pytest.raises(SourceError) as caught:
            read_now(source)
    assert "statement" in caught.value.message
    assert "binlog_format" in (caught.value.hint or "")


def test_transactions_of_two_phases(database: Database, world: World) -> None:
    """What is committed at once is read, what stands aside is passed, what may still be taken back is refused."""
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE aside (id int PRIMARY KEY)")
    at_once = ("XA START 'a'", "INSERT INTO t VALUES (1)", "XA END 'a'", "XA COMMIT 'a' ONE PHASE")
    elsewhere = (
        "XA START 'b'",
        "INSERT INTO aside VALUES (1)",
        "XA END 'b'",
        "XA PREPARE 'b'",
        "XA COMMIT 'b'",
    )
    prepared = ("XA START 'c'", "INSERT INTO t VALUES (3)", "XA END 'c'", "XA PREPARE 'c'")
    with world.source(database.table("t", "id int", "id")) as source:
        database.run(*at_once, *elsewhere, "INSERT INTO t VALUES (2)")
        said = read_now(source)
        database.run(*prepared)
        with pytest.raises(SourceError) as caught:
            read_now(source)
    database.run("XA ROLLBACK 'c'")
    assert brief(said, "t") == [("insert", 1), ("insert", 2)]
    assert "two phases (XA)" in caught.value.message and "without XA" in (caught.value.hint or "")


def test_a_transaction_that_is_logged_though_taken_back_is_refused(
    mariadb: SharedMysql, world: World
) -> None:
    database = Database(mariadb)
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TABLE old (id int) ENGINE = MyISAM")
    with world.source(database.table("t", "id int", "id")) as source:
        database.run("BEGIN", "INSERT INTO t VALUES (6)", "SAVEPOINT s", "INSERT INTO t VALUES (7)")
        database.run("INSERT INTO old VALUES (4)", "ROLLBACK TO s", "COMMIT")
        with pytest.raises(SourceError, match="taken back in part"):
            read_now(source)
    database.close()


def test_rows_with_columns_left_out_are_refused(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t VALUES (1, 1)")
    with world.source(database.table("t", "id int", "id")) as source:
        database.run("SET SESSION binlog_row_image = 'MINIMAL'", "UPDATE t SET n = 2")
        with pytest.raises(SourceError, match="stand in the log only in part"):
            read_now(source)
