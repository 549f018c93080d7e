"""Tables whose columns, types and keys change while they are read, and while nobody reads them.

Oracle: the changes as they were made, written down by hand. What is lost is told with the first transaction that is told
without it, all before that comes whole, and what is not lost goes on.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from headwater.log.events import Delivery
from headwater.log.losses import Loss
from headwater.sources.captured.source import CapturedSource
from tests.postgres.streams import MUCH, stream_early, was_streamed
from tests.postgres.world import Database, World, brief, read_now, read_to

pytestmark = pytest.mark.services

COLUMNS = "id int, name string, n int"


@pytest.fixture(autouse=True)
def table(database: Database) -> None:
    """A table that logs whole rows."""
    database.run("CREATE TABLE t (id int PRIMARY KEY, name text, n int)")
    database.run("ALTER TABLE t REPLICA IDENTITY FULL; INSERT INTO t VALUES (1, 'ann', 1)")


def then(source: CapturedSource, said: list[Delivery]) -> list[Delivery]:
    """What is committed by now and was not read yet."""
    return read_now(source, after=said[-1].position)


def losses(said: Sequence[Delivery]) -> list[Loss]:
    """What was lost, in order."""
    return [loss for delivery in said for loss in delivery.losses]


CHANGES = {
    "dropped": ("DROP COLUMN n", "column 'n' of table 't' is gone", "now has the columns id, name"),
    "renamed": ("RENAME n TO m", "column 'n' of table 't' is gone", "It was renamed to 'm'"),
    "retyped": (
        "ALTER n TYPE date USING '2024-01-01'",
        "column 'n' of table 't' can no longer be read as int",
        "its type is now date",
    ),
    "rewritten": (
        "ALTER n TYPE float8",
        "column 'n' of table 't' was rewritten",
        "Its type was int4 and is now float8",
    ),
    "remade": (
        "DROP COLUMN n, ADD COLUMN n int",
        "column 'n' of table 't' was dropped and made again",
        "rows that were there before",
    ),
}


@pytest.mark.parametrize(("change", "message", "detail"), CHANGES.values(), ids=CHANGES)
def test_a_column_is_lost_with_the_first_change_without_it(
    database: Database, world: World, change: str, message: str, detail: str
) -> None:
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        database.run("INSERT INTO t VALUES (2, 'bob', 2)")
        said += then(source, said)
        database.run(f"ALTER TABLE t {change}; INSERT INTO t (id, name) VALUES (3, 'eve')")
        after = then(source, said)
    assert losses(said) == []
    ((lost,),) = [delivery.losses for delivery in after if delivery.losses]
    assert (lost.table, lost.column, lost.message) == ("t", "n", message)
    assert detail in lost.detail and lost.hint
    assert brief(said, "t") == [("insert", 1, "ann", 1), ("insert", 2, "bob", 2)]
    assert brief(after, "t") == [("insert", 3, "eve", None)]


@pytest.mark.parametrize(("change", "message", "detail"), CHANGES.values(), ids=CHANGES)
def test_a_column_that_is_lost_while_we_are_down_is_told_at_the_start(
    database: Database, world: World, change: str, message: str, detail: str
) -> None:
    declared = database.table("t", COLUMNS, "id")
    with world.source(declared) as source:
        said = read_now(source)
    database.run("INSERT INTO t VALUES (2, 'bob', 2)")
    database.run(f"ALTER TABLE t {change}")
    with world.source(declared, after=said[-1].position) as source:
        after = then(source, said)
        assert [loss.message for loss in losses(after)] == [message]
        assert detail in losses(after)[0].detail
        assert brief(after, "t") == [("insert", 2, "bob", 2)], "what came before it is whole"
    with world.source(declared, after=after[-1].position) as source:
        database.run("INSERT INTO t (id, name) VALUES (3, 'eve')")
        assert losses(then(source, after)) == [], "it is told once"


def test_a_loss_is_told_again_until_it_was_taken(database: Database, world: World) -> None:
    declared = database.table("t", COLUMNS, "id")
    with world.source(declared) as source:
        said = read_now(source)
        database.run("ALTER TABLE t DROP COLUMN n; INSERT INTO t VALUES (3, 'eve')")
        first = then(source, said)
    with world.source(declared, after=said[-1].position) as source:
        again = read_to(source, first[-1].position, after=said[-1].position)
    assert [loss.column for loss in losses(first)] == ["n"]
    assert losses(again) == losses(first)


WIDENED = [
    ("int", "bigint", "bigint", 2**40),
    ("varchar(3)", "varchar(10)", "string", "abcdef"),
    ("varchar(3)", "text", "string", "abcdef"),
    ("numeric(4,1)", "numeric(12,3)", "decimal(12,3)", 1234567),
    ("timestamp(0)", "timestamp(6)", "timestamp_ntz", None),
    ("int", "numeric(10,2)", "decimal(10,2)", 7),
]


@pytest.mark.parametrize(("before", "now", "declared", "value"), WIDENED)
def test_a_column_that_is_widened_goes_on(
    database: Database, world: World, before: str, now: str, declared: str, value: object
) -> None:
    database.run(f"CREATE TABLE w (id int PRIMARY KEY, v {before}); INSERT INTO w VALUES (1, NULL)")
    with world.source(database.table("w", f"id int, v {declared}", "id")) as source:
        said = read_now(source)
        database.run(f"ALTER TABLE w ALTER v TYPE {now}")
        database.run("INSERT INTO w VALUES (2, %s)", value)
        after = then(source, said)
    assert losses(after) == []
    assert brief(after, "w") == [("insert", 2, value)]


def test_a_table_that_loses_its_key_is_lost_and_others_go_on(database: Database, world: World) -> None:
    database.run("CREATE TABLE k (id int PRIMARY KEY, code int NOT NULL UNIQUE, n int)")
    database.run("INSERT INTO k VALUES (1, 1, 1)")
    tables = [database.table("k", "id int, code int, n int", "id"), database.table("t", COLUMNS, "id")]
    with world.source(*tables) as source:
        said = read_now(source)
        database.run("ALTER TABLE k REPLICA IDENTITY USING INDEX k_code_key; UPDATE k SET n = 2")
        database.run("INSERT INTO t VALUES (2, 'bob', 2)")
        after = then(source, said)
    assert [(loss.table, loss.column, loss.message) for loss in losses(after)] == [
        ("k", None, "the replica identity of table 'k' has changed")
    ]
    assert brief(after, "k") == [], "which row changed is not known"
    assert brief(after, "t") == [("insert", 2, "bob", 2)]


def test_a_primary_key_that_is_dropped_takes_the_table_with_it(database: Database, world: World) -> None:
    declared = database.table("t", COLUMNS, "id")
    with world.source(declared) as source:
        said = read_now(source)
        database.together(
            "ALTER TABLE t DROP CONSTRAINT t_pkey", "ALTER TABLE t ADD PRIMARY KEY (id)", "UPDATE t SET n = 5"
        )
        said += then(source, said)
        assert losses(said) == [], "it is there again"
        database.run("ALTER TABLE t DROP CONSTRAINT t_pkey; INSERT INTO t VALUES (1, 'twin', 1)")
        after = then(source, said)
    assert [(loss.column, loss.message) for loss in losses(after)] == [
        (None, "the primary key of table 't' has changed")
    ]
    assert brief(after, "t") == []


def test_a_table_that_is_renamed_or_made_again_is_lost(database: Database, world: World) -> None:
    database.run("CREATE TABLE u (id int PRIMARY KEY); CREATE PUBLICATION everything FOR ALL TABLES")
    named = {"debezium__publication__name": "everything"}
    tables = [database.table("t", COLUMNS, "id", **named), database.table("u", "id int", "id", **named)]
    with world.source(*tables) as source:
        said = read_now(source)
        database.run("ALTER TABLE t RENAME TO v; INSERT INTO v VALUES (2, 'bob', 2)")
        database.run("DROP TABLE u; CREATE TABLE u (id int PRIMARY KEY); INSERT INTO u VALUES (1)")
        after = then(source, said)
    assert sorted((loss.table, loss.column, loss.message) for loss in losses(after)) == [
        ("t", None, "table 't' was renamed to 'public.v'"),
        ("u", None, "table 'u' was dropped and made again"),
    ]
    assert brief(after, "t") == brief(after, "u") == []
    with world.source(*tables, after=after[-1].position) as source:
        database.run("INSERT INTO v VALUES (3, 'eve', 3)")
        assert losses(then(source, after)) == [], "also after a restart"
    with world.source(
        database.table("t", COLUMNS, "id", table_name="v", **named), after=after[-1].position
    ) as source:
        assert [row[1] for row in brief(then(source, after), "t")] == [1, 2, 3]


def test_a_key_column_that_is_renamed_takes_the_table_with_it(database: Database, world: World) -> None:
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        database.run("ALTER TABLE t RENAME id TO number; INSERT INTO t VALUES (2, 'bob', 2)")
        after = then(source, said)
    assert [(loss.column, loss.message) for loss in losses(after)] == [
        (None, "column 'id' of table 't' is gone")
    ]
    assert "renamed to 'number'" in losses(after)[0].detail
    assert brief(after, "t") == []


def test_a_transaction_may_change_rows_before_and_after_it_changes_the_table(
    database: Database, world: World
) -> None:
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        database.run("INSERT INTO t VALUES (2, 'bob', 2)")
        database.together(
            "INSERT INTO t VALUES (3, 'eve', 3)",
            "ALTER TABLE t DROP COLUMN n",
            "INSERT INTO t VALUES (4, 'dan')",
            "DELETE FROM t WHERE id = 3",
        )
        after = then(source, said)
    (losing,) = [delivery for delivery in after if delivery.losses]
    assert brief(after[: after.index(losing)], "t") == [("insert", 2, "bob", 2)], "the good cut before it"
    assert brief([losing], "t") == [
        ("insert", 3, "eve", 3),
        ("insert", 4, "dan", None),
        ("delete", 3, "eve", None),
    ]


def test_a_change_that_is_rolled_back_loses_nothing(database: Database, world: World) -> None:
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        database.run("BEGIN; ALTER TABLE t DROP COLUMN n; INSERT INTO t VALUES (2, 'bob'); ROLLBACK")
        database.run("INSERT INTO t VALUES (3, 'eve', 3)")
        after = then(source, said)
    assert losses(after) == [] and brief(after, "t") == [("insert", 3, "eve", 3)]


@pytest.mark.parametrize("change", ["DROP COLUMN n", "DROP COLUMN n, ADD COLUMN n int"])
def test_a_column_is_lost_inside_of_a_large_transaction(
    database: Database, world: World, change: str
) -> None:
    stream_early(database)
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
        with database.client() as client, client.cursor() as cursor:
            cursor.execute(f"INSERT INTO t SELECT i, {MUCH}, i FROM generate_series(10, 300) i")
            cursor.execute(f"ALTER TABLE t {change}")
            cursor.execute(f"INSERT INTO t SELECT i, {MUCH} FROM generate_series(301, 600) i")
            client.commit()
        database.run("INSERT INTO t (id) VALUES (601)")
        after = then(source, said)
        assert was_streamed(database)
    assert [loss.column for loss in losses(after)] == ["n"]
    found = [(row[1], row[3]) for row in brief(after, "t")]
    assert found == [*((i, i) for i in range(10, 301)), *((i, None) for i in range(301, 602))]


def test_what_was_said_of_a_table_before_it_was_read_anew_counts_no_more(
    database: Database, world: World
) -> None:
    with world.source(database.table("t", COLUMNS, "id")) as source:
        said = read_now(source)
    database.run("INSERT INTO t VALUES (2, 'bob', 2); ALTER TABLE t RENAME n TO m")
    with world.source(
        database.table("t", "id int, name string, m int", "id"), after=said[-1].position
    ) as source:
        database.run("INSERT INTO t VALUES (3, 'eve', 3)")
        after = then(source, said)
    assert losses(after) == []
    assert sorted(brief(after, "t")) == [
        ("insert", 1, "ann", 1),
        ("insert", 2, "bob", 2),
        ("insert", 3, "eve", 3),
    ]
