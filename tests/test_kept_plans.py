"""Statements that are planned once and run over other rows. Oracle: Spark planning the same text over the same rows."""

from __future__ import annotations

import threading
import time
from functools import lru_cache

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headwater.schema import WEIGHT
from headwater.services.java import java_home
from headwater.spark import kept
from headwater.spark.frames import register
from headwater.spark.kept import KeptPlans, Leaf
from headwater.spark.local_rows import local_frame
from headwater.spark.pace import FEW_ROWS, Pace
from headwater.spark.session import open_session
from headwater.spark.types import collected
from tests.test_local_rows import EVERY_TYPE

pytestmark = pytest.mark.jvm

STATEMENTS = {
    "join": "SELECT a.k, a.n, b.n AS m FROM a JOIN b ON a.k = b.k",
    "outer": "SELECT a.k, b.n FROM a FULL JOIN b ON a.k = b.k",
    "nested loop": "SELECT a.n, b.n AS m FROM a LEFT JOIN b ON a.n < b.n",
    "cross": "SELECT a.n, b.n AS m FROM a CROSS JOIN b",
    "not in": "SELECT n FROM a WHERE n NOT IN (SELECT n FROM b)",
    "union": "SELECT k, SUM(n) AS n FROM (SELECT * FROM a UNION ALL SELECT * FROM b) GROUP BY k",
    "union with a shuffled join": (
        "SELECT k, SUM(n) AS n FROM (SELECT k, n FROM a UNION ALL SELECT 'x', c.n"
        " FROM (SELECT a.k, a.n FROM a JOIN b ON a.n <= b.n OR a.n > 4) c JOIN b d ON c.k = d.k) GROUP BY k"
    ),
    "same twice": "SELECT x.n FROM a AS x JOIN a AS y ON x.n = y.n + 1",
    "global": "SELECT SUM(n) AS n, COUNT(*) AS c FROM a",
    "distinct": "SELECT COUNT(DISTINCT k) AS k, COUNT(DISTINCT n) AS n FROM a",
    "window": "SELECT n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) AS place FROM a",
    "first": "SELECT n FROM a ORDER BY n DESC LIMIT 2",
    "first of some partitions": "SELECT n FROM (SELECT n FROM a UNION ALL VALUES (3)) ORDER BY n LIMIT 2",
    "first of a full join": "SELECT a.n, b.n AS m FROM a FULL JOIN b ON a.n < b.n ORDER BY a.n, b.n LIMIT 2",
    "limit inside": "SELECT COUNT(*) AS c FROM (SELECT n FROM a UNION ALL VALUES (3) LIMIT 2)",
    "shuffled": "SELECT /*+ REPARTITION(3, k) */ k, n FROM a",
    "set": "SELECT k FROM a EXCEPT ALL SELECT k FROM b",
    "lists": "SELECT k, SORT_ARRAY(COLLECT_LIST(n)) AS all FROM a GROUP BY k",
    "generate": "SELECT k, EXPLODE(SEQUENCE(1, n)) AS i FROM a",
    "constants": "SELECT k, v FROM a JOIN VALUES ('x', 1), ('y', 2) AS c (name, v) ON c.name = a.k",
}


def rows(*found: tuple[str | None, int | None]) -> pa.Table:
    """Keys and numbers."""
    return pa.table(
        {"k": pa.array([k for k, _ in found], pa.string()), "n": pa.array([n for _, n in found], pa.int64())}
    )


STEPS = (
    (rows(), rows()),
    (rows(("x", 1), ("y", 2), (None, 3)), rows(("x", 2))),
    (rows(("x", 4)), rows()),
    (rows(), rows(("y", 7), (None, None))),
    (rows(("x", 5), ("x", 5), ("z", 6)), rows(("x", 5), ("z", None), ("z", 3))),
)


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """One for all."""
    return open_session(java_home(), name="kept")


def planned_anew(spark: SparkSession, text: str, leaves: list[Leaf]) -> pa.Table:
    """What Spark finds on its own."""
    for leaf in leaves:
        register(leaf.view, local_frame(spark, leaf.rows))
    return spark.sql(text).toArrow()


def bag(found: pa.Table) -> list[str]:
    """Rows in some fixed order."""
    return sorted(map(str, found.to_pylist()))


@pytest.mark.parametrize("count", [0, FEW_ROWS + 1], ids=["as it stands", "generated"])
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_kept_plan_finds_in_other_rows_what_a_new_one_finds(
    spark: SparkSession, name: str, count: int
) -> None:
    plans, pace, text = KeptPlans(spark), Pace(spark), STATEMENTS[name]
    pace.suit(count)
    for a, b in STEPS:
        leaves = [Leaf("a", a), Leaf("b", b)]
        found = plans.run(text, leaves, names=(), pace=pace.of(count))
        assert found is not None
        assert bag(found) == bag(planned_anew(spark, text, leaves)), (a, b)
    assert len(plans) == 1


