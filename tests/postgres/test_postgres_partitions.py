"""What becomes of partitions without a word in the log is told; so are those that log otherwise than their table.

Oracle: the texts, by hand, and what was done to the server.
"""

from __future__ import annotations

from functools import partial

import pytest

from headwater.errors import SourceError
from headwater.log.manifest import Manifest
from headwater.sources.postgres.catalog import find_table
from headwater.sources.postgres.config import config_of, log_folder
from headwater.sources.postgres.identities import FULL, KEY, MIXED, NONE, identity_of
from headwater.sources.postgres.partitions import came_with_rows, partition_loss
from tests.postgres.captures import Started, captured
from tests.postgres.world import Database, World, brief, read_now, wait_for

pytestmark = pytest.mark.services

COLUMNS = "id int, n int"

MADE = "CREATE TABLE p3 (id int PRIMARY KEY, n int NOT NULL)"
ATTACH = "ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (200) TO (300)"
BELOW = f"{MADE} PARTITION BY RANGE (id); CREATE TABLE p31 PARTITION OF p3 DEFAULT"

CHANGES = {
    "dropped": ("DROP TABLE p2", "partition 'public.p2' of table 'p' is gone"),
    "detached": ("ALTER TABLE p DETACH PARTITION p2", "partition 'public.p2' of table 'p' is gone"),
    "emptied": ("TRUNCATE p1", "partition 'public.p1' of table 'p' was emptied by itself"),
    "attached": (
        f"{MADE}; INSERT INTO p3 VALUES (200, 1); {ATTACH}",
        "partition 'public.p3' was attached to table 'p' with rows in it",
    ),
    "attached with partitions": (
        f"{BELOW}; INSERT INTO p3 VALUES (200, 1); {ATTACH}",
        "partition 'public.p31' was attached to table 'p' with rows in it",
    ),
    "attached empty": (f"{MADE}; {ATTACH}; INSERT INTO p VALUES (200, 1)", ""),
    "made": ("CREATE TABLE p3 PARTITION OF p DEFAULT; INSERT INTO p VALUES (200, 1)", ""),
    "unlogged": ("ALTER TABLE p1 SET UNLOGGED", "partition 'public.p1' of table 'p' is unlogged"),
    "made unlogged": (
        "CREATE UNLOGGED TABLE p3 PARTITION OF p DEFAULT",
        "partition 'public.p3' of table 'p' is unlogged",
    ),
    "all emptied": ("TRUNCATE p; INSERT INTO p VALUES (1, 1)", ""),
    "rewritten": ("VACUUM FULL p1", ""),
    "sorted": ("CLUSTER p1 USING p1_pkey", ""),
    "retyped": ("ALTER TABLE p ALTER n TYPE bigint", ""),
}


@pytest.fixture(autouse=True)
def table(database: Database) -> None:
    """A table with two partitions, and a row in each."""
    database.run(
        "CREATE TABLE p (id int PRIMARY KEY, n int NOT NULL) PARTITION BY RANGE (id);"
        "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);"
        "CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200); INSERT INTO p VALUES (1, 1), (101, 1)"
    )


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_rows_that_come_or_go_with_a_partition_are_a_loss(
    database: Database, world: World, change: str, message: str
) -> None:
    (declared,) = config_of([database.table("p", COLUMNS, "id")], world.context, after=None).tables
    with database.client() as client, client.cursor() as cursor:
        client.autocommit = True
        before = find_table(cursor, "public", "p").partitions
        for statement in change.split("; "):
            cursor.execute(statement)
        now = find_table(cursor, "public", "p").partitions
        loss = partition_loss(declared, before, now, partial(came_with_rows, cursor))
    assert ("" if loss is None else loss.message) == message
    assert loss is None or (loss.column is None and "headwater resnapshot p" in loss.hint)


def test_a_partition_that_goes_while_we_are_down_is_told_at_the_start(
    database: Database, world: World
) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    declared = database.table("p", COLUMNS, "id"), database.table("t", "id int", "id")
    with world.source(*declared) as source:
        said = read_now(source)
    database.run("INSERT INTO p VALUES (2, 2); CREATE TABLE p3 PARTITION OF p DEFAULT")
    with world.source(*declared, after=said[-1].position) as source:
        said += read_now(source, after=said[-1].position)
    assert [delivery.losses for delivery in said if delivery.losses] == []
    database.run("INSERT INTO p VALUES (3, 3); DROP TABLE p3; INSERT INTO t VALUES (1)")
    with world.source(*declared, after=said[-1].position) as source:
        said += read_now(source, after=said[-1].position)
    assert [loss.message for delivery in said for loss in delivery.losses] == [
        "partition 'public.p3' of table 'p' is gone"
    ]
    assert brief(said, "p")[2:] == [("insert", 2, 2), ("insert", 3, 3)], "what came before it is whole"
    assert brief(said, "t") == [("insert", 1)]


