"""Requests made up from the server's own description, and SQL made up from real SQL.

Oracle: whatever is asked, the server never answers that it made a mistake, and what it refuses it refuses in one form.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings, strategies
from schemathesis import Case, CheckContext, Response
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from headwater.errors import HeadwaterError
from headwater.options import Secret
from headwater.runtime.hosting import check_text
from headwater.server.access import Access
from headwater.server.applications import create_application, create_version
from headwater.server.deployments import deploy
from headwater.server.http import make_app
from headwater.server.integrations import add_integration
from headwater.server.records import Deployment
from headwater.server.server import Server
from headwater.sources.values import STORES, ValuesStore
from tests.server.made_up import PLAIN, exchanged, mutated
from tests.server.waiting import until

DEMOS = Path(__file__).parents[2] / "headwater" / "demo"
BAD_GATEWAY = 502
STATEMENTS = 5_000
CARRIED_OUT = 300
TOKEN = "token-0123456789"
WHO = {"Authorization": f"Bearer {TOKEN}"}
schemathesis.serializer.alias("application/sql", "text/plain")

SCRIPT = """
CREATE TABLE t (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'values', 'name' = 'made up');
CREATE VIEW v AS SELECT b, COUNT(*) AS n FROM t GROUP BY b;
"""
ASKED = (
    "SELECT * FROM shop.v WHERE n > 1 ORDER BY n DESC LIMIT 2",
    "WITH w AS (SELECT b, n * 2 AS n FROM v) SELECT w.b, SUM(w.n) OVER () FROM w JOIN t ON t.b = w.b",
    "SELECT CASE WHEN a IN (1, 2) THEN 'y' END, CAST(b AS INT) FROM shop.t UNION ALL SELECT 'x', 1",
    "SUBSCRIBE TO shop.v AFTER '1@1'",
)

NAMED = {
    **{"application": "shop", "version": "1", "deployment": "latest", "integration": "kafka"},
    **{"pipelines": "shop", "views": "shop.v", "node": "v"},
}
"""What stands in a path, and is there; a name by the first word of the path."""

EXAMPLES = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """A server on which an application runs, and whoever has the token may do everything."""
    with closing(Server(tmp_path_factory.mktemp("made-up") / "server")) as server:
        application = create_application(server, "shop", "ann")
        version = create_version(server, application, {"statement": SCRIPT}, "ann")
        add_integration(server.store, "kafka", {"host": "127.0.0.1:1"})
        STORES["made up"] = ValuesStore()
        STORES["made up"].append({"t": [("+", {"a": n, "b": str(n % 2)}) for n in range(5)]})
        deploy(server, application, Deployment(application.id, version.id), who="ann", confirmed=False)
        until(lambda: server.running().get("shop"), lambda it: it is not None and it.turning.catch_up(120))
        yield make_app(server, Access({"ann": Secret(TOKEN)}))
        del STORES["made up"]


@pytest.mark.jvm
def test_made_up_requests_meet_no_mistake(shop: FastAPI) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", shop, headers=WHO)
    with asking(shop) as client:
        for found in schema.get_all_operations():
            assert isinstance(found, Ok)
            _tried(found.ok(), client)()


def asking(app: FastAPI) -> TestClient:
    return TestClient(app, headers=WHO, raise_server_exceptions=False)


def no_mistake(context: CheckContext, response: Response, case: Case[Any]) -> bool | None:
    """Nothing of 500 and above, unless its page says that somebody else may be away: no Kafka Connect runs here."""
    if response.status_code == BAD_GATEWAY and str(BAD_GATEWAY) in case.operation.definition.raw["responses"]:
        return None
    return not_a_server_error(context, response, case)


def _tried(operation: APIOperation[Any, Any, Any, Any], client: TestClient) -> Callable[[], None]:
    """One operation, asked a few times, right and wrong; what is named in its path is mostly there."""
    known = NAMED | {"name": NAMED.get(operation.path.split("/")[1], "nowhere")}
    if "{session}" in operation.path:
        known["session"] = client.post("/sessions").json()["id"]

    @settings(EXAMPLES)
    @given(case=operation.as_strategy(), is_there=strategies.booleans())
    def try_it(case: Any, is_there: bool) -> None:
        # A stream of changes that are there never ends.
        if is_there and not operation.path.endswith("/changes"):
            given = case.path_parameters or {}
            case.path_parameters = {name: known.get(name, value) for name, value in given.items()}
        case.call_and_validate(checks=[no_mistake], headers=WHO, timeout=300)

    return try_it


@pytest.mark.jvm
def test_made_up_sql_is_carried_out_or_refused(shop: FastAPI, random_seed: str) -> None:
    dice = random.Random(random_seed)
    with asking(shop) as client:
        session = client.post("/sessions").json()["id"]
        for number in range(CARRIED_OUT):
            text = exchanged(ASKED, dice) if number % 3 else mutated(dice.choice((*PLAIN, *ASKED)), dice)
            if number % 2:
                answer = client.post(f"/sessions/{session}/statements", json={"statement": text})
            else:
                answer = client.get("/queries", params={"sql": text})
            assert answer.status_code in (200, 400, 404, 409), (answer.status_code, answer.text, text)


def test_made_up_sql_meets_no_mistake(client: httpx.Client, random_seed: str) -> None:
    client.post("/applications", json={"name": "shop"})
    known = [*PLAIN, *(file.read_text() for file in sorted(DEMOS.glob("*.sql")))]
    dice = random.Random(random_seed)
    for number in range(STATEMENTS):
        text = mutated(dice.choice(known)[:2_000], dice)
        if number % 2:
            # Nothing runs that could be asked.
            answer = client.get("/queries", params={"sql": text})
            assert answer.status_code in (200, 400), (answer.status_code, answer.text, text)
            continue
        answer = client.post("/applications/shop/versions", json={"statement": text})
        assert answer.status_code in (201, 400), (answer.status_code, answer.text, text)
        if number % 10 == 0:
            # A server says what `headwater` says by itself.
            assert (answer.status_code == 201) == (complaint(text) is None and bool(text.strip())), text


def complaint(text: str) -> str | None:
    """What is wrong with a script, as a server checks it; a mistake of ours is raised."""
    try:
        check_text(text, "made-up.sql")
    except HeadwaterError as problem:
        assert problem.message, text
        return problem.message
    return None
