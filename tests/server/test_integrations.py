"""Integrations fill what tables leave empty, and nobody sees their secrets.

Oracle: the script that is run, written out by hand; and a secret that must be in nothing that leaves the server.
"""

from __future__ import annotations

import stat

import httpx
import pytest

from headwater.server.applications import find_application, find_version
from headwater.server.server import Server
from headwater.sql.fill import filled

SECRET = "pa'ss\"wo\\rd-7Q"
SOURCE = (
    "CREATE TABLE orders (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'postgres-cdc',"
    " 'hostname' = '', 'username' = '', 'password' = '', 'database-name' = 'shop', 'table-name' = 'orders')"
)


@pytest.fixture
def filled_version(client: httpx.Client) -> dict[str, object]:
    body = {"name": "shop-db", "host": "db.example", "user": "ann", "secret": SECRET}
    assert client.post("/integrations", json=body).status_code == 201
    client.post("/applications", json={"name": "shop"})
    sent = {
        "sources": [{"create_table": SOURCE, "integration_id": "shop-db"}],
        "statement": "CREATE VIEW ids AS SELECT id FROM orders",
    }
    answer = client.post("/applications/shop/versions", json=sent)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_empty_options_are_filled_when_a_version_is_run(
    server: Server, filled_version: dict[str, object]
) -> None:
    version = find_version(server, find_application(server, "shop"), "1")
    quoted = SECRET.replace("'", "''")
    assert server.script(version) == (
        SOURCE.replace("'hostname' = ''", "'hostname' = 'db.example'")
        .replace("'username' = ''", "'username' = 'ann'")
        .replace("'password' = ''", f"'password' = '{quoted}'")
        + "\n;\n\nCREATE VIEW ids AS SELECT id FROM orders\n;"
    )


def test_a_secret_is_in_no_answer_no_log_and_no_error(
    server: Server, client: httpx.Client, filled_version: dict[str, object]
) -> None:
    server.journal.note("something went wrong", detail=f"the password is {SECRET} there")
    wrong = client.post(
        "/applications/shop/versions",
        json={
            "sources": [
                {
                    "create_table": SOURCE.replace("'shop'", "'shop', 'nope' = 'x'"),
                    "integration_id": "shop-db",
                }
            ],
            "statement": "SELECT id FROM orders",
        },
    )
    assert wrong.status_code == 400 and "nope" in wrong.text
    pages = ["/integrations", "/integrations/shop-db", "/applications/shop", "/applications/shop/versions/1"]
    said = [client.get(page).text for page in (*pages, "/audit", "/applications/shop/logs", "/metrics")]
    logs = [file.read_text() for file in (server.folder / "logs").iterdir()]
    for text in (wrong.text, *said, *logs):
        assert "7Q" not in text
    shown = client.get("/integrations/shop-db").json()["options"]
    assert shown == {"host": "db.example", "user": "ann", "secret": "***"}


def test_the_secret_of_an_integration_that_was_removed_stays_unsaid(
    server: Server, client: httpx.Client, filled_version: dict[str, object]
) -> None:
    assert client.delete("/integrations/shop-db").status_code == 204
    assert client.get("/integrations").json() == {"integrations": []}
    # A pipeline that was started with it goes on, and fails some time.
    server.journal.note("deployment is FAILED", problem={"message": f"the password is {SECRET} there"})
    assert "7Q" not in (server.folder / "logs" / "server.jsonl").read_text()


def test_only_its_owner_reads_what_the_server_keeps(server: Server, client: httpx.Client) -> None:
    client.post("/integrations", json={"name": "a", "secret": SECRET})
    kept = [*server.folder.glob("server.db*"), *(server.folder / "logs").iterdir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700


def test_what_is_not_empty_stays_and_names_win(client: httpx.Client) -> None:
    known = {"hostname": "h", "password": "p"}.get
    text = "SET 'password' = ''; create table t (a INT) with ('hostname' = '' , \"password\" = \"\", 'hostname' = 'x')"
    assert filled(text, known) == (
        "SET 'password' = ''; create table t (a INT) with ('hostname' = 'h' , \"password\" = 'p', 'hostname' = 'x')"
    )


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"name": "empty"}, 400, "fills nothing"),
        ({"name": "shop-db", "host": "x"}, 409, "already"),
        ({"name": "a b", "host": "x"}, 422, "not understood"),
    ],
)
def test_a_wrong_integration_is_refused(
    client: httpx.Client, filled_version: object, body: dict[str, str], status: int, said: str
) -> None:
    answer = client.post("/integrations", json=body)
    assert answer.status_code == status and said in answer.text


def test_a_version_whose_integration_is_missing_is_refused(client: httpx.Client) -> None:
    client.post("/applications", json={"name": "shop"})
    sent = {"statement": "SELECT 1", "integration_id": "nowhere"}
    answer = client.post("/applications/shop/versions", json=sent)
    assert answer.status_code == 404 and "no integration 'nowhere'" in answer.text
