"""Cells that run: pipelines side by side in one process, replaced, stopped, failed, shown.

Oracle: the rows that were handed in, added up here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.runtime.declarations import Declarations
from headwater.runtime.facts import BatchDone
from headwater.runtime.interactive import Interactive, busy_cores
from headwater.runtime.pipeline import Pipeline
from headwater.sources.base import Report
from headwater.sources.values import STORES, ValuesStore
from tests.notebook.shell import Shell

pytestmark = pytest.mark.jvm

ORDERS = (
    "%%headwater\nCREATE TABLE orders (id INT, who STRING, total INT, PRIMARY KEY (id) NOT ENFORCED)"
    " WITH ('connector' = 'values', 'name' = 'shop')"
)
SUMS = "SELECT who, SUM(total) AS total FROM orders GROUP BY who"


@pytest.fixture
def shop(shell: Shell) -> Iterator[ValuesStore]:
    """A store with one order, whose table is declared."""
    STORES["shop"] = ValuesStore()
    sell(STORES["shop"], 1, "ann", 10)
    assert shell.run(ORDERS).error is None
    yield STORES["shop"]
    shell.notebook.close()
    del STORES["shop"]


class Nobody:
    """Looks on and says nothing."""

    def report(self, report: Report) -> None:
        """Nothing."""

    def batch(self, done: BatchDone) -> None:
        """Nothing."""


def sell(store: ValuesStore, number: int, who: str, total: int) -> None:
    store.append({"orders": [("+", {"id": number, "who": who, "total": total})]})


def test_two_cells_follow_the_same_table_each_with_its_own_query(shell: Shell, shop: ValuesStore) -> None:
    # Both have relations named orders, big and query_1, and work at the same time.
    first = shell.run(
        f"%%headwater --name sums\nCREATE VIEW big AS SELECT * FROM orders;\n{SUMS.replace('orders', 'big')}"
    )
    second = shell.run(
        "%%headwater --name count --chart bar\nCREATE VIEW big AS SELECT * FROM orders WHERE total > 10;\n"
        "SELECT who, COUNT(*) AS n FROM big GROUP BY who"
    )
    assert first.error is None and second.error is None
    for number in range(2, 12):
        sell(shop, number, "ann" if number % 2 else "bob", number * 3)
    ran = shell.run("%headwater wait")
    sums, count = (str(one.data["text/plain"]).splitlines() for one in ran.shown)
    assert [line.split() for line in sums[-2:]] == [["ann", "115"], ["bob", "90"]]
    assert [line.split() for line in count[-2:]] == [["ann", "4"], ["bob", "4"]]
    assert "hw-bar" in str(ran.shown[1].data["text/html"])
    told = shell.run("%headwater status").text
    assert "2 running; all share one Spark with" in told
    assert "sums" in told and "SELECT" in told and "In [2]" in told
    assert "0 running" in shell.run("%headwater stop").text


def test_pipelines_side_by_side_do_not_see_the_views_of_each_other(shell: Shell, shop: ValuesStore) -> None:
    def opened(name: str) -> Pipeline:
        script = Declarations().read(f"{ORDERS.removeprefix('%%headwater')};\n{SUMS}", "cell")
        return Interactive().open(script, name, file="cell", listener=Nobody())

    with closing(opened("one")) as one, closing(opened("two")) as two:
        one.engine.register("mine", one.engine.spark.range(1))
        assert one.engine.spark.catalog.tableExists("mine")
        assert not two.engine.spark.catalog.tableExists("mine")
        assert (busy_cores(one), busy_cores(two)) == (0, 0)


def test_a_cell_that_is_run_again_replaces_its_pipeline_and_leaves_nothing(
    shell: Shell, shop: ValuesStore, tmp_path: Path
) -> None:
    shell.run(f"%%headwater\n{SUMS}", cell_id="abcd-1234-x")
    shell.run("%%headwater\nSELECT COUNT(*) AS n FROM orders", cell_id="abcd-1234-x")
    told = shell.run("%headwater status").text
    assert told.count("cell-abcd1234") == 1 and "1 running" in told
    assert (tmp_path / ".headwater" / "cell-abcd1234").exists()
    shell.run("%headwater stop all")
    assert not (tmp_path / ".headwater" / "cell-abcd1234").exists()


def test_a_named_pipeline_goes_on_where_it_ended_until_it_is_dropped(
    shell: Shell, shop: ValuesStore, tmp_path: Path
) -> None:
    cell = f"%%headwater --name kept\n{SUMS}"
    shell.run(cell)
    shell.run("%headwater wait kept")
    shell.run("%headwater stop kept")
    sell(shop, 2, "ann", 5)
    assert "resumed at cut 1" in shell.run(cell).text
    assert shell.run("%headwater wait kept").text.split()[-2:] == ["ann", "15"]
    assert shell.run("%headwater drop kept").text.strip() == "dropped kept"
    assert not (tmp_path / ".headwater" / "kept").exists()
    assert "there is no saved state" in shell.run("%headwater drop kept").complaint


def test_once_ends_by_itself(shell: Shell, shop: ValuesStore) -> None:
    ran = shell.run(f"%%headwater --once\n{SUMS};\nEXPLAIN {SUMS}")
    assert ran.text.strip().startswith("done In [2]")
    assert "ann     10" in ran.text and "== query" in ran.text
    assert "0 running" in shell.run("%headwater status").text


def test_what_is_wrong_before_it_runs_is_wrong_with_the_cell(
    shell: Shell, shop: ValuesStore, tmp_path: Path
) -> None:
    ran = shell.run("%%headwater\nSELECT who,\n  nope FROM orders")
    assert ran.complaint.splitlines()[:2] == [
        'error: column "nope" does not exist in table "orders"',
        "   --> In [2]:3:3",
    ]
    assert (
        not (tmp_path / ".headwater" / "cell-2").exists()
        and "cell-2" not in shell.run("%headwater status").text
    )
    assert 'the answer has no column "x"' in shell.run(f"%%headwater --chart bar --x x\n{SUMS}").complaint
    assert "column" in shell.run("%%headwater\nCREATE VIEW v AS SELECT nope FROM orders").complaint


def test_what_goes_wrong_later_is_told_in_the_area_and_by_status(
    shell: Shell, shop: ValuesStore, tmp_path: Path
) -> None:
    assert shell.run("%%headwater --name part\nSELECT id, 100 / total AS part FROM orders").error is None
    assert shell.run("%headwater wait part").error is None
    sell(shop, 2, "bob", 0)
    failed = shell.run("%headwater wait part").complaint
    assert failed.startswith("error: ") and "cannot be computed" in failed and "Division by zero" in failed
    told = shell.run("%headwater status").text
    assert "failed" in told and "part: " in told and "0 running" in told
    # One without a name takes along what it made.
    assert (
        "Division by zero"
        in shell.run("%%headwater --once\nSELECT 100 / total AS part FROM orders", cell_id="zero").complaint
    )
    assert (tmp_path / ".headwater" / "part").exists()
    assert not (tmp_path / ".headwater" / "cell-zero").exists()
    # The others go on, and so can this one.
    assert shell.run(f"%%headwater --once\n{SUMS}").error is None


def test_a_pipeline_that_ends_with_the_kernel_leaves_nothing(
    shell: Shell, shop: ValuesStore, tmp_path: Path
) -> None:
    shell.run(f"%%headwater\n{SUMS}", cell_id="last")
    assert (tmp_path / ".headwater" / "cell-last").exists()
    shell.notebook.close()
    assert not (tmp_path / ".headwater" / "cell-last").exists()
