"""Nothing lost, nothing doubled, whatever is stopped or killed; what cannot go on says so.

Oracle: the rows of the tables at the end, and the texts of the errors.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from headwater.errors import SourceError
from headwater.log.manifest import Manifest
from headwater.log.positions import Position
from headwater.services.mariadb import MariadbServer
from headwater.services.mysql import MysqlServer
from headwater.services.mysql_server import MysqlFamilyServer
from headwater.sources.mysql.connect import address_of, session
from headwater.sources.mysql.places import Gtids, Place, file_of
from headwater.sources.mysql.resume import BORN, SEEN
from headwater.sources.mysql.server import facts_of, gtids_at
from tests.mysql.world import Database, World, server_folder
from tests.postgres.world import bag, brief, read_now, wait_for
from tests.stage.shared import SharedMysql

pytestmark = [pytest.mark.services]

COLUMNS = "id int, n int"


def make(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int)")
    database.many("INSERT INTO t VALUES (%s, 0)", [(n,) for n in range(1, 11)])


@contextmanager
def writing(database: Database) -> Iterator[None]:
    """Someone who changes rows all the while."""
    stop = threading.Event()

    def write() -> None:
        client = database.connect()
        with client.cursor() as cursor:
            cursor.execute(f"USE {database.name}")
            number = 1000
            while not stop.is_set():
                number += 1
                for statement in (
                    "BEGIN",
                    f"INSERT INTO t VALUES ({number}, 0)",
                    "UPDATE t SET n = n + 1 WHERE id <= 5",
                    f"DELETE FROM t WHERE id = {number - 3}",
                    "COMMIT",
                ):
                    cursor.execute(statement)
                if number % 7 == 0:
                    cursor.execute("FLUSH BINARY LOGS")
                stop.wait(0.001)
        client.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def test_nothing_is_lost_or_doubled_when_it_is_stopped_or_killed(database: Database, world: World) -> None:
    make(database)
    table = database.table("t", COLUMNS, "id")
    with writing(database):
        with world.source(table) as source:
            said = read_now(source)
            for _ in range(3):
                before = source.capture_pid
                os.kill(before, signal.SIGKILL)
                said += read_now(source, after=said[-1].position)
                assert source.capture_pid != before
        stages = [report.stage for report in world.reports]
        with world.source(table, after=said[-1].position) as source:
            source.commit(said[-1].position)
            said += read_now(source, after=said[-1].position)
    assert stages.count("reconnect") >= 3
    assert "snapshot" not in [report.stage for report in world.reports[len(stages) :]], (
        "no rows are read again"
    )
    with world.source(table, after=said[-1].position) as source:
        said += read_now(source, after=said[-1].position)
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))


@pytest.fixture(scope="module")
def own_mysql() -> Iterator[MysqlServer]:
    """A server that can be restarted, and whose log can be thrown away."""
    with server_folder() as folder, MysqlServer(folder, settings={"server-id": "2"}) as server:
        yield server
        # Nobody needs its data any more: an end in order takes seconds.
        server.kill()


@pytest.fixture(scope="module")
def own_mariadb() -> Iterator[MariadbServer]:
    """The same of the other kind."""
    with server_folder() as folder, MariadbServer(folder, settings={"server-id": "2"}) as server:
        yield server


@pytest.fixture(params=["own_mysql", "own_mariadb"])
def own(request: pytest.FixtureRequest) -> MysqlFamilyServer:
    """Each in turn."""
    found: MysqlFamilyServer = request.getfixturevalue(request.param)
    return found


def shared(server: MysqlFamilyServer) -> SharedMysql:
    return SharedMysql(server.port, server.user, server.password)


def test_a_server_that_restarts_is_read_on(own: MysqlFamilyServer, world: World) -> None:
    database = Database(shared(own))
    make(database)
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        own.stop()
        own.start()
        database = database.again()
        database.run("INSERT INTO t VALUES (100, 1)")
        said += read_now(source, after=said[-1].position)
    assert bag(said, "t") == Counter(database.run("SELECT id, n FROM t"))
    database.close()


def test_a_log_that_was_removed_or_reset_is_refused(
    own: MysqlFamilyServer, world: World, tmp_path: Path
) -> None:
    database = Database(shared(own))
    make(database)
    table = database.table("t", COLUMNS, "id", heartbeat__interval="1s")
    with world.source(table) as source:
        said = read_now(source)
    database.run("INSERT INTO t VALUES (100, 1)", "FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
    file, _ = database.place()

    def is_purged() -> bool:
        # Until the server notices that the reader is gone, it keeps what that would read next.
        database.run(f"PURGE BINARY LOGS TO '{file}'")
        return str(database.run("SHOW BINARY LOGS")[0][0]) == file

    wait_for(is_purged)
    with pytest.raises(SourceError) as caught, world.source(table, after=said[-1].position):
        pass
    assert "no longer has the part of its binary log" in caught.value.message
    assert "headwater drop" in caught.value.hint and "binlog_expire_logs_seconds" in caught.value.hint
    world = World(tmp_path / "again")
    with world.source(table) as source:
        said = read_now(source)
    database.run("RESET MASTER", "INSERT INTO t VALUES (101, 1)")
    with pytest.raises(SourceError) as caught, world.source(table, after=said[-1].position):
        pass
    assert "headwater drop" in caught.value.hint
    database.close()


def test_a_log_that_was_reset_and_has_grown_to_the_same_shape_is_refused(
    own: MysqlFamilyServer, world: World, tmp_path: Path
) -> None:
    database = Database(shared(own))
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int)", "RESET MASTER", "INSERT INTO t VALUES (1, 1)")
    table = database.table("t", COLUMNS, "id")
    # The one goes on with the stream, the other stands where its first rows began.
    with world.source(table) as source:
        database.run("INSERT INTO t VALUES (2, 2)")
        said = read_now(source)
    aside = World(tmp_path / "aside")
    with aside.source(table) as source:
        first = read_now(source)
    old = tmp_path / "old"
    shutil.copytree(tmp_path / "aside", old)
    with closing(sqlite3.connect(old / "log" / "manifest.sqlite", isolation_level=None)) as state:
        # As it was before the times of files were kept.
        assert state.execute("DELETE FROM about WHERE key = ?", (BORN,)).rowcount == 1
    with World(old).source(table, after=first[-1].position):
        pass
    place = database.place()
    # The times of files are whole seconds.
    began = int(time.time())
    wait_for(lambda: int(time.time()) > began)
    database.run("SET sql_log_bin = 0", "TRUNCATE t", "SET sql_log_bin = 1", "RESET MASTER")
    database.run("INSERT INTO t VALUES (3, 3)", "INSERT INTO t VALUES (4, 4)")
    assert database.place() == place, "other rows, and the log is as long"
    for known, last in ((world, said), (aside, first)):
        with pytest.raises(SourceError) as caught, known.source(table, after=last[-1].position):
            pass
        assert "reset" in caught.value.detail and "headwater drop" in caught.value.hint
    database.close()


def test_another_server_takes_over_by_the_names_of_transactions(
    mysql: SharedMysql, own_mysql: MysqlServer, world: World
) -> None:
    first = Database(mysql)
    second = Database(shared(own_mysql), first.name)
    for database in (first, second):
        database.run("CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t VALUES (1, 1)")
    with world.source(first.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
    # Others write to the first server too: what was read of it is in the log.
    manifest = Manifest(source.folder)
    seen = manifest.recall(SEEN) or ""
    manifest.close()
    # A replica by hand: it is told which transactions it has, and runs the next one under the name it would have.
    second.run("RESET MASTER", f"SET GLOBAL gtid_purged = '{seen}'")
    uuid = first.run("SELECT @@server_uuid")[0][0]
    number = max(high for _, high in Gtids(seen).ranges[uuid]) + 1
    second.run(f"SET gtid_next = '{uuid}:{number}'", "INSERT INTO t VALUES (2, 2)")
    second.run("SET gtid_next = AUTOMATIC")
    moved = second.table("t", COLUMNS, "id")
    with world.source(moved, after=said[-1].position) as source:
        second.run("INSERT INTO t VALUES (3, 3)")
        said += read_now(source, after=said[-1].position)
    assert brief(said, "t") == [("insert", n, n) for n in (1, 2, 3)]
    second.run("RESET MASTER")
    with pytest.raises(SourceError, match="behind the state"), world.source(moved, after=said[-1].position):
        pass
    second.close()
    first.close()


def test_what_was_executed_before_a_place_is_known(own: MysqlFamilyServer) -> None:
    # Not the shared server: where others write, a place and what was executed are of two moments.
    database = Database(shared(own))
    make(database)
    database.run("FLUSH BINARY LOGS", "INSERT INTO t VALUES (100, 1)")
    (file, at), executed = database.place(), database.gtids()
    database.run("INSERT INTO t VALUES (101, 1)")
    with session(address_of(database.options("t"))) as cursor:
        facts = facts_of(cursor)
        assert str(gtids_at(cursor, facts, Place(file, at), "")) == str(
            Gtids(executed, maria=database.is_maria)
        )
        first = gtids_at(cursor, facts, Place(file, 4), "")
    assert first and Gtids(executed, maria=database.is_maria).has(first) and str(first) != executed
    database.close()


def test_two_readers_with_one_number_are_told(mariadb: SharedMysql, tmp_path: Path) -> None:
    # MySQL tells readers apart by a name that each gives itself, and lets both read.
    database = Database(mariadb)
    make(database)
    table = database.table("t", COLUMNS, "id", server_id="7001")
    one, two = World(tmp_path / "one", "one"), World(tmp_path / "two", "two")
    with one.source(table) as first, two.source(table) as second:
        # The server lets the reader go that came first, and in its own time: it may read a while longer.
        places: list[Position | None] = [None, None]
        with pytest.raises(SourceError, match="another reader has the same server-id"):
            for number in range(1000):
                database.run(f"INSERT INTO t VALUES ({100 + number}, 1)")
                for at, source in enumerate((first, second)):
                    places[at] = read_now(source, after=places[at])[-1].position
    database.close()


def test_transactions_that_were_seen_are_ranges() -> None:
    seen = Gtids("B:1-5:7,a:1")
    seen.add("b", 6)
    seen.add("b", 3)
    seen.add("c", 2)
    assert str(seen) == "a:1,b:1-7,c:2"
    assert seen.has(Gtids("b:2-7,a:1")) and not seen.has(Gtids("b:8")) and not seen.has(Gtids("d:1"))
    maria = Gtids("0-1-100,2-1-5", maria=True)
    maria.add("0-2", 101)
    assert str(maria) == "0-2-101,2-1-5"
    tagged = Gtids("b:1-3:foo:1-5:7, a:bar:2")
    tagged.add("b:foo", 6)
    tagged.add("b", 4)
    assert str(tagged) == "a:bar:2,b:1-4,b:foo:1-7"
    assert Gtids(str(tagged)).has(tagged) and not tagged.has(Gtids("a:2")) and tagged.has(Gtids("B:Foo:6"))
    with pytest.raises(SourceError, match="'b:1-x:3' is no set of transactions"):
        Gtids("b:1-x:3")
    with pytest.raises(SourceError, match="'0-1' is no set of transactions"):
        Gtids("0-1", maria=True)
    assert maria.has(Gtids("0-1-50", maria=True)) and not maria.has(Gtids("1-1-1", maria=True))


def test_places_are_numbers_that_grow() -> None:
    place = Place("binlog.000003", 154)
    assert place.value(0) < Place("binlog.000004", 4).value(0) < place.value(2)
    assert file_of(place.value(2), 2, "binlog.000009") == place
