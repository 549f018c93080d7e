"""Changes with what was before, versions, and rows that are gone, of tables and of a view.

Oracle: the statements that were run, row by row and by hand.
"""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from tests.pipeline.world import pipeline, rows, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

TEXTS = "(id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"
TOLD = [
    ("r", None, None, 1, "a"),
    ("r", None, None, 2, "b"),
    ("c", None, None, 3, "c"),
    ("u", 1, "a", 1, "x"),
    ("u", 1, "x", 1, "y"),
    ("u", 2, "b", 9, "b"),
    ("d", 1, "y", None, None),
    ("c", None, None, 1, None),
    ("d", 3, "c", None, None),
    ("d", 9, "b", None, None),
    ("d", 1, None, None, None),
    ("c", None, None, 9, "z"),
]
"""Of each change its kind, and the row before and after."""


def test_changes_are_told_with_what_was_before(database: Database, folder: Path) -> None:
    """The table's log has only keys of old rows: what they were is looked up."""
    database.run(
        "CREATE TABLE keyed (id int PRIMARY KEY, v text); INSERT INTO keyed VALUES (1, 'a'), (2, 'b')"
    )
    text = (
        source(database, "keyed", TEXTS)
        + "CREATE VIEW told AS SELECT op, c.before.id AS old_id, c.before.v AS old, c.after.id AS new_id,"
        " c.after.v AS new, transaction_id FROM CHANGES(keyed) AS c;\n"
        + "CREATE VIEW ops AS SELECT op, COUNT(*) AS n FROM CHANGES(keyed) GROUP BY op;\n"
    )
    with pipeline(text, folder) as running:
        running.run_once()
        database.together("INSERT INTO keyed VALUES (3, 'c')", "UPDATE keyed SET v = 'x' WHERE id = 1")
        database.run("UPDATE keyed SET v = 'y' WHERE id = 1")
        database.run("UPDATE keyed SET id = 9 WHERE id = 2")
        running.run_once()
        database.run("DELETE FROM keyed WHERE id = 1")
        database.run("INSERT INTO keyed VALUES (1, NULL)")
        database.run("TRUNCATE keyed")
        database.run("INSERT INTO keyed VALUES (9, 'z')")
        running.run_once()
        found, ops = rows(running, "told"), rows(running, "ops")
    assert Counter({row[:5]: count for row, count in found.items()}) == Counter(TOLD)
    names = {row[:5]: row[5] for row in found}
    assert names["c", None, None, 3, "c"] == names["u", 1, "a", 1, "x"] != names["u", 1, "x", 1, "y"]
    assert ops == Counter([("r", 2), ("c", 3), ("u", 3), ("d", 4)])


def test_versions_and_rows_that_are_gone(database: Database, folder: Path) -> None:
    database.run(
        "CREATE TABLE keyed (id int PRIMARY KEY, v text); INSERT INTO keyed VALUES (1, 'a'), (2, 'b')"
    )
    text = (
        source(database, "keyed", TEXTS)
        + "CREATE VIEW versions AS SELECT * FROM VERSIONS(keyed, KEY(id));\n"
        + "CREATE VIEW gone AS SELECT * FROM WITH_DELETED(keyed, KEY(id)) AS d;\n"
    )
    with pipeline(text, folder) as running:
        running.run_once()
        database.run("UPDATE keyed SET v = 'x' WHERE id = 1")
        database.run("UPDATE keyed SET id = 9 WHERE id = 2")
        running.run_once()
        database.together("DELETE FROM keyed WHERE id = 1", "INSERT INTO keyed VALUES (3, 'c')")
        database.run("INSERT INTO keyed VALUES (1, 'again')")
        database.run("DELETE FROM keyed WHERE id = 9")
        running.run_once()
        found = running.rows("versions").to_pylist()
        gone = running.rows("gone").to_pylist()
    assert Counter((row["id"], row["v"], row["is_current"]) for row in found) == Counter(
        [
            (1, "a", False),
            (1, "x", False),
            (1, "again", True),
            (2, "b", False),
            (9, "b", False),
            (3, "c", True),
        ]
    )
    ends = {(row["id"], row["v"]): row["valid_to"] for row in found}
    begins = {(row["id"], row["v"]): row["valid_from"] for row in found}
    assert ends[1, "a"] == begins[1, "x"] and ends[2, "b"] == begins[9, "b"]
    assert ends[1, "x"] == begins[3, "c"], "one transaction has one time"
    assert ends[1, "again"] is None and ends[9, "b"] > begins[9, "b"]
    assert Counter((row["id"], row["v"], row["is_deleted"]) for row in gone) == Counter(
        [(1, "again", False), (2, "b", True), (9, "b", True), (3, "c", False)]
    )
    assert all((row["deleted_at"] is not None) == row["is_deleted"] for row in gone)


def test_a_view_has_a_history_too(database: Database, folder: Path) -> None:
    database.run(
        "CREATE TABLE keyed (id int PRIMARY KEY, v text); INSERT INTO keyed VALUES (1, 'a'), (2, 'a')"
    )
    text = (
        source(database, "keyed", TEXTS)
        + "CREATE VIEW counts AS SELECT v, COUNT(*) AS n FROM keyed GROUP BY v;\n"
        + "CREATE VIEW told AS SELECT op, c.before AS old, c.after AS new FROM CHANGES(counts) AS c;\n"
        + "CREATE VIEW versions AS SELECT * FROM VERSIONS(counts, KEY(v));\n"
    )
    with pipeline(text, folder) as running:
        running.run_once()
        database.run("INSERT INTO keyed VALUES (3, 'a')")
        running.run_once()
        found = running.rows("told").to_pylist()
        for number in range(4, 8):
            database.run(f"INSERT INTO keyed VALUES ({number}, 'a')")
            running.run_once()
        versions = sorted(running.rows("versions").to_pylist(), key=lambda row: row["n"])
    assert [(row["n"], row["is_current"]) for row in versions] == [(n, n == 7) for n in range(2, 8)]
    assert all(one["valid_to"] == next["valid_from"] for one, next in itertools.pairwise(versions))
    told = [(row["op"], row["old"], row["new"]) for row in found]
    assert sorted(told, key=repr) == sorted(
        [
            ("r", None, {"v": "a", "n": 2}),
            ("d", {"v": "a", "n": 2}, None),
            ("c", None, {"v": "a", "n": 3}),
        ],
        key=repr,
    )
