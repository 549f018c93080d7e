"""What a session knows of statements outlives a pipeline. Oracles: rows by hand, and how often Spark had to plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.runtime.facts import Silent
from headwater.runtime.open import open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.schema import Column, Schema
from headwater.sources.values import STORES, ValuesStore
from headwater.spark.kept import KeptPlans
from headwater.spark.known import MOST_ANALYSED, Known
from tests.stories.law import held_rows

NUMBERS = {"t": Schema((Column("n", "int"),))}
SCRIPT = """
SET 'pipeline.name' = 'known';
CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE VIEW totals AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
"""


@pytest.fixture
def store() -> Iterator[ValuesStore]:
    """Where the rows come from."""
    STORES["known"] = ValuesStore()
    yield STORES["known"]
    del STORES["known"]


def opened(folder: Path) -> Pipeline:
    return open_pipeline(SCRIPT, file="known.sql", state=folder, listener=Silent())


@pytest.mark.jvm
def test_a_pipeline_that_is_opened_again_finds_its_statements_planned(
    tmp_path: Path, store: ValuesStore
) -> None:
    def step(pipeline: Pipeline, number: int, customer: str) -> int:
        store.append({"orders": [("+", {"id": number, "customer": customer, "total": 10 * number})]})
        pipeline.run_once()
        return pipeline.engine.known.plans.made

    with closing(opened(tmp_path)) as first:
        step(first, 1, "ann")
        planned = step(first, 2, "bob")
    with closing(opened(tmp_path)) as second:
        assert step(second, 3, "ann") == planned
        assert dict(held_rows(second, "totals")) == {("ann", "40"): 1, ("bob", "20"): 1}


def test_types_are_asked_for_once_and_again_after_a_new_function() -> None:
    asked: list[str] = []

    def ask() -> dict[str, str]:
        asked.append("once more")
        return {"n": "int"}

    known = Known(KeptPlans(None))  # type: ignore[arg-type]  # nothing is planned here
    assert [known.types(NUMBERS, "SELECT n FROM t", ask) for _ in range(3)] == [{"n": "int"}] * 3
    assert len(asked) == 1
    known.types({"t": Schema((Column("n", "bigint"),))}, "SELECT n FROM t", ask)
    assert len(asked) == 2, "over other columns it is another query"
    known.forget()
    known.types(NUMBERS, "SELECT n FROM t", ask)
    assert len(asked) == 3
    for number in range(MOST_ANALYSED):
        known.types(NUMBERS, f"SELECT {number} FROM t", ask)
    assert len(known) <= MOST_ANALYSED
