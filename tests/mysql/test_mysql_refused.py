"""What the log tells in a way that cannot be followed exactly: reading stops where it stands, and says why.

Oracle: the statements that were run, and what each server writes of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from headwater.errors import SourceError
from headwater.log.binlog import HEADER, Header
from headwater.log.store import LogWriter
from headwater.sources.mysql.connect import address_of
from headwater.sources.mysql.definitions import Definitions
from headwater.sources.mysql.dump import Dump
from headwater.sources.mysql.layouts import Layouts
from headwater.sources.mysql.places import Gtids
from headwater.sources.mysql.resume import From
from headwater.sources.mysql.stream import Stream
from headwater.sources.mysql.tables import Tables
from tests.mysql.world import Database, World
from tests.postgres.world import brief, read_now
from tests.stage.shared import SharedMysql

pytestmark = [pytest.mark.services]


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


class OneEvent:
    """What a server newer than ours would send: a transaction whose name has a tag."""

    def next(self, wait: float) -> tuple[Header, bytes]:
        return Header(0, 42, 1, HEADER, 200, 0), bytes(HEADER)


def test_names_with_tags_are_refused(tmp_path: Path, mysql: SharedMysql) -> None:
    log = LogWriter(tmp_path / "log", notation="binlog")
    layouts = Layouts((), {}, {})
    definitions = Definitions(lambda name: ((), 0), None, lambda name, first, last: False)
    stream = Stream(
        log,
        layouts,
        Tables(layouts, definitions, folds_names=False),
        start=From(None, Gtids()),
        server="",
        appended=lambda position: None,
    )
    with pytest.raises(SourceError, match="a name with a tag"):
        stream.run(cast(Dump, OneEvent()))
    log.close()
    database = Database(mysql)
    dump = Dump(address_of(database.options("t")), server_id=77, heartbeat=1.0, maria=False)
    try:
        with pytest.raises(SourceError, match="transactions with a tag"):
            dump.from_gtids(Gtids("3e11fa47-71ca-11e1-9e33-c80aa9429562:foo:1-5"))
    finally:
        dump.close()
        database.close()
