"""The jdbc sink writes to MySQL and MariaDB what a batch says, once. Oracle: the rows that a second client reads."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.changes.change_set import ChangeSet, Files
from headwater.errors import SinkError
from headwater.schema import WEIGHT
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.mysql import statements, write
from tests.ends.mysql_world import MysqlDatabase
from tests.ends.postgres_world import arrow_changes, changes, schema, sink, wait_for

# The first time the servers are fetched, which is half a gigabyte.
pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

TOTALS = schema("id int, total int", "id")


@pytest.fixture
def totals(maria: MysqlDatabase) -> SinkTable:
    """A table with a key."""
    maria.run("CREATE TABLE totals (id int PRIMARY KEY, total int)")
    return maria.table("totals", TOTALS)


def rows(database: MysqlDatabase, table: str = "totals") -> list[tuple[object, ...]]:
    return database.run(f"SELECT * FROM {table} ORDER BY 1, 2")


def test_rows_come_change_and_go_and_a_repeated_batch_changes_nothing(
    maria: MysqlDatabase, totals: SinkTable
) -> None:
    maria.run("INSERT INTO totals VALUES (1, 99), (9, 98)")
    with sink(totals) as to:
        assert to.last_batch() is None
        to.write([changes(totals, (1, 1, 10), (1, 2, 20), (1, 3, 30))], 1)
        assert rows(maria) == [(1, 10), (2, 20), (3, 30), (9, 98)]
        second = changes(totals, (-1, 1, 10), (1, 1, 11), (-1, 2, 20), (1, 4, None))
        to.write([second], 2)
        maria.run("UPDATE totals SET total = 0 WHERE id = 1")
        to.write([second], 2)
        to.write([changes(totals, (1, 1, 10))], 1)
        assert rows(maria) == [(1, 0), (3, 30), (4, None), (9, 98)]
        to.write([arrow_changes(totals, [])], 3)
        to.write([], 4)
    with sink(totals, pipeline="other") as other, sink(totals) as again:
        assert (other.last_batch(), again.last_batch()) == (None, 4)
        again.write([changes(totals, (1, 1, 10))], 4)
        other.write([changes(totals, (1, 1, 7))], 1)
    assert rows(maria)[0] == (1, 7)
    assert maria.run("SELECT * FROM headwater_batches ORDER BY 1") == [("other", 1), ("p", 4)]


def test_keys_that_swap_or_move_on_lose_nothing(maria: MysqlDatabase, totals: SinkTable) -> None:
    with sink(totals) as to:
        to.write([changes(totals, *[(1, n, n * 10) for n in range(1, 6)])], 1)
        gone = [(-1, n, n * 10) for n in range(1, 6)]
        to.write([changes(totals, *gone, *[(1, n + 1, n * 10) for n in range(1, 6)])], 2)
        assert rows(maria) == [(n + 1, n * 10) for n in range(1, 6)]
        to.write([changes(totals, (1, 2, 20), (1, 3, 10), (-1, 2, 10), (-1, 3, 20))], 3)
    assert rows(maria)[:2] == [(2, 20), (3, 10)]


def test_values_of_a_second_unique_index_move_between_rows(maria: MysqlDatabase) -> None:
    maria.run("CREATE TABLE seats (id int PRIMARY KEY, seat int UNIQUE, note varchar(9))")
    table = maria.table("seats", schema("id int, seat int, note string", "id"))
    with sink(table) as to:
        to.write([changes(table, *[(1, n, n, "a") for n in range(1, 6)])], 1)
        gone = [(-1, n, n, "a") for n in range(1, 6)]
        to.write([changes(table, *gone, *[(1, n, n % 5 + 1, "b") for n in range(1, 6)])], 2)
        assert rows(maria, "seats") == [(n, n % 5 + 1, "b") for n in range(1, 6)]
        with pytest.raises(SinkError) as caught:
            to.write([changes(table, (1, 7, 1, "c"))], 3)
    assert caught.value.hint.startswith("Another unique index of the table forbids the row")
    assert len(rows(maria, "seats")) == 5


def test_a_column_that_counts_by_itself_keeps_its_number(maria: MysqlDatabase) -> None:
    """The key is not the primary key, and a 0 is a 0."""
    maria.run("CREATE TABLE t (row_id int AUTO_INCREMENT PRIMARY KEY, code varchar(9) UNIQUE, n int)")
    table = maria.table("t", schema("code string, n int", "code"))
    maria.run("CREATE TABLE z (id int AUTO_INCREMENT PRIMARY KEY, n int)")
    zero = maria.table("z", schema("id int, n int", "id"))
    with sink(table, zero) as to:
        to.write([changes(table, (1, "a", 1)), changes(zero, (1, 0, 1))], 1)
        to.write([changes(table, (-1, "a", 1), (1, "a", 2))], 2)
    assert rows(maria, "t") == [(1, "a", 2)] and rows(maria, "z") == [(0, 1)]


def test_two_rows_of_one_key(maria: MysqlDatabase, totals: SinkTable) -> None:
    with sink(totals) as to:
        with pytest.raises(SinkError) as caught:
            to.write([changes(totals, (1, 1, 10), (1, 7, 20), (1, 7, 30))], 1)
        assert to.last_batch() is None
    assert caught.value.message == "two rows want the key (id) = (7) of sink table 'totals'"
    assert caught.value.detail == "(id, total) = (7, 20) and (id, total) = (7, 30)."
    assert rows(maria) == []
    table = maria.table("totals", TOTALS, append_only=True)
    with sink(table) as to:
        to.write([changes(table, (1, 7, 20), (1, 8, 1), (1, 7, 30))], 1)
        to.write([changes(table, (1, 8, 2))], 2)
    assert rows(maria) == [(7, 30), (8, 2)]


def test_tables_without_a_key_and_all_key(maria: MysqlDatabase) -> None:
    maria.run("CREATE TABLE notes (id int, total int)")
    maria.run("CREATE TABLE pairs (a int, b varchar(9), PRIMARY KEY (b, a))")
    notes = maria.table("notes", schema("id int, total int"), append_only=True)
    pairs = maria.table("pairs", schema("a int, b string", "a", "b"))
    with sink(notes, pairs) as to:
        to.write([changes(notes, (1, 7, 20), (1, 7, 20)), changes(pairs, (1, 1, "x"), (1, 1, "y"))], 1)
        to.write([changes(pairs, (-1, 1, "x"), (1, 2, "x"), (1, 1, "y"))], 2)
        with pytest.raises(SinkError, match="a row is taken from sink table 'notes', which has no key"):
            to.write([changes(notes, (-1, 7, 20))], 3)
        with pytest.raises(SinkError, match="key column 'b' of sink table 'pairs' is NULL in a row"):
            to.write([changes(pairs, (1, 7, None))], 3)
    assert rows(maria, "notes") == [(7, 20)] * 2
    assert rows(maria, "pairs") == [(1, "y"), (2, "x")]


def test_keys_that_the_server_takes_for_equal_are_an_error(maria: MysqlDatabase) -> None:
    maria.run("CREATE TABLE names (name varchar(9) COLLATE utf8mb4_general_ci PRIMARY KEY, n int)")
    maria.run("CREATE TABLE apart LIKE names")
    maria.run("ALTER TABLE apart MODIFY name varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    names, apart = (maria.table(name, schema("name string, n int", "name")) for name in ("names", "apart"))
    with sink(names, apart) as to:
        to.write([changes(names, (1, "ann", 1)), changes(apart, (1, "ann", 1), (1, "Ann", 2))], 1)
        to.write([changes(names, (-1, "ann", 1), (1, "Ann", 1))], 2)
        for wrong in ([(1, "ann", 2)], [(1, "bob", 1), (1, "Bob", 2)], [(1, "ANN ", 3)]):
            with pytest.raises(SinkError) as caught:
                to.write([changes(names, *wrong)], 3)
            assert caught.value.message.endswith("of sink table 'names' is another one to MySQL")
    assert rows(maria, "names") == [("Ann", 1)]
    assert sorted(rows(maria, "apart")) == [("Ann", 2), ("ann", 1)]


def test_a_batch_that_fails_in_its_second_table_leaves_nothing(maria: MysqlDatabase) -> None:
    maria.run("CREATE TABLE a (id int PRIMARY KEY, n int)")
    maria.run("CREATE TABLE b (id int PRIMARY KEY, n int, CHECK (n < 10))")
    one, two = (maria.table(name, schema("id int, n int", "id")) for name in ("a", "b"))
    with sink(one, two) as to:
        with pytest.raises(SinkError) as caught:
            to.write([changes(one, (1, 1, 1)), changes(two, (1, 1, 10))], 1)
        assert to.last_batch() is None
        to.write([changes(one, (1, 1, 1)), changes(two, (1, 1, 9))], 1)
    assert caught.value.message.startswith("MySQL refused the rows of sink table 'b': ")
    assert caught.value.hint == "Change the table's CHECK constraint, or the query."
    assert rows(maria, "a") == [(1, 1)] and rows(maria, "b") == [(1, 9)]


def test_no_reader_sees_one_table_without_the_other(maria: MysqlDatabase) -> None:
    """A transfer moves between two tables; whoever adds them up must always find the same sum."""
    for name in ("credit", "debit"):
        maria.run(f"CREATE TABLE {name} (id int PRIMARY KEY, n int)")
    one, two = (maria.table(name, schema("id int, n int", "id")) for name in ("credit", "debit"))
    sums: list[int] = []
    done = threading.Event()

    def look() -> None:
        with maria.client() as cursor:
            while not done.is_set():
                cursor.execute("SELECT (SELECT sum(n) FROM credit) + (SELECT sum(n) FROM debit)")
                sums.append(int(cursor.fetchone()[0]))
                cursor.connection.rollback()

    with sink(one, two) as to:
        to.write([changes(one, (1, 1, 100)), changes(two, (1, 1, 0))], 1)
        reader = threading.Thread(target=look)
        reader.start()
        for n in range(1, 60):
            gone, come = (-1, 1, 101 - n), (1, 1, 100 - n)
            to.write([changes(one, gone, come), changes(two, (-1, 1, n - 1), (1, 1, n))], n + 1)
        wait_for(lambda: len(sums) > 10)
        done.set()
        reader.join()
    assert set(sums) == {100} and rows(maria, "debit") == [(1, 59)]


@pytest.mark.parametrize("second", ["", ", UNIQUE (other)"])
def test_many_rows_are_loaded_changed_and_removed_from_files(
    maria: MysqlDatabase, tmp_path: Path, second: str
) -> None:
    maria.run(f"CREATE TABLE big (id bigint, part int, name text, other int{second}, PRIMARY KEY (id, part))")
    table = maria.table("big", schema("id bigint, part int, name string, other int", "id", "part"))
    count = 21_000
    ids = list(range(count))

    def saved(columns: list[object], name: str) -> ChangeSet:
        made = pa.table(dict(zip(("id", "part", "name", "other", WEIGHT), columns, strict=True)))
        pq.write_table(made, tmp_path / name)
        return ChangeSet("big", table.schema, (Files((tmp_path / name,), len(made)),))

    first = saved([ids, [n % 7 for n in ids], [f"name {n}" for n in ids], ids, [1] * count], "first")
    # All rows whose number is even go, and half of them come again, with the other's number.
    old = [n for n in ids if n % 2 == 0]
    new = [n for n in old if n % 4 == 0]
    both = [*old, *new]
    others = [*old, *[n + 2 for n in new]]
    weights = [-1] * len(old) + [1] * len(new)
    second_set = saved([both, [n % 7 for n in both], ["x"] * len(both), others, weights], "second")
    with sink(table) as to:
        to.write([first], 1)
        assert maria.run("SELECT count(*), sum(other), max(name) FROM big")[0] == (
            count,
            sum(ids),
            "name 9999",
        )
        to.write([second_set], 2)
    kept = [n for n in ids if n % 2]
    assert maria.run("SELECT count(*), sum(other), sum(name = 'x') FROM big")[0] == (
        len(kept) + len(new), sum(kept) + sum(n + 2 for n in new), len(new),
    )  # fmt: skip


def test_statements_stay_below_what_the_server_takes(
    maria: MysqlDatabase, totals: SinkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "STATEMENT_BYTES", 150)
    monkeypatch.setattr(write, "KEYS_AT_ONCE", 3)
    with sink(totals) as to:
        to.write([changes(totals, *[(1, n, n) for n in range(50)])], 1)
        to.write([changes(totals, *[(-1, n, n) for n in range(40)])], 2)
    assert rows(maria) == [(n, n) for n in range(40, 50)]
    maria.run("CREATE TABLE wide (id int PRIMARY KEY, text longtext)")
    wide = maria.table("wide", schema("id int, text string", "id"))
    packet = int(maria.run("SELECT @@max_allowed_packet")[0][0])
    with sink(wide, pipeline="wide") as to:
        to.write([changes(wide, (1, 1, "x" * 2_000_000), (1, 2, "y" * 2_000_000))], 1)
        with pytest.raises(SinkError, match="a row of sink table 'wide' is larger than MySQL takes at once"):
            to.write([changes(wide, (1, 3, "z" * packet))], 2)
    assert maria.run("SELECT id, length(text) FROM wide ORDER BY 1") == [(1, 2_000_000), (2, 2_000_000)]


def test_of_two_processes_with_one_batch_one_writes(maria: MysqlDatabase, totals: SinkTable) -> None:
    """The second waits for the first and then finds nothing to do."""
    maria.run("INSERT INTO totals VALUES (1, 0)")
    with sink(totals) as one, sink(totals) as two, maria.client() as holder:
        holder.execute("SELECT * FROM totals WHERE id = 1 FOR UPDATE")
        writers = [
            threading.Thread(target=to.write, args=([changes(totals, (1, 1, 10), (1, 2, n))], 1))
            for n, to in enumerate((one, two))
        ]
        for writer in writers:
            writer.start()
        maria.wait_for_waiting(2)
        holder.connection.rollback()
        for writer in writers:
            writer.join()
    assert len(rows(maria)) == 2
    assert maria.run("SELECT batch_id FROM headwater_batches") == [(1,)]
