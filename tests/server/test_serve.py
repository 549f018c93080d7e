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

from headwater.cli.main import main
from headwater.options import Secret
from headwater.runtime.keeping import Comparison
from headwater.server.access import Access
from headwater.server.answering import address_of, answering, bound, configured
from headwater.server.http import make_app
from headwater.server.records import Deployment
from headwater.server.server import Server
from headwater.services.certificates import make_certificates

TOKEN = "token-0123456789"
SCRIPT = "CREATE TABLE t (a INT) WITH ('connector' = 'values'); CREATE VIEW v AS SELECT a FROM t;"


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    """A server that answers over a real socket, and has not started Spark."""
    app = make_app(server, Access({"ann": Secret(TOKEN)}))
    with closing(bound("127.0.0.1", 0)) as listening, answering(configured(app), listening):
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
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    code, _, complaint = said(capsys, "integration", "create", "odd", "--secret-file", "-", url=url)
    assert code == 2 and "there is no secret in -" in complaint
    for wrong in ("port", "=5433"):
        code, _, complaint = said(capsys, "integration", "create", "odd", "--option", wrong, url=url)
        assert code == 2 and "is not NAME=VALUE" in complaint and "5433" not in complaint
    _, told, _ = said(capsys, "integration", "list", url=url)
    assert told.splitlines()[1] == "db           host=h, user=ann, secret=***, port=5433"
    _, told, _ = said(capsys, "integration", "list", "--json", url=url)
    assert "hunter2" not in told
    told = said(capsys, "integration", "delete", "db", url=url)[1]
    assert told == "deleted integration 'db'; what runs with it goes on\n"
    assert said(capsys, "integration", "list", url=url)[1] == "there are no integrations\n"
    assert "no integration 'db'" in said(capsys, "integration", "delete", "db", url=url)[2]


def test_who_is_not_there_or_not_known_is_told(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["app", "list", "--server", url]) == 1
    assert "a token is needed" in capsys.readouterr().err
    assert main(["app", "list", "--server", "http://127.0.0.1:1"]) == 1
    assert "no server answers at http://127.0.0.1:1" in capsys.readouterr().err
    assert main(["app", "list", "--server", url.replace("http:", "https:")]) == 1
    assert "A server without --certificate is at http://" in capsys.readouterr().err


@pytest.mark.parametrize(
    "address", ["nowhere", "http://", "http://[::1", "http://here:many", "http://here:0", "ftp://here"]
)
def test_what_is_no_address_is_refused(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["app", "list", "--server", address]) == 2
    assert f"'{address}' is not the address of a server" in capsys.readouterr().err


def test_what_cannot_be_sent_is_refused_and_not_shown(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two").write_text("hunter2-0123456789\nhunter2-0123456789\n")
    for token in ("hunter2-012345678…", "hunter2\r\nX-More: 1", f"${{file:{tmp_path}/two}}"):
        assert main(["app", "list", "--server", url, "--token", token]) == 2
        complaint = capsys.readouterr().err
        assert "no request can carry" in complaint and "hunter2" not in complaint
    for address in ("http://ann:hunter2@here:1", "http://ann:hunter2@here:many"):
        assert main(["app", "list", "--server", address]) == 2
        assert "hunter2" not in capsys.readouterr().err


def test_a_version_that_is_given_as_nothing_is_not_the_latest(
    url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "shop.sql").write_text(SCRIPT)
    said(capsys, "app", "create", "shop", url=url)
    said(capsys, "app", "version", "shop", str(tmp_path / "shop.sql"), url=url)
    code, _, complaint = said(capsys, "app", "deploy", "shop", "--version", "", url=url)
    assert code == 1 and "there is no version of 'shop' ''" in complaint


@pytest.mark.parametrize(
    ("flags", "said", "hint"),
    [
        (["--port", "70000"], "cannot listen at 127.0.0.1:70000", "from 0 to 65535"),
        (["--port", "{taken}"], "cannot listen at 127.0.0.1:{taken}", "another --port"),
        (["--pg-port", "70000"], "cannot listen at 127.0.0.1:70000", "from 0 to 65535"),
        (["--pg-port", "{taken}"], "cannot listen at 127.0.0.1:{taken}", "another --pg-port"),
        (["--host", "nowhere.invalid", "--token-file", "{file}"], "cannot listen at nowhere", "this machine"),
        (["--certificate", "{file}", "--key", "{file}"], "cannot serve HTTPS", "PEM files"),
        (["--state", "{file}"], 'no server can work in "{file}"', "another --state"),
        (["--state", "{file}/below"], 'no server can work in "{file}/below"', "another --state"),
    ],
)
def test_a_server_that_cannot_begin_says_so_before_anything_runs(
    flags: list[str],
    said: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Server, "start", lambda self: pytest.fail("it is started"))
    file = tmp_path / "file"
    file.write_text(TOKEN)
    with closing(bound("127.0.0.1", 0)) as taken:
        named = {"file": str(file), "taken": str(taken.getsockname()[1])}
        given = [flag.format(**named) for flag in flags]
        assert main(["serve", "--port", "0", "--state", str(tmp_path / "server"), *given]) in (1, 2)
    complaint = capsys.readouterr().err
    assert said.format(**named) in complaint and hint in complaint


def test_what_is_computed_anew_waits_for_a_yes(
    url: str,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "shop.sql").write_text(SCRIPT)
    said(capsys, "app", "create", "shop", url=url)
    said(capsys, "app", "version", "shop", str(tmp_path / "shop.sql"), url=url)
    ran = list[Deployment]()
    told = Comparison(kept=("t",), recomputed=("v",))
    monkeypatch.setattr(server, "has_state", lambda application: True)
    monkeypatch.setattr(server, "compare", lambda application, version: told)
    monkeypatch.setattr(server, "run", ran.append)
    for typed, code in (("\n", 1), ("no\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", typing(typed))
        ended, _, complaint = said(capsys, "app", "deploy", "shop", url=url)
        assert ended == code
        assert "  computed anew: v\n  kept: t\nDeploy it? [y/N] " in complaint
    assert len(ran) == 1


def typing(text: str) -> io.StringIO:
    """Somebody at a terminal."""
    typed = io.StringIO(text)
    typed.isatty = lambda: True  # type: ignore[method-assign]  # it seems to be one
    return typed


def test_https_is_served_with_a_certificate(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_certificates(tmp_path)
    config = configured(make_app(server, Access()), made.server_certificate, made.server_key)
    with closing(bound("127.0.0.1", 0)) as listening, answering(config, listening):
        address = f"https://{address_of(listening)}"
        pool = urllib3.PoolManager(ssl_context=ssl.create_default_context(cafile=str(made.authority)))
        answer = pool.request("GET", f"{address}/health", retries=False)
        assert main(["app", "list", "--server", address]) == 1
        assert "is not one that this machine trusts" in capsys.readouterr().err
        monkeypatch.setenv("SSL_CERT_FILE", str(made.authority))
        assert main(["app", "list", "--server", address]) == 0
    assert (answer.status, answer.json()["status"]) == (200, "ok")
