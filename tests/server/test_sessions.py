"""A session at a server, as the SQL client sees it. Oracle: what a session says in one process, written by hand."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from headwater.cli.client.remote import RemoteQuery, RemoteSession
from headwater.cli.lines import PLAIN, LineView
from headwater.cli.main import main
from headwater.errors import HeadwaterError
from headwater.runtime.conversation import Listed, Said, Started
from headwater.runtime.facts import Silent
from headwater.server import sessions
from tests.postgres.world import wait_for
from tests.server.live_world import SECONDS, Live, live_server

pytestmark = pytest.mark.jvm

CLICKS = """
CREATE TABLE clicks (id BIGINT, page BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'datagen', 'rows-per-second' = '1000', 'number-of-rows' = '4',
  'fields.id.kind' = 'sequence', 'fields.page.min' = '7', 'fields.page.max' = '7'
)
"""
OUT = "CREATE TABLE out (page BIGINT, n BIGINT) WITH ('connector' = 'blackhole')"
PAGES = "SELECT page, COUNT(*) AS n FROM clicks GROUP BY page"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("sessions") / "server") as live:
        yield live


@pytest.fixture
def session(live: Live) -> RemoteSession:
    made = RemoteSession(str(live.client.base_url), None)
    assert made.run(CLICKS, "sql", listener=Silent()) == Said("table clicks is declared", is_note=True)
    return made


def test_a_live_query_is_followed_until_nobody_listens(session: RemoteSession, live: Live) -> None:
    query = session.run(PAGES, "sql", listener=Silent())
    assert isinstance(query, RemoteQuery)
    out = io.StringIO()
    query.start(LineView(out, io.StringIO(), PLAIN))
    wait_for(lambda: "page=7, n=4 (" in out.getvalue(), seconds=SECONDS)
    query.stop()
    assert query.ended.wait(SECONDS) and query.problem is None
    # What it made at the server goes with it.
    folder = live.server.folder / "sessions"
    wait_for(lambda: not list(folder.glob("query-*")), seconds=SECONDS)


def test_a_session_that_is_closed_ends_its_live_queries(session: RemoteSession) -> None:
    query = session.run(PAGES, "sql", listener=Silent())
    assert isinstance(query, RemoteQuery)
    out = io.StringIO()
    query.start(LineView(out, io.StringIO(), PLAIN))
    wait_for(lambda: "page=7" in out.getvalue(), seconds=SECONDS)
    session.close()
    assert query.ended.wait(SECONDS) and query.problem is None


def test_a_server_that_ends_leaves_nothing_of_live_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "END_SECONDS", SECONDS)
    with live_server(tmp_path / "server") as live:
        session = RemoteSession(str(live.client.base_url), None)
        session.run(CLICKS, "sql", listener=Silent())
        out, folder = io.StringIO(), live.server.folder / "sessions"
        query = session.run(PAGES, "sql", listener=Silent())
        assert isinstance(query, RemoteQuery)
        query.start(LineView(out, io.StringIO(), PLAIN))
        wait_for(lambda: "page=7" in out.getvalue(), seconds=SECONDS)
        assert list(folder.glob("query-*"))
        live.server.close()
        assert not list(folder.glob("query-*"))


def test_queries_that_nobody_follows_are_forgotten_at_last(live: Live) -> None:
    client = live.client
    at = f"/sessions/{client.post('/sessions').json()['id']}"
    asked = [client.post(f"{at}/statements", json={"statement": "SELECT 1"}).json() for _ in range(22)]
    assert client.post(f"{at}/queries/{asked[0]['query']}/events").status_code == 404
    assert client.post(f"{at}/queries/{asked[-1]['query']}/events").status_code == 200


def test_what_is_wrong_with_a_query_comes_with_its_place(session: RemoteSession) -> None:
    query = session.run("\n SELECT nope FROM clicks", "typed", listener=Silent())
    assert isinstance(query, RemoteQuery)
    query.start(LineView(io.StringIO(), io.StringIO(), PLAIN))
    assert query.ended.wait(SECONDS) and query.problem is not None
    assert query.problem.message == 'column "nope" does not exist in table "clicks"'
    assert str(query.problem.place) == "typed:2:9"
    with pytest.raises(HeadwaterError, match="SELEC does not start a statement"):
        session.run("SELEC 1", "typed", listener=Silent())


def test_jobs_outlast_their_session_and_every_session_sees_them(session: RemoteSession, live: Live) -> None:
    session.run(OUT, "sql", listener=Silent())
    assert session.known().tables == {"clicks": ("id", "page"), "out": ("page", "n")}
    started = session.run(f"INSERT INTO out {PAGES}", "sql", listener=Silent())
    assert isinstance(started, Started) and started.job.id == "into-out"
    held = live.client.get("/resources").json()["sessions"]
    assert [one["name"] for one in held] == ["into-out"]
    session.close()
    with pytest.raises(HeadwaterError, match="there is no session"):
        session.known()
    other = RemoteSession(str(live.client.base_url), None)
    listed = other.run("SHOW JOBS", "sql", listener=Silent())
    assert isinstance(listed, Listed) and [job.state for job in listed.jobs] == ["running"]
    assert other.run("STOP JOB 'into-out'", "sql", listener=Silent()) == Said(
        "job 'into-out' is stopped", is_note=True
    )
    assert [job.state for job in other.jobs()] == ["stopped"]
    assert live.client.get("/resources").json()["sessions"] == []
    deeds = live.client.get("/audit").json()["audit"]
    told = [(deed["who"], deed["action"], deed["detail"]) for deed in deeds[-2:]]
    assert told == [("local", "job started", "into-out"), ("local", "job stopped", "into-out")]


def test_a_script_without_a_terminal_is_carried_out_statement_by_statement(
    live: Live, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pages.sql"
    file.write_text(f"{CLICKS};\n{PAGES};\nSHOW TABLES;")
    words = ["sql", str(file), "--server", str(live.client.base_url), "--once", "--format", "csv"]
    assert main(words) == 0
    assert capsys.readouterr().out == "page,n\n7,4\nclicks\n"
    file.write_text(f"{CLICKS};\nSELECT nope FROM clicks;\nSHOW TABLES;")
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == "" and f"{file}:7:8" in said.err and "^^^^" in said.err


def test_a_query_is_followed_by_one_and_a_session_that_is_not_there_is_missing(live: Live) -> None:
    id = live.client.post("/sessions").json()["id"]
    body = {"statement": "SELECT 1 AS one"}
    query = live.client.post(f"/sessions/{id}/statements", json=body).json()["query"]
    events = f"/sessions/{id}/queries/{query}/events"
    told = live.client.post(events).text
    assert told.count("event: batch") == 1 and told.rstrip().endswith('data: {"error": null}')
    assert live.client.post(events).status_code == 404
    gone = live.client.get("/sessions/other/jobs")
    assert gone.status_code == 404 and "the server was started anew" in gone.json()["error"]["detail"]
    assert live.client.delete(f"/sessions/{id}").status_code == 204


def test_a_server_that_ends_is_told(tmp_path: Path) -> None:
    with live_server(tmp_path / "server") as live:
        session = RemoteSession(str(live.client.base_url), None)
        session.run(CLICKS, "sql", listener=Silent())
        query = session.run("SELECT id FROM clicks", "sql", listener=Silent())
        assert isinstance(query, RemoteQuery)
        seen = threading.Event()
        view = LineView(io.StringIO(), io.StringIO(), PLAIN)
        view.batch = lambda done: seen.set()  # type: ignore[method-assign]  # nothing else is asked
        query.start(view)
        assert seen.wait(SECONDS)
    assert query.ended.wait(SECONDS) and query.problem is not None
    with pytest.raises(HeadwaterError, match="no server answers at"):
        session.run("SHOW JOBS", "sql", listener=Silent())


def test_without_a_server_it_says_so() -> None:
    with pytest.raises(HeadwaterError, match="no server answers at"):
        RemoteSession("http://127.0.0.1:1", None)


def test_a_statement_that_is_too_long_is_refused(live: Live) -> None:
    id = live.client.post("/sessions").json()["id"]
    answer: httpx.Response = live.client.post(
        f"/sessions/{id}/statements", json={"statement": "-" * 1_000_001}
    )
    assert answer.status_code == 422
