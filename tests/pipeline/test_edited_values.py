"""Edited columns of tables in memory: what is read and what is written is as if the script had always said so.

Oracle: the rows that were handed in, by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.sinks.values import KEPT, kept
from headwater.sources.values import STORES, ValuesStore
from tests.pipeline.world import pipeline, rows

pytestmark = pytest.mark.jvm

NAME = "edited values"
KEY = "PRIMARY KEY (id) NOT ENFORCED"
NAMED = f"SET 'pipeline.name' = '{NAME}';\n"
TABLE = f"id INT, a INT, s STRING, {KEY}"


@pytest.fixture
def store() -> Iterator[ValuesStore]:
    """The store that the pipeline reads; nothing is kept of an earlier one."""
    STORES[NAME] = ValuesStore()
    KEPT.pop(NAME, None)
    yield STORES[NAME]
    del STORES[NAME]
    KEPT.pop(NAME, None)


def table(columns: str, name: str = "t") -> str:
    return f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'values');\n"


def say(store: ValuesStore, *said: tuple[int, int | None, str]) -> None:
    store.append({"t": [("+", {"id": number, "a": a, "s": s}) for number, a, s in said]})


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (f"id INT, a BIGINT, s STRING, {KEY}", {(1, 10, "x"): 1, (2, 21, "y"): 1, (3, 30, "z"): 1}),
        (f"s STRING, id INT, a INT, {KEY}", {("x", 1, 10): 1, ("y", 2, 21): 1, ("z", 3, 30): 1}),
    ],
    ids=["another type", "another order"],
)
def test_a_table_whose_columns_are_edited_is_given_all_it_ever_said(
    store: ValuesStore, tmp_path: Path, columns: str, expected: dict[tuple[object, ...], int]
) -> None:
    views = "CREATE VIEW v AS SELECT * FROM t;\nCREATE VIEW w AS SELECT * FROM other;\n"
    other = table("n INT", "other")
    with pipeline(NAMED + table(TABLE) + other + views, tmp_path) as running:
        say(store, (1, 10, "x"), (2, 20, "y"))
        store.append({"other": [("+", {"n": 1})]})
        running.run_once()
    store.append({"t": [("u", {"id": 2, "a": 21})]})
    edited = NAMED + table(columns) + other + views
    with pipeline(edited, tmp_path) as running:
        running.run_once()
        say(store, (3, 30, "z"))
        store.append({"other": [("+", {"n": 2})]})
        running.run_once()
        assert rows(running, "v") == Counter(expected)
        assert rows(running, "w") == Counter({(1,): 1, (2,): 1})
    at = store.last
    with pipeline(edited, tmp_path) as running:
        running.run_once()
        assert rows(running, "v") == Counter(expected)
    assert store.last == at, "it joins once"


def test_an_edit_that_is_taken_back_before_it_was_computed_loses_no_row(
    store: ValuesStore, tmp_path: Path
) -> None:
    view = "CREATE VIEW v AS SELECT * FROM t;\n"
    with pipeline(NAMED + table(TABLE) + view, tmp_path) as running:
        say(store, (1, 10, "x"))
        running.run_once()
    with pipeline(NAMED + table(f"id INT, s STRING, a BIGINT, {KEY}") + view, tmp_path):
        say(store, (2, 20, "y"))
    with pipeline(NAMED + table(TABLE) + view, tmp_path) as running:
        running.run_once()
        assert rows(running, "v") == Counter({(1, 10, "x"): 1, (2, 20, "y"): 1})


def test_rows_that_are_made_up_begin_again_when_their_columns_are_edited(tmp_path: Path) -> None:
    made = (
        "CREATE TABLE d ({columns}) WITH ('connector' = 'datagen', 'rows-per-second' = '1000',"
        " 'fields.id.kind' = 'sequence', 'fields.id.end' = '20', 'fields.n.min' = '7', 'fields.n.max' = '7');\n"
        "CREATE VIEW v AS SELECT id, n FROM d;\n"
    )
    for columns in ("id INT, n INT", "id BIGINT, n INT", "n INT, id BIGINT"):
        with pipeline(NAMED + made.format(columns=columns), tmp_path) as running:
            running.run_once()
            assert rows(running, "v") == Counter({(number, 7): 1 for number in range(1, 21)}), columns


@pytest.mark.parametrize(
    ("columns", "query", "expected"),
    [
        ("s STRING, c INT", "SELECT s, COUNT(*)", {("x", 2): 1, ("y", 1): 1, ("z", 1): 1}),
        (
            "s STRING, c BIGINT, m INT",
            "SELECT s, COUNT(*), MAX(a)",
            {("x", 2, 11): 1, ("y", 1, None): 1, ("z", 1, 30): 1},
        ),
        ("s STRING, m INT", "SELECT s, MAX(a)", {("x", 11): 1, ("y", None): 1, ("z", 30): 1}),
        ("s STRING, c INT", "SELECT s, MAX(a)", {("x", 11): 1, ("y", None): 1, ("z", 30): 1}),
        ("c BIGINT, s STRING", "SELECT COUNT(*), s", {(2, "x"): 1, (1, "y"): 1, (1, "z"): 1}),
    ],
    ids=["another type", "one more", "another name", "NULL in another type", "another order"],
)
def test_a_sink_whose_columns_are_edited_holds_the_new_rows(
    store: ValuesStore, tmp_path: Path, columns: str, query: str, expected: dict[tuple[object, ...], int]
) -> None:
    key = ", PRIMARY KEY (s) NOT ENFORCED"
    before = (
        table("s STRING, c BIGINT" + key, "snk") + "INSERT INTO snk SELECT s, COUNT(*) FROM t GROUP BY s;"
    )
    after = table(columns + key, "snk") + f"INSERT INTO snk {query} FROM t GROUP BY s;"
    with pipeline(NAMED + table(TABLE) + before, tmp_path) as running:
        say(store, (1, 10, "x"), (2, 11, "x"), (3, None, "y"))
        running.run_once()
        assert kept(NAME).bag("snk") == Counter({("x", 2): 1, ("y", 1): 1})
    with pipeline(NAMED + table(TABLE) + after, tmp_path) as running:
        say(store, (4, 30, "z"))
        running.run_once()
    assert kept(NAME).bag("snk") == Counter(expected)


def test_a_sink_is_as_it_was_if_an_edit_is_taken_back_before_it_was_computed(
    store: ValuesStore, tmp_path: Path
) -> None:
    text = NAMED + table(TABLE) + "CREATE TABLE snk (s STRING, c {}, PRIMARY KEY (s) NOT ENFORCED)"
    text += " WITH ('connector' = 'values');\nINSERT INTO snk SELECT s, COUNT(*) FROM t GROUP BY s;"
    with pipeline(text.format("BIGINT"), tmp_path) as running:
        say(store, (1, 10, "x"))
        running.run_once()
    with pipeline(text.format("INT"), tmp_path):
        pass
    with pipeline(text.format("BIGINT"), tmp_path) as running:
        running.run_once()
    assert kept(NAME).bag("snk") == Counter({("x", 1): 1})