@pytest.mark.parametrize("given", [EVERY_TYPE, EVERY_TYPE.slice(0, 0)], ids=["rows", "none"])
def test_every_type_comes_back_as_by_spark_s_own_way(spark: SparkSession, given: pa.Table) -> None:
    found = KeptPlans(spark).run("SELECT * FROM t", [Leaf("t", given)], names=(), pace="")
    usual = planned_anew(spark, "SELECT * FROM t", [Leaf("t", given)])
    assert found is not None
    assert found.schema == usual.schema
    assert str(found.to_pylist()) == str(usual.to_pylist())


@pytest.mark.parametrize("among", ["", " WHERE n <= (SELECT MAX(n) FROM t)"], ids=["kept", "not kept"])
def test_a_struct_that_cannot_hold_null_may_itself_be_null(spark: SparkSession, among: str) -> None:
    text = f"SELECT CASE n WHEN 1 THEN ARRAY(NAMED_STRUCT('x', 5))[0] END AS s FROM t{among} ORDER BY n"
    given = [Leaf("t", rows(("a", 1), ("b", 2)))]
    found = KeptPlans(spark).run(text, given, names=(), pace="")
    if found is None:
        register("t", local_frame(spark, given[0].rows))
        found = collected(spark.sql(text))
    assert found.to_pylist() == [{"s": {"x": 5}}, {"s": None}]


def test_rows_with_weights_are_there_as_often_as_these_add_up_to(spark: SparkSession) -> None:
    plans, text = KeptPlans(spark), "SELECT n, COUNT(*) AS c FROM t GROUP BY n"
    for weights, count in (([1, 1, -1], 1), ([1, 1, 1], 3)):
        given = pa.table({"n": [0.5, 0.5, 0.5], WEIGHT: pa.array(weights, pa.int8())})
        found = plans.run(text, [Leaf("t", given, is_to_add_up=True)], names=("x", "times"), pace="")
        assert found is not None
        assert found.to_pylist() == [{"x": 0.5, "times": count}]


def test_a_plan_with_a_query_inside_is_not_kept(spark: SparkSession) -> None:
    text = "SELECT n FROM t WHERE n = (SELECT MAX(n) FROM t)"
    assert KeptPlans(spark).run(text, [Leaf("t", rows(("x", 1)))], names=(), pace="") is None


def test_an_error_in_a_row_is_told_and_the_next_rows_are_found(spark: SparkSession) -> None:
    plans, text = KeptPlans(spark), "SELECT 10 / n AS n, RAISE_ERROR('odd') AS e FROM t WHERE n > 1"
    with pytest.raises(PySparkException, match="odd"):
        plans.run(text, [Leaf("t", rows(("x", 2)))], names=(), pace="")
    found = plans.run(text, [Leaf("t", rows(("x", 1)))], names=(), pace="")
    assert found is not None
    assert found.num_rows == 0


def test_a_run_that_nobody_waits_for_ends(spark: SparkSession) -> None:
    plans, many = KeptPlans(spark), rows(*[("x", n) for n in range(3000)])
    text = "SELECT COUNT(*) AS c FROM a CROSS JOIN b CROSS JOIN a AS c WHERE a.n + b.n + c.n < 0"
    ended: list[str] = []

    def work() -> None:
        try:
            plans.run(text, [Leaf("a", many), Leaf("b", many)], names=(), pace="")
        except Exception as problem:  # noqa: BLE001  # whatever it is, the test looks at it
            ended.append(str(problem))

    worker, deadline = threading.Thread(target=work), time.monotonic() + 200
    worker.start()
    while worker.is_alive():
        assert time.monotonic() < deadline
        plans.stop()
        worker.join(0.1)
    assert "TaskKilledException" in ended[0]


def test_other_types_make_another_plan(spark: SparkSession) -> None:
    plans, text = KeptPlans(spark), "SELECT SUM(n) AS n FROM t"
    for kind in (pa.int64(), pa.float64()):
        given = pa.table({"n": pa.array([1], kind)})
        found = plans.run(text, [Leaf("t", given)], names=(), pace="")
        assert found is not None
        assert found.schema.field("n").type == kind
    assert len(plans) == 2


def test_plans_that_nobody_uses_go_first(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_KEPT", 2)
    plans = KeptPlans(spark)
    for number in (1, 2, 1, 3, 1):
        plans.run(f"SELECT n + {number} AS n FROM t", [Leaf("t", rows(("x", 1)))], names=(), pace="")
    assert plans.made == 3
    assert len(plans) == 2


def test_sessions_that_begin_at_once_share_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a stand-in: a second real class would be there for all tests that come behind.
    made = lru_cache(maxsize=1)(lambda machine: (threading.Event().wait(0.05), object()))
    monkeypatch.setattr(kept, "_compiled_once", made)
    barrier, classes = threading.Barrier(4), []

    def begin() -> None:
        barrier.wait()
        classes.append(kept._compiled("a machine"))

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(made) for made in classes}) == 1
