"""`headwater.open`: pipelines in a Python program.

Oracles: the page of the docs, literal rows, and a Spark session of the test's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import headwater
from headwater.cli.client.remote import RemoteSession
from headwater.cli.server_client import ServerClient
from headwater.errors import HeadwaterError, SqlError, UsageError
from headwater.runtime.facts import Silent
from headwater.runtime.inspect import analyze_state
from headwater.services.java import java_home
from headwater.sources.values import STORES, ValuesStore
from headwater.spark.session import open_session
from tests.postgres.world import wait_for

pytestmark = pytest.mark.jvm

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
DECLARED = """
CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values', 'name' = 'api');
CREATE VIEW totals AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
"""


@pytest.fixture
def store() -> Iterator[ValuesStore]:
    """The orders; two are there."""
    STORES["api"] = made = ValuesStore()
    made.append({"orders": [order("+", 1, "ann", 10), order("+", 2, "bob", 7)]})
    yield made
    del STORES["api"]


def order(sign: str, id_: int, customer: str, total: int) -> tuple[str, dict[str, object]]:
    return sign, {"id": id_, "customer": customer, "total": total}


def rows(frame: DataFrame | str) -> list[tuple[object, ...]]:
    assert not isinstance(frame, str)
    return sorted(tuple(row) for row in frame.collect())


def test_the_program_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(STORES, "shop", ValuesStore())
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    exec(program, {})
    said = capsys.readouterr().out
    assert "equal: totals is what its query gives" in said
    assert re.search(r"ann\|\s*10\|\s*-", said) and re.search(r"ann\|\s*15\|\s*\+", said)
    assert re.search(r"\|\s*15\|\n", said)


def test_a_question_may_follow_what_it_asks_of_in_one_text(tmp_path: Path, store: ValuesStore) -> None:
    with headwater.open(tmp_path / "api") as shop:
        asked = f"{DECLARED} SELECT SUM(total) AS total FROM totals"
        assert rows(shop.sql(asked)) == [(None,)], "nothing was read yet"
        shop.run(once=True)
        assert rows(shop.sql("SELECT SUM(total) AS total FROM totals")) == [(17,)]


def test_a_view_is_replaced_whatever_the_case_of_its_name(tmp_path: Path, store: ValuesStore) -> None:
    with headwater.open(tmp_path / "api") as shop:
        shop.sql(DECLARED)
        shop.sql(
            "CREATE OR REPLACE VIEW TOTALS AS SELECT customer, COUNT(*) AS total FROM orders GROUP BY customer"
        )
        shop.run(once=True)
        assert rows(shop.table("totals")) == [("ann", 1), ("bob", 1)]


def test_tables_changes_and_questions(tmp_path: Path, store: ValuesStore) -> None:
    with headwater.open(tmp_path / "api") as shop:
        assert shop.sql(DECLARED) == ""
        shop.run(once=True)
        assert rows(shop.table("Totals")) == [("ann", 10), ("bob", 7)]
        store.append({"orders": [order("u", 2, "bob", 9), order("+", 3, "cat", 1)]})
        done = shop.step(wait=5)
        assert done is not None and done.rows_read >= 2
        assert rows(shop.changes("totals")) == [("bob", 7, "-"), ("bob", 9, "+"), ("cat", 1, "+")]
        assert shop.step() is None
        assert rows(shop.sql("SELECT COUNT(*), MAX(total) FROM totals")) == [(3, 10)]
        assert rows(shop.table("orders")) == [(1, "ann", 10), (2, "bob", 9), (3, "cat", 1)]
        assert shop.sql("VERIFY totals") == "equal: totals is what its query gives at this cut"
        analyzed = shop.sql("EXPLAIN ANALYZE totals")
        assert isinstance(analyzed, str)
        assert re.search(r"last step: change plan \(linear\), \d+\.\d+ s", analyzed)
        assert "rows that changed below: 3; rows read: totals__sums 1; rows written: 3" in analyzed
        assert "totals" in str(shop.sql("SHOW VIEWS"))
        store.append({"orders": [order("u", 2, "bob", 8)]})
        shop.step(wait=5)
        # What a step takes is expected from those before it.
        was_expected = r"last step: change plan \(linear\), \d+\.\d+ s, expected \d+\.\d+ s"
        assert re.search(was_expected, str(shop.sql("EXPLAIN ANALYZE totals")))
    told = analyze_state(tmp_path / "api", listener=Silent())
    assert "== view totals ==" in told and "rows that changed below: 2" in told


def test_rows_in_no_said_order_are_verified_in_the_one_they_are_kept_in(
    tmp_path: Path, store: ValuesStore
) -> None:
    store.append({"orders": [order("+", 3, "ann", 5), order("+", 4, "ann", 1)]})
    with headwater.open(tmp_path / "api") as shop:
        shop.sql(f"""{DECLARED}
CREATE VIEW lists AS
  SELECT LENGTH(customer) AS n, COLLECT_LIST(total) AS totals, ANY_VALUE(total) AS some,
    MAX_BY(total, LENGTH(customer)) AS most
  FROM orders GROUP BY LENGTH(customer);
