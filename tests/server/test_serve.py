"""The command line's own part: HTTPS, and what `headwater app` says.

Oracle: the words, written out; certificates made for this test.
"""

from __future__ import annotations

import io
import json
import ssl
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import urllib3

from headwater.cli.answering import address_of, answering, bound, config_of
from headwater.cli.main import main
from headwater.options import Secret
from headwater.server.access import Access
from headwater.server.http import make_app
from headwater.server.server import Server
from headwater.services.certificates import make_certificates

TOKEN = "token-0123456789"
SCRIPT = "CREATE TABLE t (a INT) WITH ('connector' = 'values'); CREATE VIEW v AS SELECT a FROM t;"


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    """A server that answers over a real socket, and has not started Spark."""
    app = make_app(server, Access({"ann": Secret(TOKEN)}))
    with closing(bound("127.0.0.1", 0)) as listening, answering(config_of(app), listening):
        yield f"http://{address_of(listening)}"


def said(capsys: pytest.CaptureFixture[str], *words: str, url: str) -> tuple[int, str, str]:
    code = main([*words, "--server", url, "--token", TOKEN])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_an_application_from_the_command_line(
    url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "shop.sql"
    file.write_text(SCRIPT)
    assert said(capsys, "app", "list", url=url) == (0, "there are no applications\n", "")
    assert said(capsys, "app", "create", "shop", url=url)[1] == "created application 'shop'\n"
    code, _, complaint = said(capsys, "app", "deploy", "shop", url=url)
    assert code == 2 and "has no version yet" in complaint
    told = said(capsys, "app", "version", "shop", str(file), url=url)[1]
    assert told == "application 'shop' has version 1\n"
    _, told, _ = said(capsys, "app", "version", "shop", str(file), "--json", url=url)
    assert json.loads(told)["version"] == 2
    _, told, _ = said(capsys, "app", "list", url=url)
    assert told.splitlines() == ["application  version  status", "shop         -        not deployed"]
    _, told, _ = said(capsys, "app", "logs", "shop", url=url)
    assert [line.split(" ", 1)[1] for line in told.splitlines()] == [
        "application created",
        "version created: version 1",
        "version created: version 2",
    ]
    file.write_text("CREATE VIEW v AS SELEKT 1;")
    code, _, complaint = said(capsys, "app", "version", "shop", str(file), url=url)
    assert code == 1 and "^" in complaint
    code, _, complaint = said(capsys, "app", "status", "shoop", url=url)
    assert code == 1 and "Did you mean" in complaint


def test_an_integration_from_the_command_line(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hunter2-hunter2\n"))
    words = ("create", "db", "--host", "h", "--user", "ann", "--secret-file", "-", "--option", "port=5433")
    assert said(capsys, "integration", *words, url=url) == (0, "created integration 'db'\n", "")
    _, told, _ = said(capsys, "integration", "list", url=url)
    assert told.splitlines()[1] == "db           host=h, user=ann, secret=***, port=5433"
    _, told, _ = said(capsys, "integration", "list", "--json", url=url)
    assert "hunter2" not in told


def test_who_is_not_there_or_not_known_is_told(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["app", "list", "--server", url]) == 1
    assert "a token is needed" in capsys.readouterr().err
    assert main(["app", "list", "--server", "http://127.0.0.1:1"]) == 1
    assert "no server answers at http://127.0.0.1:1" in capsys.readouterr().err
    assert main(["app", "list", "--server", "nowhere"]) == 2


def test_https_is_served_with_a_certificate(server: Server, tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    config = config_of(make_app(server, Access()), made.server_certificate, made.server_key)
    with closing(bound("127.0.0.1", 0)) as listening, answering(config, listening):
        pool = urllib3.PoolManager(ssl_context=ssl.create_default_context(cafile=str(made.authority)))
        answer = pool.request("GET", f"https://{address_of(listening)}/health", retries=False)
    assert (answer.status, answer.json()["status"]) == (200, "ok")
