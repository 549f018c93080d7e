"""A capture that dies while it reads first rows: the next one goes on with the parts that are whole.

Oracle: the rows of the table when the second one begins.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from headwater.log.manifest import Manifest
from headwater.log.store import LogWriter
from headwater.sources.base import Report, SourceTable
from headwater.sources.postgres import first_rows, ranges
from headwater.sources.postgres.begin import begin
from headwater.sources.postgres.config import config_of, from_line, log_folder, to_line
from tests.postgres.world import Database, World, bag, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, n int, word string"


def die(line: str, parts: int) -> None:
    """Begin as a capture does, and die as soon as so many parts are durable."""
    # Small tables have many parts here.
    first_rows.WORTH_PAGES, ranges.FEWEST_PAGES = 1, 2
    config = from_line(line)
    log = LogWriter(config.folder, notation="lsn")

    def heard(report: Report) -> None:
        if len(log.manifest.parts()) >= parts:
            os.kill(os.getpid(), signal.SIGKILL)

    begin(config, log, heard)


def killed(database: Database, world: World, table: SourceTable, *, parts: int = 5) -> int:
    """Let a capture die in the middle; how many rows it left."""
    line = to_line(config_of([table], world.context, after=None))
    child = multiprocessing.get_context("spawn").Process(target=die, args=(line, parts))
    child.start()
    child.join(200)
    assert child.exitcode == -signal.SIGKILL
    wait_for(
        lambda: (
            database.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'headwater test'")
            == [(0,)]
        )
    )
    return left(log_folder(world.context))


def left(folder: Path) -> int:
    """The rows in parts."""
    manifest = Manifest(folder)
    try:
        return sum(segment.rows for part in manifest.parts() for segment in part.segments)
    finally:
        manifest.close()


def fill(database: Database, identity: str = "DEFAULT") -> None:
    # Half of each page is free, so that rows move to pages before them.
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int, word text) WITH (fillfactor = 50)")
    database.run(f"ALTER TABLE t REPLICA IDENTITY {identity}; ALTER TABLE t ALTER word SET STORAGE EXTERNAL")
    database.run("INSERT INTO t SELECT i, i % 7, 'w' || i FROM generate_series(1, 20000) i")
    database.run("UPDATE t SET word = repeat('large', 1000) WHERE id % 1000 = 0")


CHANGES = (
    "DELETE FROM t WHERE id % 17 = 0",
    # New versions of rows of all pages come to stand on pages that were cleared, read or not read.
    "UPDATE t SET n = n + 100 WHERE id % 13 = 0",
    "VACUUM t",
    "UPDATE t SET n = n + 1000 WHERE id > 15000 AND id % 3 = 0",
    "UPDATE t SET n = -n WHERE id < 3000 AND id % 5 = 0",
    "UPDATE t SET id = -id WHERE id % 1999 = 0",
    "INSERT INTO t SELECT i, 0, 'new' FROM generate_series(30000, 32000) i",
    "DELETE FROM t WHERE id = 30001; INSERT INTO t VALUES (30001, 1, 'again')",
)


def resumed(world: World) -> list[str]:
    """What was said of rows that were read before."""
    return [report.subject for report in world.reports if report.stage == "resume"]


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL"])
@pytest.mark.parametrize("deaths", [1, 3])
def test_what_was_read_is_kept_and_what_changed_is_made_good(
    database: Database, world: World, identity: str, deaths: int
) -> None:
    fill(database, identity)
    table = database.table("t", COLUMNS, "id")
    rows = 0
    for death in range(deaths):
        before, rows = rows, killed(database, world, table, parts=4 * (death + 1))
        assert rows > before, "each life came further"
        for change in CHANGES if not death else CHANGES[3:5]:
            database.run(change)
    with world.source(table) as source:
        said = read_now(source)
    assert bag(said, "t") == Counter(database.run("SELECT * FROM t"))
    (told,) = resumed(world)
    assert told.startswith(f"{rows:,} rows of t were read before; ")
    assert left(log_folder(world.context)) == 0, "nothing is left over"
    named = Manifest(log_folder(world.context))
    assert {path.name for path in log_folder(world.context).glob("*.parquet")} == named.files()
    named.close()
    assert len(database.slots()) == 1


def test_changes_after_the_second_moment_come_from_the_log(database: Database, world: World) -> None:
    fill(database, "FULL")
    table = database.table("t", COLUMNS, "id")
    killed(database, world, table)
    database.run(CHANGES[1])
    with world.source(table) as source:
        first = read_now(source)
        for change in CHANGES:
            database.run(change)
        said = first + read_now(source, after=first[-1].position)
    assert resumed(world)
    assert bag(said, "t") == Counter(database.run("SELECT * FROM t"))


def test_partitions_go_on_too(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, n int, word text) PARTITION BY RANGE (id)")
    database.run("CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (8000)")
    database.run("CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (8000) TO (90000)")
    database.run("INSERT INTO t SELECT i, i % 7, 'w' || i FROM generate_series(1, 20000) i")
    table = database.table("t", COLUMNS, "id")
    killed(database, world, table, parts=8)
    database.run(
        "UPDATE t SET id = id + 8000 WHERE id < 4000 AND id % 2 = 0 AND id + 8000 NOT IN (SELECT id FROM t)"
    )
    database.run("UPDATE t SET n = 50 WHERE id % 9 = 0; DELETE FROM t WHERE id % 11 = 0")
    database.run("UPDATE t SET id = id + 60000 WHERE id % 101 = 0")
    with world.source(table) as source:
        said = read_now(source)
    assert resumed(world) and bag(said, "t") == Counter(database.run("SELECT * FROM t"))


@pytest.mark.parametrize(
    "change",
    [
        "TRUNCATE t; INSERT INTO t SELECT i, 0, 'new' FROM generate_series(1, 100) i",
        "VACUUM FULL t",
        "ALTER TABLE t ADD x int; ALTER TABLE t RENAME n TO m; ALTER TABLE t RENAME x TO n",
    ],
)
def test_what_no_longer_holds_is_read_again(database: Database, world: World, change: str) -> None:
    fill(database, "FULL")
    table = database.table("t", COLUMNS, "id")
    assert killed(database, world, table) > 0
    database.run(change)
    with world.source(table) as source:
        said = read_now(source)
    assert resumed(world) == []
    assert bag(said, "t") == Counter(database.run("SELECT id, n, word FROM t"))


def test_another_slot_of_the_same_name_is_noticed(database: Database, world: World) -> None:
    fill(database, "FULL")
    table = database.table("t", COLUMNS, "id")
    killed(database, world, table)
    (slot,) = database.slots()
    database.run("SELECT pg_drop_replication_slot(%s)", slot)
    database.run("DELETE FROM t WHERE id < 100")
    database.run("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", slot)
    with world.source(table) as source:
        said = read_now(source)
    assert resumed(world) == [] and bag(said, "t") == Counter(database.run("SELECT * FROM t"))


def test_a_table_without_a_key_is_read_from_its_beginning(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int, n int, word text); ALTER TABLE t REPLICA IDENTITY FULL")
    database.run("INSERT INTO t SELECT i / 2, i % 7, 'w' FROM generate_series(1, 20000) i")
    table = database.table("t", COLUMNS)
    line = to_line(config_of([table], world.context, after=None))
    child = multiprocessing.get_context("spawn").Process(target=die, args=(line, 0))
    child.start()
    child.join(200)
    assert child.exitcode == -signal.SIGKILL and left(log_folder(world.context)) == 0
    database.run("DELETE FROM t WHERE id % 3 = 0")
    with world.source(table) as source:
        said = read_now(source)
    assert resumed(world) == [] and bag(said, "t") == Counter(database.run("SELECT * FROM t"))
