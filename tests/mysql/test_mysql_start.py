"""Where a source begins, and what it refuses before it does.

Oracle: the rows and changes as they were made, written down by hand; the texts of the errors.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymysql
import pytest

from headwater.errors import HeadwaterError, SourceError
from headwater.services.mysql import MysqlServer
from headwater.sources.base import SourceTable
from headwater.sources.mysql.source import describe
from tests.mysql.world import Database, World, server_folder
from tests.postgres.world import bag, brief, read_now, wait_for
from tests.stage.shared import SharedMysql, fresh

pytestmark = [pytest.mark.services]


def refusal(world: World, *tables: SourceTable) -> HeadwaterError:
    """What a start is refused with."""
    with pytest.raises(HeadwaterError) as caught, world.source(*tables):
        pass
    return caught.value


def test_what_cannot_be_read_is_refused_by_name(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE orders (id int PRIMARY KEY, total decimal(9,2), day date)",
        "CREATE VIEW seen AS SELECT * FROM orders",
        "CREATE TABLE parents (id int PRIMARY KEY)",
        "CREATE TABLE children (id int PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES parents (id)"
        " ON DELETE CASCADE)",
    )
    found = refusal(world, database.table("order", "id int"))
    assert "has no table 'order'" in found.message and "orders" in found.hint
    found = refusal(world, database.table("orders", "id int", database_name=database.name[:-1]))
    assert "no database" in found.message and database.name in found.hint
    found = refusal(world, database.table("orders", "id int, totl int"))
    assert "no column 'totl'" in found.message and "total" in found.hint
    found = refusal(world, database.table("orders", "id int, day int"))
    assert "cannot be read as int" in found.message and found.hint.startswith("Declare it as DATE")
    found = refusal(world, database.table("seen", "id int"))
    assert "is a view" in found.message
    found = refusal(world, database.table("children", "id int"))
    assert "not every change of table" in found.message and "ON DELETE CASCADE" in found.detail
    with world.source(database.table("children", "id int", foreign_key__cascades="accept")) as source:
        assert read_now(source)


def test_who_may_not_read_is_told_what_to_grant(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    user = fresh("u").replace("-", "")
    database.run(f"CREATE USER {user}@'%' IDENTIFIED BY 'secret pässword'")

    def table(**options: str) -> SourceTable:
        return database.table(
            "t", "id int", "id", **{"username": user, "password": "secret pässword", **options}
        )

    found = refusal(world, table(password="wrong"))
    assert f"does not accept the password of '{user}'" in found.message and "wrong" not in str(found)
    found = refusal(world, table())
    assert "may not read the binary log" in found.message
    assert found.hint == f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{user}'@'%';"
    database.run(found.hint)
    found = refusal(world, table())
    assert "no database" in found.message and "GRANT SELECT" in found.hint
    database.run(f"GRANT SELECT ON {database.name}.* TO {user}@'%'")
    if not database.is_maria:
        found = refusal(world, table())
        assert "LOCK TABLES" in found.hint
        database.run(found.hint)
    with world.source(table()) as source:
        assert brief(read_now(source), "t") == [("insert", 1)]
    database.run(f"DROP USER {user}@'%'")


def test_a_server_that_does_not_answer_is_named(mysql: SharedMysql, world: World) -> None:
    database = Database(mysql)
    found = refusal(world, database.table("t", "id int", port="1"))
    assert "127.0.0.1:1 does not answer" in found.message
    found = refusal(world, database.table("t", "id int", hostname="no.such.host.invalid"))
    assert "'no.such.host.invalid' is not known" in found.message
    database.close()


@pytest.fixture(scope="module")
def quiet() -> Iterator[SharedMysql]:
    """A server that writes no log."""
    with server_folder() as folder, MysqlServer(folder, settings={"disable-log-bin": "ON"}) as server:
        yield SharedMysql(server.port, server.user, server.password)


@pytest.fixture(scope="module")
def sparing() -> Iterator[SharedMysql]:
    """A server that writes rows in part; not the shared one, where others write meanwhile."""
    with server_folder() as folder, MysqlServer(folder, settings={"binlog-row-image": "MINIMAL"}) as server:
        yield SharedMysql(server.port, server.user, server.password)


def test_a_server_must_write_a_log_that_can_be_read(
    quiet: SharedMysql, sparing: SharedMysql, world: World
) -> None:
    silent, loud = Database(quiet), Database(sparing)
    silent.run("CREATE TABLE t (id int)", "INSERT INTO t VALUES (1)")
    assert "writes no binary log" in refusal(world, silent.table("t", "id int")).message
    loud.run("CREATE TABLE t (id int)")
    found = refusal(world, loud.table("t", "id int"))
    assert "binlog_row_image = 'MINIMAL'" in found.message and "'FULL'" in found.hint
    loud.run("SET GLOBAL binlog_row_image = 'FULL'", "SET GLOBAL binlog_format = 'MIXED'")
    found = refusal(world, loud.again().table("t", "id int"))
    assert "binlog_format = 'MIXED'" in found.message and "'ROW'" in found.hint
    silent.close()
    loud.close()


def test_each_way_to_start_begins_where_it_says(database: Database, tmp_path: Path) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    file, at = database.place()
    seen = database.gtids()
    # Commits are told to the second in MariaDB.
    whole = int(time.time()) + 1
    wait_for(lambda: time.time() >= whole + 0.05)
    database.run("INSERT INTO t VALUES (2)")

    def said(mode: str, **options: str) -> list[tuple[object, ...]]:
        world = World(tmp_path / (mode + str(len(options))))
        table = database.table("t", "id int", "id", scan__startup__mode=mode, **options)
        with world.source(table) as source:
            if mode == "snapshot":
                return brief(read_now(source), "t")
            database.run("INSERT INTO t VALUES (3)")
            found = brief(read_now(source), "t")
        database.run("DELETE FROM t WHERE id = 3")
        return found

    one, two, three = ("insert", 1), ("insert", 2), ("insert", 3)
    specific = {"scan__startup__specific_offset__file": file, "scan__startup__specific_offset__pos": str(at)}
    assert said("snapshot") == [one, two]
    assert said("initial") == [one, two, three]
    assert said("latest-offset") == [three]
    taken_back = [three, ("delete", 3)]
    assert said("specific-offset", **specific) == [two, *taken_back * 2, three]
    assert said("specific-offset", scan__startup__specific_offset__gtid_set=seen) == [
        two,
        *taken_back * 3,
        three,
    ]
    millis = str(whole * 1000)
    assert said("timestamp", scan__startup__timestamp_millis=millis) == [two, *taken_back * 4, three]
    assert said("earliest-offset") == [one, two, *taken_back * 5, three]


def test_tables_that_match_a_pattern_are_one(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE orders_1 (id int PRIMARY KEY)",
        "CREATE TABLE orders_2 (extra int, id int PRIMARY KEY)",
        "CREATE TABLE orders_x (id int PRIMARY KEY)",
        "INSERT INTO orders_1 VALUES (1)",
        "INSERT INTO orders_2 VALUES (0, 2)",
    )
    table = database.table("orders", "id int, db string, t string", table_name=r"orders_\d+")
    table = SourceTable(
        table.name, table.schema, table.options, metadata={"db": "database_name", "t": "table_name"}
    )
    with world.source(table) as source:
        first = read_now(source)
        database.run(
            "INSERT INTO orders_1 VALUES (11)",
            "INSERT INTO orders_2 VALUES (0, 12)",
            "INSERT INTO orders_x VALUES (13)",
            "CREATE TABLE orders_3 (id int PRIMARY KEY)",
            "INSERT INTO orders_3 VALUES (13)",
            "CREATE TABLE orders_4 AS SELECT 14 AS id",
        )
        then = read_now(source, after=first[-1].position)
        database.run("DROP TABLE orders_2")
        with pytest.raises(SourceError, match="orders_2' was emptied"):
            read_now(source, after=then[-1].position)
    name = database.name
    assert sorted(brief(first, "orders")) == [
        ("insert", 1, name, "orders_1"),
        ("insert", 2, name, "orders_2"),
    ]
    assert brief(then, "orders") == [
        ("insert", 11, name, "orders_1"),
        ("insert", 12, name, "orders_2"),
        ("insert", 13, name, "orders_3"),
        ("insert", 14, name, "orders_4"),
    ]


def test_a_table_that_joins_later_brings_its_rows_while_the_others_go_on(
    database: Database, world: World
) -> None:
    database.run("CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int PRIMARY KEY)")
    database.run("INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)")
    a, b = database.table("a", "id int", "id"), database.table("b", "id int", "id")
    with world.source(a) as source:
        said = read_now(source)
    database.run("INSERT INTO a VALUES (2)", "INSERT INTO b VALUES (2)")
    with world.source(a, b, after=said[-1].position) as source:
        database.together("INSERT INTO a VALUES (3)", "INSERT INTO b VALUES (3)")
        said += read_now(source, after=said[-1].position)
    assert brief(said, "a") == [("insert", 1), ("insert", 2), ("insert", 3)]
    assert brief(said, "b") == [("insert", 1), ("insert", 2), ("insert", 3)]


@contextmanager
def writing(database: Database) -> Iterator[list[Exception]]:
    """Someone who writes to all tables all the while; gives what a write to one that nobody reads was refused with."""
    refused, stop = list[Exception](), threading.Event()

    def write() -> None:
        client, hasty = database.connect(), database.connect()
        with client.cursor() as cursor, hasty.cursor() as aside:
            for one in (cursor, aside):
                one.execute(f"USE {database.name}")
            # The wait for a lock, not the time a write takes. Who waits for the transaction that is open waits for ever;
            # others of this server may lock everything for a moment.
            aside.execute("SET SESSION lock_wait_timeout = 100, innodb_lock_wait_timeout = 100")
            for number in itertools.takewhile(lambda _: not stop.is_set(), itertools.count(1)):
                try:
                    aside.execute("INSERT INTO aside VALUES ()")
                except pymysql.err.OperationalError as error:
                    refused.append(error)
                cursor.execute("UPDATE t SET n = n + 1 WHERE id = %s", (number % 3000,))
                cursor.execute("INSERT INTO old VALUES (%s)", (number,))
                stop.wait(0.001)
        client.close()
        hasty.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield refused
    finally:
        stop.set()
        writer.join()


def test_writers_go_on_while_the_first_rows_are_read(database: Database, world: World) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, n int)",
        "CREATE TABLE old (id int PRIMARY KEY) ENGINE = MyISAM",
        "CREATE TABLE aside (id int AUTO_INCREMENT PRIMARY KEY)",
    )
    database.many("INSERT INTO t VALUES (%s, 0)", [(n,) for n in range(3000)])
    tables = [database.table("t", "id int, n int", "id"), database.table("old", "id int", "id")]
    # Somebody has a transaction open on another table all the while.
    with (
        database.holding("BEGIN", "INSERT INTO aside VALUES ()"),
        writing(database) as refused,
        world.source(*tables) as source,
    ):
        said = read_now(source)
    assert refused == [], "a writer of a table that nobody reads had to wait"
    with world.source(*tables, after=said[-1].position) as source:
        said += read_now(source, after=said[-1].position)
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))
    assert bag(said, "old") == Counter(database.run("SELECT id FROM old"))


def test_a_table_without_a_column_list_has_its_own(database: Database) -> None:
    database.run(
        "CREATE TABLE t (a int unsigned, b varchar(9), c tinyint(1), d datetime(6), e decimal(9,2), g json,"
        " h point, f int AS (a + 1) VIRTUAL, PRIMARY KEY (b, a))"
    )
    found = describe(database.options("t"))
    assert [(column.name, column.type) for column in found] == [
        ("a", "bigint"),
        ("b", "string"),
        ("c", "boolean"),
        ("d", "timestamp_ntz"),
        ("e", "decimal(9,2)"),
        ("g", "string"),
        ("h", "string"),
        ("f", "int"),
    ]
    assert found.key == ("b", "a")
