"""The log of a Postgres as a data source of Spark.

Oracles: the changes as they were made, written down by hand, and the rows of the database itself.
"""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession

from tests.postgres.followed import Followed, brief, holder, options, reader
from tests.postgres.test_postgres_faults import alive
from tests.postgres.world import Database, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm]

PAGE = Path(__file__).parents[2] / "docs" / "spark-source.md"
LARGE = "".join(chr(65 + (i * i) % 57) for i in range(12_000))


def test_the_program_of_the_page_runs(
    spark: SparkSession,
    database: Database,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database.run("CREATE TABLE orders (id int PRIMARY KEY, total numeric(10, 2))")
    database.run("INSERT INTO orders VALUES (1, 10.50), (2, 7)")
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    here = {"5432": str(database.port), "reader": "postgres", "secret": "postgres", "shop": database.name}
    for said, meant in here.items():
        program = program.replace(f'"{said}"', f'"{meant}"')
    program = re.sub(r'"(orders_\w+)"', rf'"{tmp_path}/\1"', program)
    exec(program, {"spark": spark})
    database.run("UPDATE orders SET total = 8 WHERE id = 2")
    exec(program, {"spark": spark})
    said = capsys.readouterr().out
    assert "|  1|10.50|" in said and "|  2| 8.00|" in said
    assert re.search(r"\| *r\| *2\|", said) and re.search(r"\| *u\| *1\|", said)


def now(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.select("after.*").collect())


def test_a_read_has_the_rows_of_now(spark: SparkSession, people: Database) -> None:
    frame = spark.read.format("headwater").options(**options(people, "people")).load()
    first = frame.orderBy("sequence").collect()
    assert [(row.op, row.before, tuple(row.after)) for row in first] == [
        ("r", None, (1, "ann")),
        ("r", None, (2, "bob")),
    ]
    people.run("UPDATE people SET name = 'eve' WHERE id = 1")
    assert now(frame) == [(1, "eve"), (2, "bob")]
    assert frame.where("after.id = 2").count() == 1
    assert people.slots() == [] and people.publications() == []


def test_a_stream_has_first_rows_and_then_every_change(followed: Followed, people: Database) -> None:
    followed.start()
    followed.wait(2)
    people.together(
        "INSERT INTO people VALUES (3, NULL)",
        "UPDATE people SET name = 'eve' WHERE id = 1",
        "UPDATE people SET id = 20 WHERE id = 2",
        "DELETE FROM people WHERE id = 3",
    )
    people.run("TRUNCATE people")
    followed.wait(7)
    assert brief(followed.rows) == [
        ("r", None, (1, "ann")),
        ("r", None, (2, "bob")),
        ("c", None, (3, None)),
        ("u", (1, "ann"), (1, "eve")),
        ("u", (2, "bob"), (20, "bob")),
        ("d", (3, None), None),
        ("t", None, None),
    ]
    first, together, emptied = followed.rows[0], followed.rows[2:6], followed.rows[6]
    assert first.transaction_id is None and first.committed_at is None
    assert len({(row.transaction_id, row.position, row.committed_at) for row in together}) == 1
    assert together[0].committed_at is not None and together[0].transaction_id != emptied.transaction_id
    assert {row.unchanged for row in followed.rows} == {None}


def test_of_a_table_that_logs_keys_before_holds_the_key(
    spark: SparkSession, database: Database, tmp_path: Path
) -> None:
    database.run("CREATE TABLE notes (id int PRIMARY KEY, title text, body text)")
    database.run("ALTER TABLE notes ALTER body SET STORAGE EXTERNAL")
    database.run("INSERT INTO notes VALUES (1, 'a', %s)", LARGE)
    query = Followed(reader(spark, database, "notes", state=str(tmp_path / "s")), tmp_path / "c")
    with query:
        query.wait(1)
        database.run("UPDATE notes SET title = 'b' WHERE id = 1")
        database.run("UPDATE notes SET id = 2, body = 'short' WHERE id = 1")
        database.run("DELETE FROM notes WHERE id = 2")
        query.wait(4)
    assert brief(query.rows) == [
        ("r", None, (1, "a", LARGE)),
        ("u", None, (1, "b", None)),
        ("u", (1, None, None), (2, "b", "short")),
        ("d", (2, None, None), None),
    ]
    assert [row.unchanged for row in query.rows] == [None, ["body"], None, None]


def test_no_batch_holds_a_part_of_a_transaction(followed: Followed, people: Database) -> None:
    followed.start()
    followed.wait(2)
    made = 0
    # The writer goes on until Spark has asked several times in the middle of its work, however fast either of them is.
    while len(followed.batches) < 5:
        people.together(
            f"UPDATE people SET name = '{made}' WHERE id = 1",
            f"UPDATE people SET name = '{made}' WHERE id = 2",
        )
        made += 1
        followed.wait(2)
    followed.wait(2 + 2 * made)
    told = [Counter(row.transaction_id for row in batch) for batch in followed.batches]
    assert all(set(batch.values()) == {2} for batch in told)
    assert sum(len(batch) for batch in told[1:]) == made


def test_a_query_that_is_stopped_goes_on_without_loss_or_repeat(followed: Followed, people: Database) -> None:
    followed.start()
    followed.wait(2)
    people.run("INSERT INTO people VALUES (3, 'cid')")
    followed.wait(3)
    followed.wait_for_commit()
    followed.stop()
    # The capture ended with the query: nobody holds the slot.
    wait_for(
        lambda: (
            people.run(
                "SELECT active FROM pg_replication_slots WHERE slot_name LIKE %s", "headwater_spark_people%"
            )
            == [(False,)]
        )
    )
    people.run("DELETE FROM people WHERE id = 1")
    followed.start()
    people.run("INSERT INTO people VALUES (4, 'dee')")
    followed.wait(5)
    assert [(row.op, (row.after or row.before).id) for row in followed.rows] == [
        ("r", 1),
        ("r", 2),
        ("c", 3),
        ("d", 1),
        ("c", 4),
    ]
    assert followed.repeats == 0


def test_whoever_is_killed_nothing_is_lost_or_doubled(
    followed: Followed, people: Database, tmp_path: Path
) -> None:
    lock = tmp_path / "state" / "log" / "lock"
    followed.start()
    followed.wait(2)
    capture, _ = holder(lock)
    os.kill(capture, signal.SIGKILL)
    people.run("INSERT INTO people VALUES (3, 'cid')")
    followed.wait(3)
    again, planner = holder(lock)
    assert again != capture
    os.kill(planner, signal.SIGKILL)
    people.run("INSERT INTO people VALUES (4, 'dee')")
    with pytest.raises(StreamingQueryException):
        followed.join()
    # Nobody tells the capture to end; it notices by itself, in its own time.
    wait_for(lambda: not alive(again))
    followed.start()
    people.run("INSERT INTO people VALUES (5, 'eli')")
    followed.wait(5)
    assert [(row.op, row.after.id) for row in followed.rows] == [
        ("r", 1),
        ("r", 2),
        ("c", 3),
        ("c", 4),
        ("c", 5),
    ]


def test_a_batch_that_failed_is_repeated_as_it_was(followed: Followed, people: Database) -> None:
    followed.start()
    followed.wait(2)
    followed.wait_for_commit()
    followed.fails = True
    people.run("INSERT INTO people VALUES (3, 'cid')")
    with pytest.raises(StreamingQueryException, match="the sink is broken"):
        followed.join()
    people.run("INSERT INTO people VALUES (4, 'dee')")
    followed.fails = False
    followed.start()
    followed.wait(4)
    # The batch with row 3 came twice and holds the same, although row 4 was there when it was repeated.
    assert followed.repeats == 1
    assert [(row.op, row.after.id) for row in followed.rows] == [("r", 1), ("r", 2), ("c", 3), ("c", 4)]


def test_a_query_over_what_is_available_takes_all_that_is_committed(
    followed: Followed, people: Database
) -> None:
    followed.run_available()
    assert [row.op for row in followed.rows] == ["r", "r"]
    people.run("INSERT INTO people SELECT n, 'many' FROM generate_series(10, 5009) n")
    people.run("DELETE FROM people WHERE id = 10")
    followed.run_available()
    assert Counter(row.op for row in followed.rows) == {"r": 2, "c": 5000, "d": 1}
    followed.run_available()
    assert len(followed.rows) == 5003 and followed.repeats == 0


def test_what_spark_has_committed_is_forgotten(followed: Followed, people: Database, tmp_path: Path) -> None:
    followed.start()
    for number in range(3, 8):
        people.run(f"INSERT INTO people VALUES ({number}, 'x')")
        followed.wait(number)
    # A batch is committed when the next begins: only the last can be there still.
    wait_for(lambda: len(list((tmp_path / "state" / "log").glob("*.parquet"))) <= 1)


def test_a_large_transaction_comes_whole(followed: Followed, people: Database) -> None:
    followed.start()
    followed.wait(2)
    people.run("INSERT INTO people SELECT n, 'x' || n FROM generate_series(10, 120009) n")
    people.run("UPDATE people SET name = 'y' || id WHERE id >= 10")
    followed.wait(240_002)
    sizes = [len(batch) for batch in followed.batches]
    assert sizes in ([2, 120_000, 120_000], [2, 240_000])
    updates = [row for row in followed.rows if row.op == "u"]
    assert all(row.before.name == f"x{row.after.id}" for row in updates)
    assert {row.after.id for row in updates} == set(range(10, 120_010))


def test_columns_that_are_added_later_do_not_disturb_a_stream(
    followed: Followed, people: Database, spark: SparkSession, tmp_path: Path
) -> None:
    followed.run_available()
    people.run("ALTER TABLE people ADD age int")
    people.run("INSERT INTO people VALUES (3, 'cid', 30)")
    again = Followed(reader(spark, people, "people", state=str(tmp_path / "state")), tmp_path / "checkpoint")
    again.run_available()
    assert brief(again.rows) == [("c", None, (3, "cid"))]


def test_a_schema_of_the_user_chooses_columns_and_types(
    spark: SparkSession, people: Database, tmp_path: Path
) -> None:
    wanted = "after STRUCT<id: BIGINT>, op STRING"
    once = spark.read.format("headwater").options(**options(people, "people")).schema(wanted).load()
    assert sorted(once.collect()) == [Row(after=Row(id=1), op="r"), Row(after=Row(id=2), op="r")]
    assert once.schema["after"].dataType.simpleString() == "struct<id:bigint>"
    with pytest.raises(PySparkException, match="has no column 'opp'"):
        spark.read.format("headwater").options(**options(people, "people")).schema(
            "opp STRING"
        ).load().collect()