def test_a_partition_that_goes_is_told_also_of_a_table_that_has_lost_a_column(
    database: Database, world: World
) -> None:
    declared = database.table("p", COLUMNS, "id")
    with world.source(declared) as source:
        said = read_now(source)
    for change in ("ALTER TABLE p DROP COLUMN n; INSERT INTO p VALUES (2)", "DROP TABLE p2"):
        database.run(change)
        with world.source(declared, after=said[-1].position) as source:
            said += read_now(source, after=said[-1].position)
    assert [(loss.column, loss.message) for delivery in said for loss in delivery.losses] == [
        ("n", "column 'n' of table 'p' is gone"),
        (None, "partition 'public.p2' of table 'p' is gone"),
    ]


def test_a_partition_that_goes_while_we_read_is_a_loss_and_a_publication_that_goes_is_the_end(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.sources.postgres.watch.WATCH_SECONDS", 0.05)
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    tables = database.table("p", COLUMNS, "id"), database.table("t", "id int", "id")
    started = Started()
    with captured(config_of(tables, world.context, after=None), monkeypatch, started) as ended:
        wait_for(lambda: bool(started))
        database.run("DROP TABLE p2")
        manifest = Manifest(log_folder(world.context))
        wait_for(lambda: bool(manifest.losses()))
        ((_, loss),) = manifest.losses()
        manifest.close()
        database.run(f'DROP PUBLICATION "{database.publications()[0]}"')
    assert (loss.table, loss.message) == ("p", "partition 'public.p2' of table 'p' is gone")
    assert str(ended[0]) == "table 'public.t' is no longer published"


IDENTITIES = [
    # of the table, its first and its second partition; what that is together
    ("DEFAULT", "DEFAULT", "DEFAULT", KEY),
    ("DEFAULT", "FULL", "DEFAULT", KEY),
    ("FULL", "FULL", "FULL", FULL),
    ("FULL", "FULL", "DEFAULT", MIXED),
    ("FULL", "USING INDEX p1_pkey", "FULL", MIXED),
    ("DEFAULT", "DEFAULT", "USING INDEX other", MIXED),
    ("DEFAULT", "NOTHING", "FULL", NONE),
    ("NOTHING", "FULL", "FULL", NONE),
]


def test_partitions_log_as_their_table_does(database: Database) -> None:
    database.run("CREATE UNIQUE INDEX other ON p2 (n)")
    for *identities, kind in IDENTITIES:
        for name, identity in zip(("p", "p1", "p2"), identities, strict=True):
            database.run(f"ALTER TABLE {name} REPLICA IDENTITY {identity}")
        with database.client() as client, client.cursor() as cursor:
            _, found = identity_of(cursor, find_table(cursor, "public", "p").oid)
        assert (found.kind, found.key) == (kind, ("id",) if kind == KEY else ()), identities


def test_a_partition_that_logs_less_than_is_told_of_it_is_refused(database: Database, world: World) -> None:
    # The server would tell of a row that goes that n was NULL.
    database.run("ALTER TABLE p REPLICA IDENTITY FULL; ALTER TABLE p1 REPLICA IDENTITY FULL")
    with pytest.raises(SourceError) as raised, world.source(database.table("p", COLUMNS, "id")):
        pass
    assert raised.value.message == "table 'public.p' and its partition 'p2' have different replica identities"
    assert raised.value.hint.startswith("ALTER TABLE p2 REPLICA IDENTITY FULL;")
    assert database.slots() == [] and database.publications() == []


def test_a_new_partition_that_logs_less_takes_the_table_with_it(database: Database, world: World) -> None:
    for name in ("p", "p1", "p2"):
        database.run(f"ALTER TABLE {name} REPLICA IDENTITY FULL")
    with world.source(database.table("p", COLUMNS)) as source:
        said = read_now(source)
        database.run("UPDATE p SET n = 2 WHERE id = 1")
        said += read_now(source, after=said[-1].position)
        database.run("CREATE TABLE p3 PARTITION OF p DEFAULT; INSERT INTO p VALUES (200, 1); DELETE FROM p")
        said += read_now(source, after=said[-1].position)
    assert [loss.message for delivery in said for loss in delivery.losses] == [
        "a partition of table 'p' has another replica identity than the table"
    ]
    assert brief(said, "p")[2:] == [("delete", 1, 1), ("insert", 1, 2)]


def test_a_partition_of_a_table_that_is_published_is_refused(database: Database, world: World) -> None:
    tables = database.table("p", COLUMNS, "id"), database.table("p1", COLUMNS, "id")
    with pytest.raises(SourceError) as raised, world.source(*tables):
        pass
    assert raised.value.message == "'public.p1' is a partition of 'public.p', which is published too"
    assert database.slots() == []
