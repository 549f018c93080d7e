"""Tables as they are in real databases: own columns, keys only in the log, large values, TRUNCATE, huge transactions.

Oracle: the same query in Postgres.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.world import bag, pipeline, rows, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

MANY = 100_000
"""Rows of each of two tables, so that one transaction has twice as many."""


NOTES = """
CREATE TABLE notes (id bigint PRIMARY KEY, body text, tag text, amount numeric(12, 2), born timestamp);
ALTER TABLE notes ALTER COLUMN body SET STORAGE EXTERNAL;
INSERT INTO notes SELECT n, repeat(md5(n::text), 320), 't' || n % 3, n * 1.25,
  '2024-01-01'::timestamp + n * interval '1 day 1 microsecond' FROM generate_series(1, 30) n;
"""
NOTES_VIEWS = """
CREATE VIEW whole AS SELECT id, body, tag, amount, born FROM notes;
CREATE VIEW tags AS
SELECT tag, SUM(amount) AS amount, SUM(LENGTH(body)) AS letters, MAX(born) AS born FROM notes GROUP BY tag;
"""
TAGS = "SELECT tag, SUM(amount), SUM(length(body)), MAX(born) FROM notes GROUP BY tag"
NOTES_STEPS = (
    ["UPDATE notes SET amount = amount + 1 WHERE id < 10"],
    ["UPDATE notes SET tag = NULL WHERE id = 5", "UPDATE notes SET tag = 'x' WHERE id = 5"],
    ["UPDATE notes SET id = id + 100 WHERE id BETWEEN 8 AND 12"],
    ["INSERT INTO notes VALUES (50, repeat('b', 12000), 't0')", "UPDATE notes SET amount = 2 WHERE id = 50"],
    ["UPDATE notes SET body = reverse(body) WHERE id = 1", "UPDATE notes SET tag = 'y' WHERE id = 1"],
    ["DELETE FROM notes WHERE id = 2", "INSERT INTO notes VALUES (2, 'short', 't2', NULL, now()::timestamp)"],
    ["UPDATE notes SET id = -id WHERE id > 100"],
    ["DELETE FROM notes WHERE tag = 't1'"],
)


def test_a_table_without_a_column_list_follows_updates_that_leave_large_values_alone(
    database: Database, folder: Path
) -> None:
    database.run(NOTES)
    script = source(database, "notes") + NOTES_VIEWS
    with pipeline(script, folder) as running:
        for step in ([], *NOTES_STEPS):
            database.together(*step)
            running.run_once()
            assert rows(running, "whole") == bag(database, "SELECT * FROM notes"), step
            assert rows(running, "tags") == bag(database, TAGS), step
    with pipeline(script, folder) as running:
        database.run("UPDATE notes SET amount = 0")
        running.run_once()
        assert rows(running, "whole") == bag(database, "SELECT * FROM notes")


def test_keys_that_all_move_in_one_statement(database: Database, folder: Path) -> None:
    database.run(
        "CREATE TABLE steps (id int PRIMARY KEY, body text, other int GENERATED ALWAYS AS (id * 2) STORED)"
    )
    database.run("ALTER TABLE steps ALTER COLUMN body SET STORAGE EXTERNAL")
    # From the last to the first, so that each new key is free when its row moves there.
    database.run("INSERT INTO steps SELECT n, repeat(md5(n::text), 320) FROM generate_series(20, 1, -1) n")
    columns = (
        "(id INT, body STRING, other AS id * 2, head AS SUBSTRING(body, 1, 4), PRIMARY KEY (id) NOT ENFORCED)"
    )
    script = source(database, "steps", columns) + "CREATE VIEW v AS SELECT id, other, head, body FROM steps;"
    query = "SELECT id, other, left(body, 4), body FROM steps"
    with pipeline(script, folder) as running:
        running.run_once()
        assert rows(running, "v") == bag(database, query)
        for statement in (
            "UPDATE steps SET id = id + 1",
            "UPDATE steps SET id = id + 1",
            "UPDATE steps SET id = -id",
        ):
            database.run(statement)
            running.run_once()
            assert rows(running, "v") == bag(database, query), statement


def test_truncate_and_what_follows_it_in_the_same_transaction(database: Database, folder: Path) -> None:
    for table, identity in (("one", "DEFAULT"), ("two", "FULL")):
        database.run(f"CREATE TABLE {table} (id int PRIMARY KEY, word text)")
        database.run(f"ALTER TABLE {table} REPLICA IDENTITY {identity}")
        database.run(f"INSERT INTO {table} SELECT n, 'w' || n % 4 FROM generate_series(1, 40) n")
    joined = (
        "SELECT a.word AS word, COUNT(*) AS n, MIN(b.id) AS first FROM one a JOIN two b ON a.word = b.word"
    )
    joined += " GROUP BY a.word"
    words = "SELECT word, COUNT(*) AS n FROM two GROUP BY word"
    script = source(database, "one") + source(database, "two")
    script += f"CREATE VIEW words AS {words};\nCREATE VIEW joined AS {joined};"
    steps = (
        ["TRUNCATE one"],
        ["INSERT INTO one SELECT n, 'w' || n % 3 FROM generate_series(1, 9) n", "TRUNCATE two"],
        [
            "INSERT INTO one VALUES (77, 'gone')",
            "TRUNCATE one, two",
            "INSERT INTO one VALUES (1, 'w1'), (2, 'w2')",
        ],
        ["INSERT INTO two VALUES (1, 'w1')", "UPDATE one SET word = 'w1'"],
        [
            "TRUNCATE two",
            "INSERT INTO two VALUES (3, 'w1')",
            "TRUNCATE two",
            "INSERT INTO two VALUES (5, 'w1')",
        ],
    )
    with pipeline(script, folder) as running:
        running.run_once()
        for step in steps:
            database.together(*step)
            running.run_once()
            assert rows(running, "words") == bag(database, words), step
            assert rows(running, "joined") == bag(database, joined), step


def test_transactions_of_many_rows(database: Database, folder: Path) -> None:
    tables, script = {"keys": "DEFAULT", "whole": "FULL"}, ""
    for table, identity in tables.items():
        database.run(f"CREATE TABLE {table} (id int PRIMARY KEY, part int, amount int)")
        database.run(f"ALTER TABLE {table} REPLICA IDENTITY {identity}")
        database.run(f"INSERT INTO {table} VALUES (0, 0, 1)")
        script += source(database, table)
        script += f"CREATE VIEW {table}_v AS SELECT part, COUNT(*) AS n, SUM(amount) AS s FROM {table} GROUP BY part;"
    with pipeline(script, folder) as running:
        running.run_once()
        for statement in (
            f"INSERT INTO {{}} SELECT n, n % 10, n FROM generate_series(1, {MANY}) n",
            "UPDATE {} SET amount = amount + 1, part = part + 1 WHERE id % 2 = 0",
            "DELETE FROM {} WHERE id % 3 = 0",
        ):
            database.together(*(statement.format(table) for table in tables))
            running.run_once()
            for table in tables:
                query = f"SELECT part, COUNT(*), SUM(amount) FROM {table} GROUP BY part"
                assert rows(running, f"{table}_v") == bag(database, query), (table, statement)


MADE = """
CREATE VIEW {table}_made AS SELECT id, n, made_by FROM {table};
CREATE VIEW {table}_kinds AS SELECT kind, COUNT(*) AS count, SUM(n) AS n FROM {table} GROUP BY kind;
"""


def test_metadata_of_the_change_that_made_a_row_goes_with_the_row(database: Database, folder: Path) -> None:
    columns = """(
      id INT, n INT, made_by BIGINT METADATA FROM 'txid' VIRTUAL, kind STRING METADATA FROM 'row_kind' VIRTUAL,
      PRIMARY KEY (id) NOT ENFORCED
    )"""
    script = ""
    for table, identity in {"keys": "DEFAULT", "whole": "FULL"}.items():
        database.run(f"CREATE TABLE {table} (id int PRIMARY KEY, n int)")
        database.run(f"ALTER TABLE {table} REPLICA IDENTITY {identity}")
        script += source(database, table, columns) + MADE.format(table=table)
    steps = (
        (["INSERT INTO {} SELECT i, i FROM generate_series(1, 20) i"], {("+I", 20, 210)}),
        (["UPDATE {} SET n = n + 1 WHERE id <= 5"], {("+I", 15, 195), ("+U", 5, 20)}),
        (["DELETE FROM {} WHERE id IN (1, 2, 20)"], {("+I", 14, 175), ("+U", 3, 15)}),
        (["UPDATE {} SET id = id + 100 WHERE id = 6"], {("+I", 13, 169), ("+U", 4, 21)}),
        (["DELETE FROM {} WHERE id = 3", "INSERT INTO {} VALUES (3, 1)"], {("+I", 14, 170), ("+U", 3, 17)}),
        (["TRUNCATE {}", "INSERT INTO {} VALUES (1, 1)"], {("+I", 1, 1)}),
    )
    for start, some in enumerate((steps[:3], steps[3:])):
        with pipeline(script, folder) as running:
            running.run_once()
            for statements, kinds in some:
                database.together(*(text.format(table) for table in ("keys", "whole") for text in statements))
                running.run_once()
                for table in ("keys", "whole"):
                    truth = bag(database, f"SELECT id, n, xmin::text::bigint FROM {table}")
                    assert rows(running, f"{table}_made") == truth, (start, table, statements)
                    assert set(rows(running, f"{table}_kinds")) == kinds, (start, table, statements)
