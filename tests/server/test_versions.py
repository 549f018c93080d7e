"""Versions follow each other on one State: what did not change is kept, what would not be is told first.

Oracle: three views written out by hand over rows that the test hands in, and the files of their State.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from headwater.runtime.keeping import Comparison
from headwater.server import pipelines
from headwater.server.applications import find_application
from headwater.server.deployed import Deployed
from headwater.server.records import Application, Version
from headwater.server.refusals import Unwritten
from headwater.server.server import Server
from headwater.sources.values import STORES, ValuesStore
from tests.server.waiting import until

pytestmark = pytest.mark.jvm

SCRIPT = """
CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values', 'name' = 'versions');
CREATE VIEW totals AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
CREATE VIEW counts AS SELECT COUNT(*) AS n FROM orders;
CREATE VIEW best AS SELECT MAX(total) AS best FROM orders;
"""

SINK = """
CREATE TABLE f (n BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv', 'sink.mode' = 'changes'
);
INSERT INTO f SELECT n FROM counts;
"""


@pytest.fixture(autouse=True)
def store() -> Iterator[ValuesStore]:
    STORES["versions"] = ValuesStore()
    STORES["versions"].append(
        {"orders": [("+", {"id": n, "customer": f"c{n % 2}", "total": n}) for n in (1, 2, 3)]}
    )
    yield STORES["versions"]
    del STORES["versions"]


def give(client: httpx.Client, text: str) -> None:
    client.post("/applications", json={"name": "shop"})
    answer = client.post("/applications/shop/versions", json={"statement": text})
    assert answer.status_code == 201, answer.text


def deploy(client: httpx.Client, version: int, **more: Any) -> httpx.Response:
    return client.post("/applications/shop/deployments", json={"version_id": str(version), **more})


def wait_for(client: httpx.Client, status: str) -> dict[str, Any]:
    return until(
        lambda: client.get("/applications/shop/deployments/latest").json(), lambda it: it["status"] == status
    )


def caught_up(server: Server) -> Deployed:
    deployed = until(lambda: server.running().get("shop"), lambda it: it is not None)
    assert deployed is not None and deployed.turning.catch_up(120.0)
    return deployed


def rows(server: Server, view: str) -> list[dict[str, Any]]:
    deployed = caught_up(server)
    found: list[dict[str, Any]] = deployed.turning.ask(lambda pipeline: pipeline.rows(view)).to_pylist()
    return found


def measured(client: httpx.Client) -> dict[tuple[str, tuple[str, ...]], float]:
    """All numbers of /metrics, by their names and the values of their labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {(one.name, tuple(one.labels.values())): one.value for all in families for one in all.samples}


def files(server: Server) -> dict[str, set[str]]:
    """The files of each relation's State."""
    state = server.state_of(find_application(server, "shop")) / "state"
    return {folder.name: {file.name for file in folder.iterdir()} for folder in state.iterdir()}


def test_a_version_that_touches_one_of_three_views_recomputes_one(
    server: Server, client: httpx.Client, store: ValuesStore
) -> None:
    give(client, SCRIPT)
    assert deploy(client, 1).status_code == 201
    assert rows(server, "best") == [{"best": 3}]
    before = files(server)
    give(client, SCRIPT.replace("MAX(total)", "MIN(total)"))
    refused = deploy(client, 2)
    assert refused.status_code == 409
    told = {"kept": ["orders", "totals", "counts"], "recomputed": ["best"], "new": [], "gone": []}
    assert refused.json()["comparison"] == told
    assert client.get("/applications/shop/versions/2/comparison").json() == told
    assert files(server) == before and wait_for(client, "RUNNING")["version"] == 1
    assert deploy(client, 2, confirmed=True).status_code == 201
    assert rows(server, "best") == [{"best": 1}]
    reports = [report for _, report in caught_up(server).facts.reports]
    assert [report.subject for report in reports if report.stage == "recompute"] == ["best"]
    after = files(server)
    assert {name: after[name] for name in ("orders", "totals", "counts")} == {
        name: before[name] for name in ("orders", "totals", "counts")
    }
    give(client, SCRIPT.replace("CREATE VIEW counts", "CREATE VIEW how_many"))
    told = client.get("/applications/shop/versions/3/comparison").json()
    assert (told["new"], told["recomputed"], told["gone"]) == (["how_many"], ["best"], ["counts"])
    back = client.post("/applications/shop/deployments/rollback", json={"confirmed": True})
    assert back.status_code == 201 and back.json()["version"] == 1
    store.append({"orders": [("+", {"id": 9, "customer": "c1", "total": 9})]})
    assert rows(server, "best") == [{"best": 9}]
    assert sorted(row["total"] for row in rows(server, "totals")) == [2, 13]


