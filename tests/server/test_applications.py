"""Applications and versions over HTTP.

Oracle: the bodies as they were sent, and the words of the errors. Nothing here starts Spark.
"""

from __future__ import annotations

import httpx
import pytest

SCRIPT = (
    "CREATE TABLE orders (id INT, total INT) WITH ('connector' = 'values');"
    " CREATE VIEW totals AS SELECT SUM(total) AS total FROM orders;"
)


def test_an_application_has_versions_that_are_counted(client: httpx.Client) -> None:
    made = client.post("/applications", json={"name": "shop"})
    assert made.status_code == 201
    first = client.post("/applications/shop/versions", json={"statement": SCRIPT}).json()
    second = client.post(
        f"/applications/{made.json()['id']}/versions",
        content=SCRIPT + " -- again",
        headers={"Content-Type": "application/sql"},
    ).json()
    shown = client.get("/applications/shop").json()
    assert [(one["id"], one["version"]) for one in shown["application_versions"]] == [
        (first["id"], 1),
        (second["id"], 2),
    ]
    assert second["statement"] == SCRIPT + " -- again"
    assert [one["name"] for one in client.get("/applications").json()["applications"]] == ["shop"]


def test_a_version_may_come_in_parts(client: httpx.Client) -> None:
    client.post("/applications", json={"name": "shop"})
    body = {
        "sources": [{"create_table": "CREATE TABLE a (id INT) WITH ('connector' = 'values')"}],
        "sinks": [{"create_table": "CREATE TABLE b (id INT) WITH ('connector' = 'print')"}],
        "statement": "INSERT INTO b SELECT id FROM a",
    }
    made = client.post("/applications/shop/versions", json=body)
    assert made.status_code == 201
    assert made.json()["sources"][0]["create_table"] == body["sources"][0]["create_table"]  # type: ignore[index]


def test_wrong_sql_is_refused_with_its_place(client: httpx.Client) -> None:
    client.post("/applications", json={"name": "shop"})
    answer = client.post("/applications/shop/versions", json={"statement": "SELEKT 1"})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["place"]["line"], error["place"]["column"]) == (1, 1)
    assert set(error) == {"message", "detail", "hint", "place"}
    assert client.get("/applications/shop").json()["application_versions"] == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("GET", "/applications/shoop", None, 404, "there is no application 'shoop'"),
        ("POST", "/applications", {"name": "shop"}, 409, "there is an application 'shop' already"),
        ("POST", "/applications", {"name": "../x"}, 400, "'../x' cannot be the name of an application"),
        ("POST", "/applications", {}, 422, "the request is not understood"),
        ("GET", "/nowhere", None, 404, "there is no such page"),
        ("PUT", "/applications", None, 405, "this page does not take that method"),
        (
            "POST",
            "/applications/shop/deployments",
            {"version_id": "1"},
            404,
            "there is no version of 'shop' '1'",
        ),
    ],
)
def test_every_refusal_has_one_form(
    client: httpx.Client, method: str, path: str, body: object, status: int, message: str
) -> None:
    client.post("/applications", json={"name": "shop"})
    answer = client.request(method, path, json=body)
    assert (answer.status_code, answer.json()["error"]["message"]) == (status, message)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/integrations", r'{"name": "db", "options": {"\ud800": "x"}}'),
        ("POST", "/integrations", r'{"name": "db", "secret": "\ud800"}'),
        ("POST", "/applications/shop/deployments", r'{"version_id": "\ud800"}'),
        ("POST", "/console/login", r'{"token": "\ud800"}'),
    ],
)
def test_what_is_no_text_is_refused_and_not_kept(
    client: httpx.Client, method: str, path: str, body: str
) -> None:
    client.post("/applications", json={"name": "shop"})
    headers = {"Content-Type": "application/json", "X-Headwater-Console": "1"}
    answer = client.request(method, path, content=body, headers=headers)
    assert answer.status_code == 422, answer.text
    assert client.get("/integrations").json() == {"integrations": []}


def test_what_was_never_deployed_is_told_as_that(client: httpx.Client) -> None:
    client.post("/applications", json={"name": "shop"})
    error = client.get("/applications/shop/deployments/latest").json()["error"]
    assert error["message"] == "'shop' was never deployed"
    assert error["hint"] == "Give it a version, then: headwater app deploy shop."


def test_the_description_needs_nothing_from_elsewhere(client: httpx.Client) -> None:
    page = client.get("/docs").text
    assert "/applications/{application}/deployments" in page
    assert "//" not in page.replace("//-->", "")
    assert client.get("/openapi.json").json()["openapi"].startswith("3.")
