"""Requests made up from the server's own description, and SQL made up from real SQL.

Oracle: whatever is asked, the server never answers that it made a mistake, and what it refuses it refuses in one form.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from headwater.errors import HeadwaterError
from headwater.options import Secret
from headwater.runtime.hosting import check_text
from headwater.server.access import Access
from headwater.server.applications import create_application, create_version
from headwater.server.http import make_app
from headwater.server.integrations import add_integration
from headwater.server.server import Server

DEMOS = Path(__file__).parents[2] / "headwater" / "demo"
STATEMENTS = 5_000
TOKEN = "token-0123456789"
WHO = {"Authorization": f"Bearer {TOKEN}"}
PLAIN = (
    "CREATE TABLE t (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'values');",
    "CREATE VIEW v AS SELECT b, COUNT(*) AS n FROM t WHERE a > 1 GROUP BY b HAVING COUNT(*) > 2;",
    "INSERT INTO s SELECT JSON_VALUE(b, '$.x' RETURNING INT), CASE WHEN a IN (1, 2) THEN 'y' END FROM t;",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END;",
    "SET 'pipeline.name' = 'x'; EXPLAIN SELECT * FROM t; SHOW TABLES; DESCRIBE t; DROP VIEW IF EXISTS v; USE c;",
    "SELECT * FROM t JOIN u USING (a) LEFT JOIN LATERAL (SELECT 1) ON TRUE ORDER BY 1 LIMIT 3;",
)
ODD = (
    "\0",
    "\ud7ff",
    "'",
    '"',
    "`",
    "/*",
    "*/",
    "--",
    "${env:",
    ";",
    "((",
    "))",
    "\\",
    "😀",
    "''",
    "é",
    "\r\n",
)

schemathesis.serializer.alias("application/sql", "text/plain")

NAMED = {"application": "shop", "version": "1", "deployment": "latest", "integration": "kafka", "name": "v"}
"""What stands in a path, and is there."""

EXAMPLES = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.jvm
def test_made_up_requests_meet_no_mistake(server: Server) -> None:
    application = create_application(server, "shop", "ann")
    script = "CREATE TABLE t (a INT) WITH ('connector' = 'values'); CREATE VIEW v AS SELECT a FROM t;"
    create_version(server, application, {"statement": script}, "ann")
    add_integration(server.store, "kafka", {"host": "127.0.0.1:1"})
    app = make_app(server, Access({"ann": Secret(TOKEN)}))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=WHO)
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        _tried(found.ok())()


def _tried(operation: APIOperation[Any, Any, Any, Any]) -> Callable[[], None]:
    """One operation, asked a few times, right and wrong; what is named in its path is mostly there."""

    @settings(EXAMPLES)
    @given(case=operation.as_strategy(), is_there=strategies.booleans())
    def try_it(case: Any, is_there: bool) -> None:
        # A stream of changes that are there never ends.
        if is_there and not operation.path.endswith("/changes"):
            given = case.path_parameters or {}
            case.path_parameters = {name: NAMED.get(name, value) for name, value in given.items()}
        case.call_and_validate(checks=[not_a_server_error], headers=WHO, timeout=300)

    return try_it


def test_made_up_sql_meets_no_mistake(client: httpx.Client, random_seed: str) -> None:
    client.post("/applications", json={"name": "shop"})
    known = [*PLAIN, *(file.read_text() for file in sorted(DEMOS.glob("*.sql")))]
    dice = random.Random(random_seed)
    for number in range(STATEMENTS):
        text = mutated(dice.choice(known)[:2_000], dice)
        wrong = complaint(text)
        if number % 25 == 0:
            # A server says the same.
            answer = client.post("/applications/shop/versions", json={"statement": text})
            assert answer.status_code in (201, 400), (answer.status_code, answer.text, text)
            assert (answer.status_code == 201) == (wrong is None and bool(text.strip())), text


def complaint(text: str) -> str | None:
    """What is wrong with a script, as a server checks it; a mistake of ours is raised."""
    try:
        check_text(text, "made-up.sql")
    except HeadwaterError as problem:
        assert problem.message, text
        return problem.message
    return None


def mutated(text: str, dice: random.Random) -> str:
    """A text with a few things changed: cut, doubled, moved, or something odd put in."""
    for _ in range(dice.randint(1, 4)):
        a, b = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + 40)
        match dice.randrange(6):
            case 0:
                text = text[:a] + text[b:]
            case 1:
                text = text[:b] + text[a:b] + text[b:]
            case 2:
                text = text[:a] + dice.choice(ODD) + text[a:]
            case 3:
                text = text[:a]
            case 4:
                text = text[:a] + "".join(dice.choices(string.printable, k=dice.randint(1, 8))) + text[b:]
            case _:
                words = text.split(" ")
                dice.shuffle(words)
                text = " ".join(words)
    return text