def test_a_version_is_compared_with_what_went_live_meanwhile(
    server: Server, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = (
        SCRIPT[: SCRIPT.index("CREATE VIEW totals")]
        + "CREATE VIEW counts AS SELECT COUNT(*) AS n FROM orders;"
    )
    give(client, counts)
    give(client, counts + "CREATE VIEW ids AS SELECT id FROM orders;")
    give(client, counts + "CREATE VIEW sums AS SELECT id + total AS n FROM orders;")
    deploy(client, 1)
    assert rows(server, "counts") == [{"n": 3}]
    compare = server.compare

    def late(application: Application, version: Version) -> Comparison:
        told = compare(application, version)
        monkeypatch.undo()
        assert deploy(client, 2).status_code == 201
        assert len(rows(server, "ids")) == 3
        return told

    monkeypatch.setattr(server, "compare", late)
    refused = deploy(client, 3)
    assert refused.status_code == 409
    assert refused.json()["comparison"]["gone"] == ["ids"]
    assert wait_for(client, "RUNNING")["version"] == 2
    assert len(rows(server, "ids")) == 3

    def full(record: object) -> None:
        raise Unwritten("what the server knows cannot be written")

    monkeypatch.setattr(server.store, "add", full)
    assert deploy(client, 3, confirmed=True).status_code == 503
    monkeypatch.undo()
    # Nothing was changed, as the answer says.
    assert wait_for(client, "RUNNING")["version"] == 2
    assert len(rows(server, "ids")) == 3


def test_a_deployment_is_stopped_and_goes_on(
    server: Server, client: httpx.Client, store: ValuesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long it takes until somebody looks, its batch was done lately.
    monkeypatch.setattr(pipelines, "WINDOW", 3600.0)
    give(client, SCRIPT)
    deploy(client, 1)
    assert rows(server, "counts") == [{"n": 3}]
    held = client.get("/resources").json()
    assert [one["application"] for one in held["pipelines"]] == ["shop"]
    free, known = client.get("/resources").json()["cores"], measured(client)
    counted = [known[f"headwater_{name}_total", ("shop",)] for name in ("batches", "rows", "errors")]
    assert counted == [1, 3, 0]
    assert known["headwater_rows_per_second", ("shop",)] > 0
    assert known["headwater_deployment_status", ("shop", "RUNNING")] == 1
    assert known["headwater_state_rows", ("shop", "orders")] == 3
    assert known["headwater_state_bytes", ("shop", "totals")] > 0
    stops = {labels[1] for name, labels in known if name == "headwater_step_seconds_total"}
    assert {"read", "tables", "views", "sinks", "progress"} <= stops
    assert known["headwater_cores", ()] == free["total"] > 0
    assert known["headwater_memory_bytes", ()] > known["headwater_memory_used_bytes", ()] > 0
    assert client.post("/applications/shop/deployments/latest/stop").json()["status"] == "CANCELED"
    gone = client.get("/resources").json()
    assert (gone["pipelines"], gone["cores"]["used"]) == ([], 0)
    assert ("headwater_state_rows", ("shop", "orders")) not in measured(client)
    store.append({"orders": [("+", {"id": 4, "customer": "c1", "total": 4})]})
    assert client.post("/applications/shop/deployments/latest/resume").status_code == 200
    assert rows(server, "counts") == [{"n": 4}]
    again = client.post("/applications/shop/deployments/latest/resume")
    assert again.status_code == 409 and "already" in again.text


def test_a_pipeline_that_fails_is_started_again(client: httpx.Client, tmp_path: Path) -> None:
    in_the_way = tmp_path / "out"
    in_the_way.write_text("a file where a folder must be")
    give(client, SCRIPT + SINK.format(path=in_the_way / "n.csv"))
    deploy(client, 1)
    # The next start may be at hand already: while it stands, nothing is wrong with it.
    failed = until(
        lambda: client.get("/applications/shop/deployments/latest").json(),
        lambda it: it["restarts"] > 0 and it["error"] is not None,
    )
    assert failed["error"]["message"] and failed["error"]["hint"] is not None
    known = measured(client)
    assert min(known[f"headwater_{name}_total", ("shop",)] for name in ("errors", "restarts")) > 0
    in_the_way.unlink()
    # A start that met the file may still have to fail.
    written = in_the_way / "n.csv"
    assert until(lambda: written.read_text() if written.exists() else "", bool) == "+I,3\n"
    assert wait_for(client, "RUNNING")["error"] is None


def test_one_that_shall_not_restart_stays_failed(client: httpx.Client, tmp_path: Path) -> None:
    in_the_way = tmp_path / "out"
    in_the_way.write_text("a file where a folder must be")
    give(client, SCRIPT + SINK.format(path=in_the_way / "n.csv"))
    deploy(client, 1, restart_enabled=False)
    failed = wait_for(client, "FAILED")
    assert (failed["restarts"], failed["next_run_at"]) == (0, None)
    # Wrong SQL is not tried again, whatever is allowed.
    give(client, SCRIPT + "CREATE VIEW wrong AS SELECT nope FROM orders;")
    deploy(client, 2, confirmed=True)
    assert wait_for(client, "FAILED")["error"]["place"]["line"] == 6


def test_once_ends_and_a_schedule_runs_again(
    server: Server, client: httpx.Client, store: ValuesStore
) -> None:
    give(client, SCRIPT)
    deploy(client, 1, mode="once")
    assert wait_for(client, "FINISHED")["runs"] == 1
    deploy(client, 1, mode="schedule", every="1s")
    seen = until(
        lambda: client.get("/applications/shop/deployments/latest").json(), lambda it: it["runs"] > 1
    )
    assert seen["status"] in ("FINISHED", "INITIALIZING", "RUNNING")
    wrong = deploy(client, 1, mode="schedule", every="1s", cron="* * * * *")
    assert wrong.status_code == 400 and "either every or cron" in wrong.text
    assert deploy(client, 1, mode="schedule", cron="61 * * * *").status_code == 400
    assert deploy(client, 1, mode="schedule", every="5").status_code == 400
    assert deploy(client, 1, every="5s").status_code == 400
