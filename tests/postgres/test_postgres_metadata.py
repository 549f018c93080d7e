"""METADATA columns of tables: what the log tells beside the rows.

Oracle: the server's own system column xmin (the transaction that made a row as it is), its clock and its log's position
around a commit, and the texts, by hand.
"""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SourceError
from headwater.log.events import Delivery
from headwater.schema import WEIGHT
from headwater.sources.base import SourceTable
from headwater.sources.postgres.server import number
from headwater.tables.slices import whole
from headwater.tables.state import State, appended
from headwater.tables.upsert import changes_of
from tests.postgres.world import Database, World, brief, events, read_now, rows_of

pytestmark = pytest.mark.services

ALL = (
    "op_ts timestamp, id int, table_name string, schema_name string, n int, database_name string,"
    " row_kind string, lsn string, txid bigint"
)
PHYSICAL = ("id", "n", "note")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def told(database: Database, columns: str = ALL, *key: str, **options: str) -> SourceTable:
    """A declared table `t`, in which all but its physical columns are metadata of their own names."""
    table = database.table("t", columns, *(key or ("id",)), **options)
    names = [name for name in table.schema.names if name not in PHYSICAL]
    return replace(table, metadata={name: name for name in names})


def make(database: Database, identity: str = "FULL") -> None:
    database.run(
        f"CREATE TABLE t (id int PRIMARY KEY, n int, note text); ALTER TABLE t REPLICA IDENTITY {identity}"
    )
    database.run("INSERT INTO t VALUES (1, 0), (2, 0)")


def position(database: Database) -> int:
    return number(database.run("SELECT pg_current_wal_insert_lsn()::text")[0][0])


def held(deliveries: Sequence[Delivery], table: SourceTable, folder: Path) -> Counter[tuple[Any, ...]]:
    """What State holds after some deliveries; every row that went must have been there as it went."""
    state = State("t", table.schema, folder)
    for batch, delivery in enumerate(deliveries):
        if "t" in delivery.tables:
            state = appended(state, changes_of(delivery.tables["t"], state), batch + 1)
    rows: Counter[tuple[Any, ...]] = Counter()
    for row in whole(state, table.schema.names).to_pylist():
        rows[tuple(row[name] for name in table.schema.names)] += row[WEIGHT]
    assert set(rows.values()) <= {0, 1}
    return +rows


def test_first_rows_are_made_by_no_change(database: Database, world: World) -> None:
    make(database)
    with world.source(told(database)) as source:
        said = events(read_now(source), "t")
    for row, key in zip(said, (1, 2), strict=True):
        expected = (EPOCH, key, "t", "public", 0, database.name, "+I", None)
        assert tuple(row[name] for name in told(database).schema.names if name != "lsn") == expected
        assert 0 < number(row["lsn"]) <= position(database)


@pytest.mark.parametrize("identity", ["FULL", "DEFAULT"])
def test_changes_tell_when_where_and_by_whom_a_row_was_made(
    database: Database, world: World, identity: str
) -> None:
    make(database, identity)
    changes = (
        "INSERT INTO t VALUES (3, 0)",
        "UPDATE t SET n = 1 WHERE id = 1",
        "UPDATE t SET id = 4 WHERE id = 2",
    )
    with world.source(told(database)) as source:
        first = read_now(source)
        brackets = []
        for change in changes:
            begin = position(database), datetime.datetime.now(datetime.UTC)
            database.run(change)
            brackets.append((*begin, position(database), datetime.datetime.now(datetime.UTC)))
        said = [row for row in events(read_now(source, after=first[-1].position), "t") if row[WEIGHT] > 0]
    made = dict(database.run("SELECT id, xmin::text::bigint FROM t"))
    assert [(row["id"], row["row_kind"]) for row in said] == [(3, "+I"), (1, "+U"), (4, "+U")]
    for row, (low, early, high, late) in zip(said, brackets, strict=True):
        assert row["txid"] == made[row["id"]]
        assert low <= number(row["lsn"]) < high
        assert early - datetime.timedelta(milliseconds=5) <= row["op_ts"] <= late
        assert (row["table_name"], row["schema_name"], row["database_name"]) == ("t", "public", database.name)


@pytest.mark.parametrize("identity", ["FULL", "DEFAULT"])
def test_a_row_that_goes_is_the_row_that_came(
    database: Database, world: World, tmp_path: Path, identity: str
) -> None:
    make(database, identity)
    dice, kinds, untouched = random.Random(7), {1: "+I", 2: "+I"}, {1, 2}
    table = told(database, "id int, n int, txid bigint, row_kind string, lsn string, op_ts timestamp")
    with world.source(table) as source:
        said = read_now(source)
        for step in range(120):
            key, other = dice.randrange(8), dice.randrange(8)
            untouched.discard(key)
            if key not in kinds:
                database.run("INSERT INTO t VALUES (%s, %s)", key, step)
                kinds[key] = "+I"
            elif dice.random() < 0.3:
                database.run("DELETE FROM t WHERE id = %s", key)
                del kinds[key]
            elif other in kinds:
                # Also an update that changes nothing makes the row anew.
                database.run("UPDATE t SET n = n WHERE id = %s", key)
                kinds[key] = "+U"
            else:
                database.run("UPDATE t SET id = %s, n = %s WHERE id = %s", other, step, key)
                del kinds[key]
                kinds[other] = "+U"
            if dice.random() < 0.3:
                said += read_now(source, after=said[-1].position)
        said += read_now(source, after=said[-1].position)
    truth = database.run("SELECT id, n, xmin::text::bigint FROM t")
    found = held(said, table, tmp_path)
    assert Counter(row[:4] for row in found.elements()) == Counter(
        (i, n, None if i in untouched else xid, kinds[i]) for i, n, xid in truth
    )
    assert all((at == EPOCH) == (xid is None) for _, _, xid, _, _, at in found)


