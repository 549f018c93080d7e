"""Rules of Spark's optimiser that change an answer, or break, are not in our sessions. Oracle: arithmetic, by hand."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from headwater.services.java import java_home
from headwater.spark.session import borrowed_session, open_session

pytestmark = pytest.mark.jvm

ITEMS = "VALUES (1, 'c', 3), (2, 'b', 2), (3, 'a', 1) AS items (id, d, x)"
NOTES = "VALUES ('a'), ('c') AS notes (d)"


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """A session as pipelines have it."""
    return borrowed_session(open_session(java_home(), name="rules"))


@pytest.mark.parametrize("broadcast", ["-1", "10m"])
def test_the_first_rows_are_the_same_whatever_is_asked_of_them(spark: SparkSession, broadcast: str) -> None:
    # A join that sorts both sides stands between the order and the OFFSET if the question is asked below that.
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", broadcast)
    found = spark.sql(
        f"SELECT f.id, EXISTS (SELECT 1 FROM {NOTES} WHERE notes.d = f.d) AS noted"
        f" FROM (SELECT id, d FROM {ITEMS} ORDER BY x DESC, id LIMIT 8 OFFSET 2) f"
    )
    assert [tuple(row) for row in found.collect()] == [(3, True)]


def test_a_tied_subquery_beside_a_union_can_be_asked(spark: SparkSession) -> None:
    found = spark.sql(
        f"SELECT u.id, (SELECT MAX(x) FROM {ITEMS} WHERE items.id = u.id) AS x"
        " FROM (SELECT id FROM RANGE(2) UNION ALL SELECT id + 1 FROM RANGE(1)) u"
    )
    assert sorted(tuple(row) for row in found.collect()) == [(0, None), (1, 3), (1, 3)]
