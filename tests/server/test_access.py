"""Who may ask the server what.

Oracle: every request of the server's own OpenAPI description, tried with no token, a wrong one, one that may only read
and one that may write.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from headwater.cli.main import main
from headwater.cli.tokens import read_tokens
from headwater.errors import UsageError
from headwater.options import Secret
from headwater.server.access import OPEN, Access
from headwater.server.bodies import LARGEST_REQUEST
from headwater.server.http import make_app
from headwater.server.server import Server

WRITER, READER = "writer-0123456789", "reader-0123456789"


@pytest.fixture
def guarded(server: Server) -> FastAPI:
    return make_app(server, Access({"ann": Secret(WRITER)}, {"bob": Secret(READER)}))


def asking(app: FastAPI, token: str | None) -> httpx.Client:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return TestClient(app, headers=headers, raise_server_exceptions=False)


def requests(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Method and path of everything that can be asked; whatever a path names is not there."""
    for path, methods in app.openapi()["paths"].items():
        for method in methods:
            yield method.upper(), path.replace("{", "").replace("}", "")
    yield from (("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/nowhere"))


@pytest.mark.parametrize("token", [None, "", "wrong-0123456789", WRITER.upper(), READER + "x"])
def test_without_a_known_token_nothing_is_answered(guarded: FastAPI, token: str | None) -> None:
    client = asking(guarded, token)
    for method, path in requests(guarded):
        answer = client.request(method, path)
        wanted = {200, 503} if path in OPEN else {401}
        assert answer.status_code in wanted, (method, path)
        assert "error" in answer.json() or answer.status_code == 200


def test_a_token_that_may_only_read_changes_nothing(guarded: FastAPI) -> None:
    client = asking(guarded, READER)
    for method, path in requests(guarded):
        status = client.request(method, path).status_code
        assert (status == 403) == (method != "GET"), (method, path, status)
        assert status != 401


def test_a_token_that_may_write_is_named_in_the_audit(guarded: FastAPI) -> None:
    client = asking(guarded, WRITER)
    assert client.post("/applications", json={"name": "shop"}).status_code == 201
    deeds = client.get("/audit").json()["audit"]
    assert [(one["who"], one["action"], one["application"]) for one in deeds] == [
        ("ann", "application created", "shop")
    ]


def test_pages_of_other_sites_cannot_use_a_server_without_tokens(client: httpx.Client) -> None:
    elsewhere = {"Origin": "https://evil.example"}
    assert client.post("/applications", json={"name": "a"}, headers=elsewhere).status_code == 403
    # Reading too: a page that is looked at could make Spark work all day.
    assert client.get("/applications", headers=elsewhere).status_code == 403
    hidden = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/applications", headers=hidden).status_code == 403
    assert client.get("/", headers=hidden | {"Sec-Fetch-Mode": "navigate"}).status_code == 200
    # A page at another port of this machine is not ours either, and cannot add the header of those that are.
    beside = {"Origin": "http://localhost:3000"}
    assert client.post("/applications", json={"name": "a"}, headers=beside).status_code == 403
    assert client.options("/applications", headers=beside).status_code == 403
    ours = {"Origin": "http://localhost:8090", "Host": "localhost:8090"}
    assert client.post("/applications", json={"name": "a"}, headers=ours).status_code == 201
    behind_a_proxy = beside | {"X-Headwater-Console": "1"}
    assert client.post("/applications", json={"name": "b"}, headers=behind_a_proxy).status_code == 201
    # A name of theirs that leads to this machine.
    for host in ("evil.example", "[", "", "localhost.evil.example"):
        assert client.get("/applications", headers={"Host": host}).status_code == 403
    assert client.get("/applications", headers={"Host": "127.0.0.1:8090"}).status_code == 200


def test_what_is_too_large_is_refused(client: httpx.Client) -> None:
    client.post("/applications", json={"name": "shop"})

    def pieces() -> Iterator[bytes]:
        for _ in range(LARGEST_REQUEST // 1_000_000 + 2):
            yield b" " * 1_000_000

    sql = {"Content-Type": "application/sql"}
    for content in (b" " * (LARGEST_REQUEST + 1), pieces(), b"SELECT 1;" * 200_000):
        answer = client.post("/applications/shop/versions", content=content, headers=sql)
        assert answer.status_code == 413
        assert "too large" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--host", "0.0.0.0"], "needs a token"),
        (["--token-file", "{short}"], "too short"),
        (["--token-file", "{empty}"], "has no token in it"),
        (["--token-file", "{odd}"], "cannot be sent"),
        (["--token-file", "{folder}/none"], "cannot read"),
        (["--read-token-file", "{good}"], "nobody could write"),
        (["--certificate", "{good}"], "belong together"),
    ],
)
def test_a_server_that_would_let_others_in_does_not_start(
    flags: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"short": "abc", "empty": "# nobody\n", "odd": "bøb:wrïter-0123456789", "good": WRITER}
    names = {name: tmp_path / name for name in texts} | {"folder": tmp_path}
    for name, text in texts.items():
        names[name].write_text(text)
    given = [flag.format(**names) for flag in flags]
    assert main(["serve", "--port", "0", "--state", str(tmp_path / "server"), *given]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "server").exists()


def test_tokens_have_names_and_may_be_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "from-the-environment")
    file = tmp_path / "tokens"
    file.write_text(f"# who may write\nann:{WRITER}\n\nbob: ${{env:A_TOKEN}}\n${{env:A_TOKEN}}\n")
    found = read_tokens(file)
    assert {name: token.reveal() for name, token in found.items()} == {
        "ann": WRITER,
        "bob": "from-the-environment",
        "token": "from-the-environment",
    }
    file.write_text(f"ann:{WRITER}\nann:{READER}")
    with pytest.raises(UsageError, match="two tokens for 'ann'"):
        read_tokens(file)


@pytest.mark.parametrize("name", ["%00", "x" * 300, "..%2fpages.py", "/etc/passwd"])
def test_what_is_no_asset_is_missing(client: httpx.Client, name: str) -> None:
    assert client.get(f"/console/assets/{name}").status_code == 404
