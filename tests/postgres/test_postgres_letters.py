"""With 'errors' = 'dead-letter' a table has the rows that fit, and each change that leaves another one is a letter.

Oracle: the rows of the server that fit, chosen there by SQL; letters as they were written down by hand.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from headwater.log.events import OP, POSITION
from headwater.log.letters import DEAD_LETTERS
from headwater.log.positions import Position
from tests.postgres.letters import COLUMNS, KIND_COLUMN, PARKS, fitting, folded, letters, make
from tests.postgres.streams import HELD, MUCH, capturing, was_streamed
from tests.postgres.world import Database, World, brief, events, parts, read_now

pytestmark = pytest.mark.services


def test_a_letter_says_the_same_of_first_rows_and_of_changes(database: Database, world: World) -> None:
    odd = 'a"b\\c\td\ne\x01 Ä 漢字'
    database.run("CREATE TABLE t (id int PRIMARY KEY, d date, n numeric, x text, f float8, a int[], b bytea)")
    row = "(%s, 'infinity', 'NaN', %s, 1e300, '{{1}}', '\\x00ff')"
    database.run(f"INSERT INTO t VALUES {row}, (2, NULL, NULL, NULL, NULL, NULL, NULL)", 1, odd)
    declared = "id int, d date, n decimal(10,2), x string, f float, a array<int>, b binary"
    with world.source(database.table("t", declared, "id", **PARKS)) as source:
        first = read_now(source)
        database.run(f"INSERT INTO t VALUES {row}", 1001, odd)
        then = read_now(source, after=first[-1].position)
        database.run("UPDATE t SET b = '\\x01', a = '{1,2}', x = 'x' WHERE id = 2")
        database.run("UPDATE t SET n = 'NaN' WHERE id = 2")
        last = read_now(source, after=then[-1].position)
    assert brief(first, "t") == [("insert", 2, *[None] * 6)]
    assert brief(then, "t") == []
    assert brief(last, "t") == [
        ("upsert", 2, None, None, "x", None, [1, 2], b"\x01"),
        ("delete_key", 2, *[None] * 6),
    ]
    sent = {"d": "infinity", "n": "NaN", "x": odd, "f": "1e+300", "a": "{{1}}", "b": "\\x00ff"}
    assert letters(first) == [("t", "d", {"id": "1", **sent})]
    assert letters(then) == [("t", "d", {"id": "1001", **sent})]
    for said in (first, then):
        (letter,) = events(said, DEAD_LETTERS)
        assert letter["error"].startswith(
            "a value of column 'd' of table 't' does not fit its type date: the value is 'infinity' ("
        )
        assert letter["position"].startswith("0/") and letter["topic"] is None
    assert events(first, DEAD_LETTERS)[0]["position"] == str(Position(events(first, "t")[0][POSITION], "lsn"))


def test_whole_rows_come_and_go_as_they_fit(database: Database, world: World) -> None:
    make(database)
    with world.source(database.table("t", COLUMNS, "id", **PARKS)) as source:
        first = read_now(source)
        database.together(
            "UPDATE t SET n = 5000 WHERE id = 1",
            "UPDATE t SET n = 7 WHERE id = 2",
            "UPDATE t SET n = 6000 WHERE id = 3",
            "INSERT INTO t VALUES (4, -1, 'dan'), (5, 9999, 'eve')",
            "DELETE FROM t WHERE id = 5",
            "UPDATE t SET id = 90000000000 WHERE id = 4",
        )
        then = read_now(source, after=first[-1].position)
    assert brief(first, "t") == [("insert", 1, 1, "ann")]
    assert brief(then, "t") == [
        ("delete", 1, 1, "ann"),
        ("insert", 2, 7, "bob"),
        ("insert", 4, -1, "dan"),
        ("delete", 4, -1, "dan"),
    ]
    assert [row[OP] for row in events(then, "t")] == ["d", "c", "c", "d"], "no half of an update stands alone"
    assert all(one.whole_rows for one in parts(then, "t"))
    assert [(column, row["id"], row["n"]) for _, column, row in letters([*first, *then])] == [
        ("n", "2", "2000"),
        ("n", "3", "NaN"),
        ("n", "1", "5000"),
        ("n", "3", "6000"),
        ("n", "5", "9999"),
        ("id", "90000000000", "-1"),
    ]


def test_keys_lose_and_get_their_rows_as_they_fit(database: Database, world: World) -> None:
    make(database, "DEFAULT")
    with world.source(database.table("t", COLUMNS, "id", **PARKS)) as source:
        first = read_now(source)
        database.together(
            "UPDATE t SET n = 5000 WHERE id = 1",
            "UPDATE t SET n = 7 WHERE id = 2",
            "UPDATE t SET id = 20 WHERE id = 2",
            "UPDATE t SET id = 90000000000 WHERE id = 20",
            "UPDATE t SET id = 21 WHERE id = 90000000000",
            "UPDATE t SET id = 22, n = 4000 WHERE id = 21",
            "DELETE FROM t WHERE id = 3",
        )
        then = read_now(source, after=first[-1].position)
    assert brief(then, "t") == [
        ("delete_key", 1, None, None),
        ("upsert", 2, 7, "bob"),
        ("delete_key", 2, None, None),
        ("upsert", 20, 7, "bob"),
        ("delete_key", 20, None, None),
        ("upsert", 21, 7, "bob"),
        ("delete_key", 21, None, None),
        ("delete_key", 22, None, None),
        ("delete_key", 3, None, None),
    ]
    assert [row[OP] for row in events(then, "t")] == ["d", "u", "u", "u", "d", "u", "d", "d", "d"]
    assert folded([*first, *then], "t") == {}
    assert [(column, row["id"]) for _, column, row in letters(then)] == [
        ("n", "1"),
        ("id", "90000000000"),
        ("n", "22"),
    ]


def test_what_was_not_sent_is_not_in_the_letter(database: Database, world: World) -> None:
    make(database, "DEFAULT")
    large = "".join(chr(65 + i % 57) for i in range(12_000))
    database.run("ALTER TABLE t ALTER name SET STORAGE EXTERNAL")
    database.run("UPDATE t SET name = %s WHERE id = 1", large)
    with world.source(database.table("t", COLUMNS, "id", **PARKS)) as source:
        first = read_now(source)
        database.run("UPDATE t SET n = 5000 WHERE id = 1")
        then = read_now(source, after=first[-1].position)
    assert brief(then, "t") == [("delete_key", 1, None, None)]
    assert letters(then) == [("t", "n", {"id": "1", "n": "5000"})]


def test_equal_rows_without_a_key_are_counted(database: Database, world: World) -> None:
    make(database, key="")
    database.run("INSERT INTO t SELECT * FROM t")
    with world.source(database.table("t", COLUMNS, **PARKS)) as source:
        first = read_now(source)
        database.run("INSERT INTO t VALUES (1, 1, 'ann'), (2, 2000, 'bob')")
        database.run("DELETE FROM t WHERE ctid IN (SELECT min(ctid) FROM t GROUP BY id)")
        database.run("UPDATE t SET n = n / 1000 WHERE id = 2")
        said = first + read_now(source, after=first[-1].position)
        assert folded(said, "t", keys=3) == fitting(database)
        database.run("DELETE FROM t")
        said += read_now(source, after=said[-1].position)
    assert folded(said, "t", keys=3) == {}
    assert Counter(row["id"] for _, _, row in letters(said)) == {"2": 3, "3": 2}


@pytest.mark.parametrize("identity", ["FULL", "DEFAULT", "metadata"])
@pytest.mark.parametrize("few", [0, 100_000], ids=["packed", "one by one"])
def test_the_table_is_the_rows_that_fit_whatever_happens(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, identity: str, few: int
) -> None:
    monkeypatch.setattr("headwater.log.pending.FEW_MESSAGES", few)
    make(database, identity.replace("metadata", "FULL"))
    table = database.table("t", COLUMNS, "id", **PARKS)
    if identity == "metadata":
        table = replace(database.table("t", COLUMNS + ", kind string", "id", **PARKS), metadata=KIND_COLUMN)
    chosen = random.Random(7)
    numbers = ["'NaN'", "NULL", "5", "-7", "1234", "1e40", "0.5"]
    with capturing(database, world, monkeypatch, table, held=4 if few else 50_000) as capture:
        for _ in range(40):
            changes = []
            for _ in range(chosen.randint(1, 5)):
                one, other = (chosen.choice([*range(1, 9), 5_000_000_000]) for _ in range(2))
                n = chosen.choice(numbers)
                changes.append(
                    chosen.choice(
                        [
                            f"INSERT INTO t VALUES ({one}, {n}, 'x') ON CONFLICT (id) DO UPDATE SET n = {n}",
                            f"UPDATE t SET n = {n} WHERE id = {one}",
                            f"UPDATE t SET id = {other} WHERE id = {one}"
                            f" AND NOT EXISTS (SELECT FROM t WHERE id = {other})",
                            f"DELETE FROM t WHERE id = {one}",
                            f"UPDATE t SET name = md5(n::text) WHERE id = {one}",
                        ]
                    )
                )
            database.together(*changes)
        said = capture.read()
    found = Counter({row[:3]: count for row, count in folded(said, "t").items()})
    assert found == fitting(database)
    assert letters(said)


def test_columns_beside_the_rows_go_with_the_row_that_was_stored(database: Database, world: World) -> None:
    make(database)
    table = database.table("t", "id int, n decimal(3,0), kind string", "id", **PARKS)
    with world.source(replace(table, metadata=KIND_COLUMN)) as source:
        first = read_now(source)
        database.run("UPDATE t SET n = 5000 WHERE id = 1; UPDATE t SET n = 5 WHERE id = 2")
        database.run("DELETE FROM t WHERE id = 3")
        said = first + read_now(source, after=first[-1].position)
    assert brief(said, "t")[0] == ("insert", 1, 1, "+I")
    assert folded(said, "t") == {(2, 5, "+U"): 1}
    assert [row["id"] for _, _, row in letters(said)] == ["2", "3", "1"]


@pytest.mark.parametrize("held", HELD)
def test_a_transaction_in_progress_has_letters_once_it_is_committed(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    make(database)
    with capturing(
        database, world, monkeypatch, database.table("t", COLUMNS, "id", **PARKS), held=held
    ) as capture:
        with database.client() as client, client.cursor() as cursor:
            cursor.execute(f"INSERT INTO t SELECT i, i * 10, {MUCH} FROM generate_series(10, 200) i")
            cursor.execute("SAVEPOINT a")
            cursor.execute(f"INSERT INTO t SELECT i, 'NaN', {MUCH} FROM generate_series(201, 300) i")
            cursor.execute("ROLLBACK TO a")
            client.commit()
        said = capture.read()
    assert was_streamed(database)
    assert folded(said, "t") == fitting(database)
    assert [int(row["id"] or 0) for _, _, row in letters(said)] == [2, 3, *range(100, 201)]
    assert len({letter["position"] for letter in events(said, DEAD_LETTERS)}) == 2
