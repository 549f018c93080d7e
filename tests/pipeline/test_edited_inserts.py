"""INSERTs that come, go and change places between runs: the sink holds what the script of now says, each row once.

Oracle: the rows of each INSERT, counted by hand.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from headwater.sinks.values import KEPT, kept
from headwater.sources.values import STORES, ValuesStore
from tests.pipeline.world import pipeline

pytestmark = pytest.mark.jvm

TABLES = """
SET 'pipeline.name' = '{name}';
CREATE TABLE t (id INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE u (id INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE target (s STRING, n BIGINT{key}) WITH ('connector' = 'values');
"""
OF_T = "INSERT INTO target SELECT s, COUNT(*) FROM t GROUP BY s;"
OF_U = "INSERT INTO target SELECT s || '2', COUNT(*) FROM u GROUP BY s;"
NEW = "INSERT INTO target SELECT 'all', COUNT(*) FROM t;"

FIRST = {"t": [("+", {"id": 1, "s": "x"}), ("+", {"id": 2, "s": "x"})], "u": [("+", {"id": 1, "s": "x"})]}
THEN = {"t": [("+", {"id": 3, "s": "y"})], "u": [("-", {"id": 1, "s": "x"}), ("+", {"id": 2, "s": "z"})]}


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (s) NOT ENFORCED"])
@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        # What an INSERT that is gone has written stays, as it was.
        (OF_T + OF_U, OF_U, {("x", 2): 1, ("z2", 1): 1}),
        (OF_T + OF_U, OF_T, {("x", 2): 1, ("y", 1): 1, ("x2", 1): 1}),
        (OF_T + OF_U, OF_U + OF_T, {("x", 2): 1, ("y", 1): 1, ("z2", 1): 1}),
        (OF_T + OF_U, NEW + OF_T + OF_U, {("x", 2): 1, ("y", 1): 1, ("z2", 1): 1, ("all", 3): 1}),
        # One that is written in the place of another takes its rows back.
        (OF_T + OF_U, NEW + OF_U, {("z2", 1): 1, ("all", 3): 1}),
    ],
    ids=["first gone", "second gone", "turned round", "one in front", "another instead"],
)
def test_each_insert_keeps_its_rows_wherever_it_stands(
    before: str, after: str, rows: dict[tuple[str, int], int], key: str, tmp_path: Path
) -> None:
    name, tables = _shop(key)
    with pipeline(tables + before, tmp_path) as running:
        STORES[name].append(FIRST)
        running.run_once()
    with pipeline(tables + after, tmp_path) as running:
        STORES[name].append(THEN)
        running.run_once()
    assert kept(name).bag("target") == Counter(rows)


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (s) NOT ENFORCED"])
def test_an_insert_that_comes_again_writes_only_what_has_changed(key: str, tmp_path: Path) -> None:
    name, tables = _shop(key)
    with pipeline(tables + OF_T + OF_U, tmp_path) as running:
        STORES[name].append(FIRST)
        running.run_once()
    with pipeline(tables + OF_U, tmp_path) as running:
        STORES[name].append(THEN)
        running.run_once()
    with pipeline(tables + OF_T + OF_U, tmp_path) as running:
        running.run_once()
    assert kept(name).bag("target") == Counter({("x", 2): 1, ("y", 1): 1, ("z2", 1): 1})


@pytest.mark.parametrize("kind", ["INT", "DOUBLE", "DECIMAL(12, 2)"])
@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (s) NOT ENFORCED"])
def test_a_column_of_another_type_takes_the_place_of_the_old_one(key: str, kind: str, tmp_path: Path) -> None:
    name, tables = _shop(key)
    with pipeline(tables + OF_T, tmp_path) as running:
        STORES[name].append(FIRST)
        running.run_once()
    with pipeline(tables.replace("n BIGINT", f"n {kind}") + OF_T, tmp_path) as running:
        STORES[name].append(THEN)
        running.run_once()
    assert kept(name).bag("target") == Counter({("x", 2): 1, ("y", 1): 1})


def _shop(key: str) -> tuple[str, str]:
    name = "inserts"
    STORES[name] = ValuesStore()
    KEPT.pop(name, None)
    return name, TABLES.format(name=name, key=key)
