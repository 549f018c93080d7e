"""The jdbc sink writes what a batch says, once. Oracle: the rows that a second client reads."""

from __future__ import annotations

import threading
from pathlib import Path

import psycopg2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.changes.change_set import ChangeSet, Files
from headwater.errors import SinkError
from headwater.schema import WEIGHT
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.postgres import write
from tests.ends.postgres_world import Database, arrow_changes, changes, schema, sink, wait_for

pytestmark = pytest.mark.services

TOTALS = schema("id int, total int", "id")


@pytest.fixture(params=["values", "copy"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to send rows: as VALUES, and streamed with COPY."""
    monkeypatch.setattr(write, "SMALL_ROWS", 1_000 if request.param == "values" else 0)
    return str(request.param)


@pytest.fixture
def totals(database: Database) -> SinkTable:
    """A table with a key."""
    database.run("CREATE TABLE totals (id int PRIMARY KEY, total int)")
    return database.table("totals", TOTALS)


def rows(database: Database, table: str = "totals") -> list[tuple[object, ...]]:
    return database.run(f"SELECT * FROM {table} ORDER BY 1, 2")


def test_rows_come_change_and_go(database: Database, totals: SinkTable, way: str) -> None:
    with sink(totals) as to:
        to.write([changes(totals, (1, 1, 10), (1, 2, 20), (1, 3, 30))], 1)
        assert rows(database) == [(1, 10), (2, 20), (3, 30)]
        to.write([changes(totals, (-1, 1, 10), (1, 1, 11), (-1, 2, 20), (1, 4, None))], 2)
        assert rows(database) == [(1, 11), (3, 30), (4, None)]
        assert to.last_batch() == 2


def test_a_batch_that_comes_again_changes_nothing(database: Database, totals: SinkTable, way: str) -> None:
    with sink(totals) as to:
        assert to.last_batch() is None
        to.write([changes(totals, (1, 1, 10))], 1)
        to.write([changes(totals, (-1, 1, 10))], 2)
        to.write([changes(totals, (1, 1, 10))], 1)
        to.write([changes(totals, (1, 9, 9))], 2)
    assert rows(database) == []
    with sink(totals) as again:
        assert again.last_batch() == 2
        again.write([changes(totals, (1, 9, 9))], 2)
        again.write([changes(totals, (1, 5, 5))], 3)
    assert rows(database) == [(5, 5)]


def test_pipelines_count_their_batches_apart(database: Database, totals: SinkTable) -> None:
    with sink(totals, pipeline="a") as a, sink(totals, pipeline="b") as b:
        a.write([changes(totals, (1, 1, 1))], 7)
        b.write([changes(totals, (1, 2, 2))], 1)
        assert (a.last_batch(), b.last_batch()) == (7, 1)
    assert database.run("SELECT * FROM headwater_batches ORDER BY 1") == [("a", 7), ("b", 1)]


def test_rows_that_swap_their_keys_lose_nothing(database: Database, totals: SinkTable, way: str) -> None:
    with sink(totals) as to:
        to.write([changes(totals, (1, 1, 10), (1, 2, 20))], 1)
        to.write([changes(totals, (-1, 1, 10), (-1, 2, 20), (1, 1, 20), (1, 2, 10))], 2)
    assert rows(database) == [(1, 20), (2, 10)]


def test_every_id_plus_one_loses_nothing(database: Database, totals: SinkTable, way: str) -> None:
    before = [(1, n, n * 10) for n in range(1, 6)]
    after = [(-1, n, n * 10) for n in range(1, 6)] + [(1, n + 1, n * 10) for n in range(1, 6)]
    with sink(totals) as to:
        to.write([changes(totals, *before)], 1)
        to.write([changes(totals, *after)], 2)
    assert rows(database) == [(n + 1, n * 10) for n in range(1, 6)]


def test_values_of_a_second_unique_index_move_between_rows(database: Database, way: str) -> None:
    database.run("CREATE TABLE seats (id int PRIMARY KEY, seat int UNIQUE, note text)")
    table = database.table("seats", schema("id int, seat int, note string", "id"))
    with sink(table) as to:
        to.write([changes(table, *[(1, n, n, "a") for n in range(1, 6)])], 1)
        gone = [(-1, n, n, "a") for n in range(1, 6)]
        to.write([changes(table, *gone, *[(1, n, n % 5 + 1, "b") for n in range(1, 6)])], 2)
        assert rows(database, "seats") == [(n, n % 5 + 1, "b") for n in range(1, 6)]
        with pytest.raises(SinkError, match="duplicate key"):
            to.write([changes(table, (1, 7, 1, "c"))], 3)
    assert len(rows(database, "seats")) == 5


def test_a_column_that_counts_by_itself_keeps_its_number(database: Database, way: str) -> None:
    """A unique index over what is not written refuses nothing, so its rows are not made anew."""
    database.run("CREATE TABLE t (code text UNIQUE, n int, row_id serial PRIMARY KEY, UNIQUE (code, n))")
    table = database.table("t", schema("code string, n int", "code"))
    with sink(table) as to:
        to.write([changes(table, (1, "a", 1))], 1)
        to.write([changes(table, (-1, "a", 1), (1, "a", 2))], 2)
    assert rows(database, "t") == [("a", 2, 1)]


def test_a_row_of_one_query_may_take_the_key_of_another(
    database: Database, totals: SinkTable, way: str
) -> None:
    """Two queries write the table; in one batch the key goes in the second and comes in the first."""
    with sink(totals) as to:
        to.write([changes(totals, (1, 1, 10)), changes(totals, (1, 2, 20))], 1)
        to.write([changes(totals, (1, 2, 21)), changes(totals, (-1, 2, 20))], 2)
        assert rows(database) == [(1, 10), (2, 21)]
        with pytest.raises(SinkError, match=r"two rows want the key \(id\) = \(3\)"):
            to.write([changes(totals, (1, 3, 1)), changes(totals, (1, 3, 2))], 3)


def test_a_foreign_row_with_the_key_is_overwritten(database: Database, totals: SinkTable, way: str) -> None:
    database.run("INSERT INTO totals VALUES (1, 99), (2, 98)")
    with sink(totals) as to:
        to.write([changes(totals, (1, 1, 10))], 1)
    assert rows(database) == [(1, 10), (2, 98)]


def test_two_rows_of_one_key_are_an_error_that_names_it(
    database: Database, totals: SinkTable, way: str
) -> None:
    database.run("INSERT INTO totals VALUES (5, 5)")
    with sink(totals) as to:
        with pytest.raises(SinkError) as caught:
            to.write([changes(totals, (1, 1, 10), (1, 7, 20), (1, 7, 30))], 1)
        assert to.last_batch() is None
    assert caught.value.message == "two rows want the key (id) = (7) of sink table 'totals'"
    assert caught.value.detail == "(id, total) = (7, 20) and (id, total) = (7, 30)."
    assert rows(database) == [(5, 5)]


def test_two_rows_of_one_key_in_a_first_load_are_an_error(
    database: Database, totals: SinkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "SMALL_ROWS", 0)
    with sink(totals) as to, pytest.raises(SinkError) as caught:
        to.write([changes(totals, (1, 7, 20), (1, 7, 30))], 1)
    assert caught.value.message == "two rows want the key (id) = (7) of sink table 'totals'"
    assert rows(database) == []


def test_of_two_rows_that_only_come_the_last_wins(database: Database, way: str) -> None:
    database.run("CREATE TABLE totals (id int PRIMARY KEY, total int)")
    table = database.table("totals", TOTALS, append_only=True)
    with sink(table) as to:
        to.write([changes(table, (1, 7, 20), (1, 8, 1), (1, 7, 30))], 1)
        to.write([changes(table, (1, 8, 2))], 2)
    assert rows(database) == [(7, 30), (8, 2)]


def test_a_table_without_a_key_takes_rows_that_only_come(database: Database, way: str) -> None:
    database.run("CREATE TABLE totals (id int, total int)")
    table = database.table("totals", schema("id int, total int"), append_only=True)
    with sink(table) as to:
        to.write([changes(table, (1, 7, 20), (1, 7, 20))], 1)
        to.write([changes(table, (1, 7, 20))], 2)
        with pytest.raises(SinkError, match="a row is taken from sink table 'totals', which has no key"):
            to.write([changes(table, (-1, 7, 20))], 3)
    assert rows(database) == [(7, 20)] * 3


def test_a_table_that_is_all_key(database: Database, way: str) -> None:
    database.run("CREATE TABLE pairs (a int, b text, PRIMARY KEY (b, a))")
    table = database.table("pairs", schema("a int, b string", "a", "b"))
    with sink(table) as to:
        to.write([changes(table, (1, 1, "x"), (1, 1, "y"))], 1)
        to.write([changes(table, (-1, 1, "x"), (1, 2, "x"))], 2)
    assert rows(database, "pairs") == [(1, "y"), (2, "x")]


def test_null_keys_are_refused_unless_the_index_takes_them_for_equal(database: Database, way: str) -> None:
    declared = schema("status string, n int", "status")
    database.run("CREATE TABLE plain (status text UNIQUE, n int)")
    database.run("CREATE TABLE equal (status text, n int, UNIQUE NULLS NOT DISTINCT (status))")
    plain, equal = database.table("plain", declared), database.table("equal", declared)
    with sink(plain) as to, pytest.raises(SinkError) as caught:
        to.write([changes(plain, (1, None, 1))], 1)
    assert caught.value.message == "key column 'status' of sink table 'plain' is NULL in a row"
    with sink(equal) as to:
        to.write([changes(equal, (1, None, 1), (1, "open", 5))], 1)
        to.write([changes(equal, (-1, None, 1), (1, None, 2))], 2)
        assert rows(database, "equal") == [("open", 5), (None, 2)]
        to.write([changes(equal, (-1, None, 2))], 3)
    assert rows(database, "equal") == [("open", 5)]


def test_no_reader_sees_one_table_without_the_other(database: Database) -> None:
    """A transfer moves between two tables; whoever adds them up must always find the same sum."""
    database.run("CREATE TABLE credit (id int PRIMARY KEY, n int)")
    database.run("CREATE TABLE debit (id int PRIMARY KEY, n int)")
    one, two = (database.table(name, schema("id int, n int", "id")) for name in ("credit", "debit"))
    sums: list[int] = []
    done = threading.Event()

    def look() -> None:
        client = psycopg2.connect(database.uri)
        client.autocommit = True
        while not done.is_set():
            with client.cursor() as cursor:
                cursor.execute("SELECT (SELECT sum(n) FROM credit) + (SELECT sum(n) FROM debit)")
                sums.append(cursor.fetchone()[0])
        client.close()

    with sink(one, two) as to:
        to.write([changes(one, (1, 1, 100)), changes(two, (1, 1, 0))], 1)
        reader = threading.Thread(target=look)
        reader.start()
        for n in range(1, 100):
            gone, come = (-1, 1, 101 - n), (1, 1, 100 - n)
            to.write([changes(one, gone, come), changes(two, (-1, 1, n - 1), (1, 1, n))], n + 1)
        wait_for(lambda: len(sums) > 10)
        done.set()
        reader.join()
    assert set(sums) == {100}
    assert rows(database, "debit") == [(1, 99)]


def test_a_batch_that_fails_in_its_second_table_leaves_nothing(database: Database) -> None:
    database.run("CREATE TABLE a (id int PRIMARY KEY, n int)")
    database.run("CREATE TABLE b (id int PRIMARY KEY, n int CHECK (n < 10))")
    one, two = (database.table(name, schema("id int, n int", "id")) for name in ("a", "b"))
    with sink(one, two) as to:
        with pytest.raises(SinkError) as caught:
            to.write([changes(one, (1, 1, 1)), changes(two, (1, 1, 10))], 1)
        assert to.last_batch() is None
        to.write([changes(one, (1, 1, 1)), changes(two, (1, 1, 9))], 1)
    assert caught.value.message.startswith("Postgres refused the rows of sink table 'b': new row")
    assert caught.value.hint == "Change the table's CHECK constraint, or the query."
    assert rows(database, "a") == [(1, 1)] and rows(database, "b") == [(1, 9)]


def test_200_000_rows_are_loaded_changed_and_removed_from_files(database: Database, tmp_path: Path) -> None:
    database.run("CREATE TABLE big (id bigint PRIMARY KEY, name text, n int)")
    table = database.table("big", schema("id bigint, name string, n int", "id"))
    count = 200_000
    ids = list(range(count))

    def saved(columns: list[object], name: str) -> ChangeSet:
        made = pa.table(dict(zip(("id", "name", "n", WEIGHT), columns, strict=True)))
        pq.write_table(made, tmp_path / name)
        return ChangeSet("big", table.schema, (Files((tmp_path / name,), len(made)),))

    first = saved([ids, [f"name {n}" for n in ids], ids, [1] * count], "first")
    # Every second row gets a new value, every fourth goes.
    old = [n for n in ids if n % 2 == 0]
    new = [n for n in old if n % 4]
    both = [[*old, *new], ["x"] * (len(old) + len(new)), [n + 1 for n in [*old, *new]]]
    second = saved([*both, [-1] * len(old) + [1] * len(new)], "second")
    with sink(table) as to:
        to.write([first], 1)
        assert database.run("SELECT count(*), sum(n), max(name) FROM big")[0] == (
            count, sum(ids), "name 99999",
        )  # fmt: skip
        to.write([second], 2)
    kept = [n for n in ids if n % 2]
    assert database.run("SELECT count(*), sum(n), count(*) FILTER (WHERE name = 'x') FROM big")[0] == (
        len(kept) + len(new), sum(kept) + sum(n + 1 for n in new), len(new),
    )  # fmt: skip


def test_empty_change_sets_move_the_batch_id(database: Database, totals: SinkTable) -> None:
    with sink(totals) as to:
        to.write([arrow_changes(totals, [])], 1)
        to.write([], 2)
        assert to.last_batch() == 2


def test_of_two_processes_with_one_batch_one_writes(database: Database, totals: SinkTable) -> None:
    """The second waits for the first and then finds nothing to do."""
    with sink(totals) as one, sink(totals) as two, database.client() as holder:
        holder.execute("LOCK TABLE totals")
        writers = [
            threading.Thread(target=to.write, args=([changes(totals, (1, 1, 10), (1, 2, n))], 1))
            for n, to in enumerate((one, two))
        ]
        for writer in writers:
            writer.start()
        wait_for(lambda: database.run("SELECT count(*) FROM pg_locks WHERE NOT granted")[0][0] >= 2)
        holder.connection.rollback()
        for writer in writers:
            writer.join()
    assert len(rows(database)) == 2
    assert database.run("SELECT batch_id FROM headwater_batches") == [(1,)]