CREATE VIEW above AS SELECT some + most AS n FROM lists;
CREATE VIEW so_far AS
  SELECT id, LAST_VALUE(total) OVER (PARTITION BY customer ORDER BY LENGTH(customer)) AS last FROM orders;
""")
        shop.step()
        found = [shop.sql(f"VERIFY {name}") for name in ("lists", "above", "so_far")]
        ((_, totals, some, _),) = shop.table("lists").collect()
    assert (totals, some) == ([1, 5, 7, 10], 1)
    assert all(str(said).startswith("equal: ") for said in found), found


def test_a_secret_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_SECRET", "xyzzy-7")
    with headwater.open(tmp_path / "api") as shop, pytest.raises(HeadwaterError) as told:
        shop.sql(
            "CREATE TABLE t (id INT) WITH ('connector' = '${env:SHOP_SECRET}'); CREATE VIEW v AS SELECT id FROM t"
        )
    assert "unknown connector" in told.value.message
    assert "xyzzy-7" not in f"{told.value.message} {told.value.detail} {told.value.hint}"


def test_more_is_said_later_and_the_folder_is_opened_again(tmp_path: Path, store: ValuesStore) -> None:
    with headwater.open(tmp_path / "api") as shop:
        shop.sql(DECLARED)
        shop.run(once=True)
        shop.sql("CREATE VIEW most AS SELECT MAX(total) AS total FROM totals")
        shop.run(once=True)
        assert rows(shop.table("most")) == [(10,)]
    with headwater.open(tmp_path / "api") as again:
        assert rows(again.sql("SELECT total FROM most")) == [(10,)], "nothing is said, so it is as it was"
        assert rows(again.table("most")) == [(10,)]
    store.append({"orders": [order("-", 1, "ann", 10)]})
    with headwater.open(tmp_path / "api") as third:
        third.sql(DECLARED)
        third.run(once=True)
        assert rows(third.table("totals")) == [("bob", 7)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE VIEW wrong AS SELECT nothing FROM orders", 'column "nothing" does not exist'),
        ("SELECT 1 AS a; SHOW TABLES", "a SELECT stands before other statements"),
        (
            "CREATE VIEW fine AS SELECT id FROM orders; CREATE VIEW fine AS SELECT id FROM orders",
            "is declared twice",
        ),
        ("VERIFY orders", "its rows are what its source says"),
    ],
)
def test_a_mistake_changes_nothing(tmp_path: Path, store: ValuesStore, text: str, message: str) -> None:
    with headwater.open(tmp_path / "api") as shop:
        shop.sql(DECLARED)
        with pytest.raises(SqlError, match=message):
            shop.sql(text)
        assert str(shop.sql("SHOW VIEWS")).split() == ["totals"]


def test_what_is_not_kept_is_told(tmp_path: Path, store: ValuesStore) -> None:
    with headwater.open(tmp_path / "api") as shop:
        with pytest.raises(UsageError, match="nothing is said yet"):
            shop.step()
        shop.sql(DECLARED)
        with pytest.raises(UsageError, match='"totls" is not kept') as told:
            shop.table("totls")
        assert "orders, totals" in told.value.detail
        with pytest.raises(HeadwaterError, match="is a table"):
            shop.changes("orders")


def test_a_session_of_the_users_own(tmp_path: Path, store: ValuesStore) -> None:
    mine = open_session(java_home(), name="mine").newSession()
    mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    mine.createDataFrame(
        [("ann", "Bonn"), ("bob", "Kiel")], "customer string, city string"
    ).createOrReplaceTempView("c")
    with headwater.open(tmp_path / "api", spark=mine) as shop:
        shop.sql(DECLARED)
        shop.run(once=True)
        joined = mine.table("c").join(shop.table("totals"), "customer")
        assert rows(joined) == [("ann", "Bonn", 10), ("bob", "Kiel", 7)]
    assert mine.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert [view.name for view in mine.catalog.listTables()] == ["c"]
    assert isinstance(mine, SparkSession)


def test_a_server_on_a_session_of_the_users_own(tmp_path: Path, store: ValuesStore) -> None:
    mine = open_session(java_home(), name="mine").newSession()
    mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    with headwater.serve(tmp_path / "server", mine) as server:
        client = ServerClient(server.url)
        client.ask("POST", "/applications", {"name": "shop"})
        client.ask("POST", "/applications/shop/versions", {"statement": DECLARED})
        client.ask("POST", "/applications/shop/deployments", {"version_id": "1", "mode": "once"})
        wait_for(lambda: client.ask("GET", "/pipelines/shop")["status"] == "FINISHED", seconds=120)
        found = client.ask("GET", "/views/totals")["rows"]
        assert sorted(row["customer"] for row in found) == ["ann", "bob"]
        session = RemoteSession(server.url, None)
        assert session.run("EXPLAIN SELECT 1 AS one", "sql", listener=Silent())
    assert mine.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert mine.catalog.listTables() == [] and mine.range(3).count() == 3
