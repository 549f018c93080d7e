"""First rows are read in parts, by several readers, as of one moment.

Oracle: the rows that the server shows at that moment.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from typing import Any

import psycopg2
import pytest

from headwater.errors import SourceError
from headwater.log.store import LogWriter
from headwater.sources.base import Lost, Report, Unreachable
from headwater.sources.postgres.snapshot import Snapshot
from tests.postgres.copying import T, copying, fill
from tests.postgres.world import Database, World, wait_for

pytestmark = pytest.mark.services


@pytest.mark.usefixtures("many_parts")
def test_several_readers_see_one_moment(database: Database, world: World) -> None:
    fill(database)
    expected = Counter(database.run("SELECT * FROM t"))
    with copying(database, world, database.table(*T)) as copied:
        # Rows go, come, and move to other pages after the moment.
        database.run("DELETE FROM t WHERE id % 10 = 0; UPDATE t SET n = -1 WHERE id % 3 = 0")
        database.run("INSERT INTO t SELECT i, 0, 'new' FROM generate_series(50000, 60000) i")
        copied.run()
        assert Counter(copied.rows("t")) == expected
        assert len(copied.segments["t"]) > 5, "it was read in many parts"


@pytest.mark.usefixtures("many_parts")
def test_partitions_are_read_by_their_own_pages(database: Database, world: World) -> None:
    database.run("CREATE TABLE p (id int, n int, word text) PARTITION BY RANGE (id)")
    database.run("CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000)")
    # A partition of another shape, and one that is partitioned itself.
    database.run("CREATE TABLE p2 (gone int, word text, n int, id int); ALTER TABLE p2 DROP gone")
    database.run("ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (1000) TO (5000)")
    database.run("CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (5000) TO (9000) PARTITION BY LIST (n)")
    database.run(
        "CREATE TABLE p3a PARTITION OF p3 FOR VALUES IN (0, 1); CREATE TABLE p3b PARTITION OF p3 DEFAULT"
    )
    database.run("INSERT INTO p SELECT i, i % 3, 'w' || i FROM generate_series(1, 8000) i")
    with copying(database, world, database.table("p", "id int, n int, word string")) as copied:
        copied.run()
        assert Counter(copied.rows("p")) == Counter(database.run("SELECT id, n, word FROM p"))
        assert len(copied.segments["p"]) > 4


@pytest.mark.usefixtures("many_parts")
def test_who_may_read_only_the_partitioned_table_reads_it_as_a_whole(
    database: Database, world: World
) -> None:
    database.run("CREATE TABLE p (id int) PARTITION BY RANGE (id)")
    database.run("CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (9000)")
    database.run("INSERT INTO p SELECT generate_series(1, 8000)")
    database.run("CREATE ROLE parent LOGIN PASSWORD 'parent'; GRANT SELECT ON p TO parent")
    try:
        table = database.table("p", "id int", username="parent", password="parent")
        with copying(database, world, table) as copied:
            copied.run()
            assert Counter(copied.rows("p")) == Counter(database.run("SELECT id FROM p"))
            assert len(copied.segments["p"]) == 1
    finally:
        database.run("DROP OWNED BY parent; DROP ROLE parent")


@pytest.mark.usefixtures("many_parts")
def test_children_of_an_inheritance_are_not_their_parents_rows(database: Database, world: World) -> None:
    fill(database, 5000)
    database.run("CREATE TABLE child () INHERITS (t); INSERT INTO child VALUES (-1, 0, 'child')")
    with copying(database, world, database.table(*T)) as copied:
        copied.run()
        assert Counter(copied.rows("t")) == Counter(database.run("SELECT * FROM ONLY t"))


def test_tables_without_rows_or_partitions_are_whole_at_once(database: Database, world: World) -> None:
    database.run("CREATE TABLE e (id int); CREATE TABLE p (id int) PARTITION BY RANGE (id)")
    tables = [database.table("e", "id int"), database.table("p", "id int")]
    with copying(database, world, *tables) as copied:
        copied.run()
        assert copied.segments == {"e": (), "p": ()}


@pytest.mark.usefixtures("many_parts")
def test_no_lock_is_taken_but_that_of_reading(database: Database, world: World) -> None:
    fill(database)
    locks = "SELECT DISTINCT mode FROM pg_locks WHERE relation IN ('t'::regclass, 't_pkey'::regclass)"
    seen: list[tuple[Any, ...]] = []
    with copying(database, world, database.table(*T)) as copied:
        copied.heard = lambda report: seen.extend(database.run(locks))
        copied.run()
    assert set(seen) == {("AccessShareLock",)}


@pytest.mark.usefixtures("many_parts")
def test_progress_tells_rows_rate_and_time_left(database: Database, world: World) -> None:
    fill(database)
    with copying(database, world, database.table(*T)) as copied:
        copied.run()
    first, *between, last = copied.reports
    # The server never counted this table: at first nobody knows how many rows there are.
    assert (first.done, first.total, first.per_second) == (0, None, None)
    assert (last.done, last.total, last.seconds_left) == (20_000, 20_000, 0)
    assert last.per_second is not None and last.per_second > 0
    guesses = [report for report in between if report.total is not None]
    assert guesses, "what was read tells how many there are"
    assert all(report.total is not None and report.done <= report.total < 40_000 for report in guesses)
    assert all(report.seconds_left is not None and report.seconds_left >= 0 for report in guesses)


@pytest.mark.parametrize(
    "statement",
    ["VACUUM FULL t", "TRUNCATE t", "ALTER TABLE t ALTER n TYPE bigint", "CLUSTER t USING t_pkey"],
)
def test_a_table_that_was_rewritten_after_the_moment_is_an_error(
    database: Database, world: World, statement: str
) -> None:
    fill(database, 100)
    with copying(database, world, database.table(*T)) as copied:
        database.run(statement)
        with pytest.raises(SourceError, match=r"table 'public\.t' was rewritten just as its first rows"):
            copied.run()


@pytest.mark.usefixtures("many_parts")
def test_a_value_that_does_not_fit_comes_out_of_a_reader_as_an_error(
    database: Database, world: World
) -> None:
    fill(database)
    database.run("ALTER TABLE t ADD x numeric; UPDATE t SET x = 'NaN' WHERE id = 15000")
    table = database.table("t", "id int, x decimal(38,18)", "id")
    with copying(database, world, table) as copied:
        with pytest.raises(SourceError, match="a value of column 'x' of table 't' does not fit") as raised:
            copied.run()
        assert "'NaN'" in raised.value.detail and copied.segments == {}
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("many_parts")
def test_a_reader_that_is_killed_is_an_error(database: Database, world: World) -> None:
    fill(database)

    def kill(report: Report) -> None:
        for child in multiprocessing.active_children():
            if child.pid is not None:
                os.kill(child.pid, signal.SIGKILL)

    with copying(database, world, database.table(*T)) as copied:
        copied.heard = kill
        with pytest.raises(SourceError, match="a process that read first rows ended") as raised:
            copied.run()
        assert "-9" in raised.value.detail
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("many_parts")
def test_a_connection_that_is_cut_may_be_tried_again(database: Database, world: World) -> None:
    fill(database)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'headwater test'"

    def hang_up(report: Report) -> None:
        if report.done:
            database.run(cut)

    with copying(database, world, database.table(*T)) as copied:
        copied.heard = hang_up
        with pytest.raises((Unreachable, psycopg2.OperationalError)):
            copied.run()
    assert multiprocessing.active_children() == []


def test_a_moment_whose_holder_was_cut_is_a_lost_connection(database: Database) -> None:
    with database.client() as holder, database.client() as late:
        late.autocommit = True
        cursor = holder.cursor()
        cursor.execute("SELECT pg_export_snapshot()")
        (name,) = cursor.fetchone()
        held_by = holder.info.backend_pid
        holder.close()
        # The server lets go of it a moment after it was left.
        wait_for(lambda: not database.run("SELECT 1 FROM pg_stat_activity WHERE pid = %s", held_by))
        with pytest.raises(Lost, match="is gone"):
            Snapshot(late, name)


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize("limit", [1, 2])
def test_a_server_with_few_connections_is_read_by_fewer(database: Database, world: World, limit: int) -> None:
    fill(database)
    database.run(
        f"CREATE ROLE narrow LOGIN PASSWORD 'narrow' CONNECTION LIMIT {limit}; GRANT SELECT ON t TO narrow"
    )
    try:
        table = database.table(*T, username="narrow", password="narrow")
        with copying(database, world, table) as copied:
            copied.run()
            assert Counter(copied.rows("t")) == Counter(database.run("SELECT * FROM t"))
    finally:
        database.run("DROP OWNED BY narrow; DROP ROLE narrow")


def test_files_of_two_lives_never_have_one_name(world: World) -> None:
    names = []
    for _ in range(2):
        log = LogWriter(world.context.folder / "log", notation="lsn")
        names.append(log.stem())
        log.close()
    assert names[0] != names[1]