def test_a_transaction_that_is_spilled_tells_the_same_of_all_its_rows(
    database: Database, world: World
) -> None:
    make(database)
    with world.source(told(database)) as source:
        first = read_now(source)
        database.run("INSERT INTO t SELECT i, 0 FROM generate_series(10, 120009) i")
        said = [
            row
            for delivery in read_now(source, after=first[-1].position)
            if "t" in delivery.tables
            for row in rows_of(delivery.tables["t"])
        ]
    assert len(said) == 120_000
    assert len({(row["lsn"], row["txid"], row["op_ts"], row["row_kind"]) for row in said}) == 1


def test_a_truncate_takes_every_row_as_it_is(database: Database, world: World, tmp_path: Path) -> None:
    make(database)
    table = told(database)
    with world.source(table) as source:
        said = read_now(source)
        database.run("UPDATE t SET n = 5")
        said += read_now(source, after=said[-1].position)
        database.together("TRUNCATE t", "INSERT INTO t VALUES (7, 7)")
        said += read_now(source, after=said[-1].position)
    assert [(row[1], row[6]) for row in held(said, table, tmp_path)] == [(7, "+I")]


def test_large_values_that_did_not_change_stay(database: Database, world: World, tmp_path: Path) -> None:
    make(database)
    database.run("ALTER TABLE t ALTER COLUMN note SET STORAGE EXTERNAL")
    database.run("INSERT INTO t VALUES (3, 0, repeat('x', 10000))")
    table = told(database, "id int, n int, note string, row_kind string")
    with world.source(table) as source:
        said = read_now(source)
        database.run("UPDATE t SET n = 1 WHERE id = 3")
        said += read_now(source, after=said[-1].position)
    assert (3, 1, "x" * 10000, "+U") in held(said, table, tmp_path)


def test_names_alone_need_no_key_and_whole_rows_stay_whole(database: Database, world: World) -> None:
    make(database)
    table = replace(
        database.table("t", "id int, table_name string, schema_name string"),
        metadata={"table_name": "table_name", "schema_name": "schema_name"},
    )
    with world.source(table) as source:
        said = read_now(source)
        database.run("DELETE FROM t WHERE id = 1")
        said += read_now(source, after=said[-1].position)
    assert brief(said, "t") == [
        ("insert", 1, "t", "public"),
        ("insert", 2, "t", "public"),
        ("delete", 1, "t", "public"),
    ]


def test_what_changes_needs_a_key_that_is_one(database: Database, world: World) -> None:
    make(database)
    database.run("CREATE UNIQUE INDEX ON t (n, id)")
    plain = replace(database.table("t", "id int, n int, at timestamp"), metadata={"at": "op_ts"})
    wrong = replace(plain, schema=replace(plain.schema, key=("n",)))
    for table, key in ((plain, "none"), (wrong, "n")):
        with pytest.raises(SourceError, match="table 't' needs a key for its column 'at'") as raised:
            world.source(table).__enter__()
        assert f"The declared key is ({key})" in raised.value.detail
        assert raised.value.hint == "Add PRIMARY KEY (id) NOT ENFORCED."
    assert database.slots() == []
    with world.source(replace(plain, schema=replace(plain.schema, key=("n", "id")))) as source:
        assert len(events(read_now(source), "t")) == 2


def test_a_column_taken_from_something_else_is_read_anew(database: Database, world: World) -> None:
    make(database)
    one = replace(database.table("t", "id int, x string", "id"), metadata={"x": "table_name"})
    other = replace(one, metadata={"x": "schema_name"})
    with world.source(one) as source:
        first = read_now(source)
    with world.source(replace(other, anew=True), after=first[-1].position) as source:
        then = read_now(source, after=first[-1].position)
    assert [row["x"] for row in events(first, "t")] == ["t", "t"]
    assert [row["x"] for row in events(then, "t")] == ["public", "public"]


def test_metadata_comes_in_the_types_that_fit(database: Database, world: World) -> None:
    make(database)
    table = replace(
        database.table("t", "id int, at timestamp_ntz, txid decimal(20,0)", "id"),
        metadata={"at": "op_ts", "txid": "txid"},
    )
    with world.source(table) as source:
        first = read_now(source)
        database.run("UPDATE t SET n = 1 WHERE id = 1")
        said = events(read_now(source, after=first[-1].position), "t")
    ((made,),) = database.run("SELECT xmin::text::bigint FROM t WHERE id = 1")
    assert said[-1]["txid"] == made and said[-1]["at"].tzinfo is None
    assert events(first, "t")[0]["at"] == datetime.datetime(1970, 1, 1)


def test_a_table_of_metadata_alone_and_messages_with_it_are_refused(database: Database, world: World) -> None:
    make(database)
    alone = replace(database.table("t", "x string"), metadata={"x": "table_name"})
    with pytest.raises(SourceError, match=r"declares no column of 'public\.t'"):
        world.source(alone).__enter__()
    messages = database.table("m", "content string, lsn string", table_name="", messages__prefix="a")
    with pytest.raises(SourceError, match="messages have no metadata 'lsn'"):
        world.source(replace(messages, metadata={"lsn": "lsn"})).__enter__()
    assert database.slots() == []
