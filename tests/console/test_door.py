"""The console's door: who may see, and what a browser is allowed to run.

Oracle: the tokens the server was given, and what Chromium itself refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from headwater.console.pages import ASSETS
from headwater.options import Secret
from headwater.server.access import Access
from tests.console.stand import PATIENCE, Stand, looking, standing

TOKEN, READER = "t&=k n%", "only-looks"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    access = Access({"ann": Secret(TOKEN)}, {"bob": Secret(READER)})
    with standing(tmp_path_factory.mktemp("door") / "server", access) as made:
        yield made


@pytest.fixture
def outside(browser: Browser, guarded: Stand) -> Iterator[Page]:
    with looking(browser, guarded.address) as page:
        yield page


def test_a_token_is_asked_for_and_kept_where_no_script_reads_it(outside: Page) -> None:
    outside.goto("/")
    outside.get_by_label("Token").fill("guessed")
    outside.get_by_role("button", name="Enter").click()
    expect(outside.get_by_role("alert")).to_contain_text("This token is not known")
    outside.get_by_label("Token").fill(TOKEN)
    outside.get_by_role("button", name="Enter").click()
    expect(outside.get_by_role("heading", name="No pipeline yet")).to_be_visible()
    [cookie] = outside.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert outside.evaluate("document.cookie") == ""
    outside.reload()
    expect(outside.get_by_role("heading", name="No pipeline yet")).to_be_visible()
    outside.get_by_role("button", name="Leave").click()
    expect(outside.get_by_label("Token")).to_be_visible()
    assert outside.context.cookies() == []


def test_a_cookie_alone_changes_nothing(guarded: Stand) -> None:
    # A page of another site can make a browser send the cookie, but not the header.
    with httpx.Client(base_url=guarded.address, timeout=PATIENCE) as client:
        client.post("/console/login", json={"token": TOKEN}, headers={"X-Headwater-Console": "1"})
        assert client.get("/applications").status_code == 200
        assert client.post("/applications", json={"name": "forged"}).status_code == 403
        ours = client.post("/applications", json={"name": "ours"}, headers={"X-Headwater-Console": "1"})
        assert ours.status_code == 201
        assert client.post("/console/logout").status_code == 403
        assert client.get("/applications").status_code == 200
        client.post("/console/logout", headers={"X-Headwater-Console": "1"})
        assert client.get("/applications").status_code == 401


def test_who_may_only_read_changes_nothing(guarded: Stand) -> None:
    header = {"X-Headwater-Console": "1"}
    with httpx.Client(base_url=guarded.address, headers=header, timeout=PATIENCE) as client:
        assert client.post("/console/login", json={"token": READER}).json() == {"is_known": True}
        assert client.get("/pipelines").status_code == 200
        assert client.post("/applications", json={"name": "read"}).status_code == 403


def test_who_may_only_read_is_told_so(outside: Page, guarded: Stand) -> None:
    folder = guarded.folder / "dashboards"
    folder.mkdir(exist_ok=True)
    (folder / "kept.json").write_text('{"title": "Kept"}')
    outside.goto("/console/dashboards/kept")
    outside.get_by_label("Token").fill(READER)
    outside.get_by_role("button", name="Enter").click()
    outside.get_by_role("button", name="Edit").click()
    outside.get_by_role("button", name="Remove").click()
    outside.get_by_role("button", name="Remove it now").click()
    expect(outside.get_by_role("alert")).to_contain_text("This token may only read")
    assert (folder / "kept.json").exists()
    # An address that somebody has mistyped is no reason to show nothing.
    outside.goto("/console/dashboards/100%")
    expect(outside.get_by_role("alert")).to_contain_text("'100%' cannot be the name of a dashboard")


def test_nothing_but_our_own_files_may_run(outside: Page) -> None:
    answer = outside.goto("/")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy and "unsafe" not in policy and "trusted-types 'none'" in policy
    with pytest.raises(Exception, match="TrustedHTML"):
        outside.evaluate("document.body.innerHTML = '<b>x</b>'")


def test_a_link_leads_to_this_server_only(outside: Page) -> None:
    outside.goto("/")
    asked = ["/console/sql", "//evil.example", "/\\evil.example", "/\t/evil.example", "javascript:alert(1)"]
    made = outside.evaluate(
        """async (asked) => {
          const { h } = await import("/console/assets/dom.js");
          return asked.map((href) => h("a", { href }).getAttribute("href"));
        }""",
        asked,
    )
    assert made == ["/console/sql", "#", "#", "#", "#"]


def test_files_are_served_by_their_names_only(guarded: Stand) -> None:
    with httpx.Client(base_url=f"{guarded.address}/console/", timeout=PATIENCE) as client:
        assert client.get("assets/main.js").headers["content-type"].startswith("text/j")
        for path in ("assets/nowhere.js", "assets/..%2fpages.py", "assets/fonts"):
            assert client.get(path).status_code == 404, path


def test_assets_ask_nobody_else_and_make_no_html() -> None:
    texts = {
        path.name: path.read_text() for path in ASSETS.rglob("*") if path.suffix in (".js", ".css", ".html")
    }
    outside = {
        name
        for name, text in texts.items()
        if re.search(r"(?<!www\.w3\.org/2000/svg)https?://(?!www\.w3\.org)", text)
    }
    html = {
        name for name, text in texts.items() if re.search(r"innerHTML|outerHTML|insertAdjacent|eval\(", text)
    }
    assert (outside, html) == (set(), set())
