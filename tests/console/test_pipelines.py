"""Overview and pipeline pages in a real Chromium.

Oracle: the rows that were handed to the sources, and the server's own word on each pipeline.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from headwater.server.records import FAILED, FINISHED, Application, Deployment, Version
from headwater.sources.values import STORES
from tests.console.stand import Stand, looking, standing

pytestmark = pytest.mark.jvm

EVIL = "<img src=x onerror=alert(1)>"

SHOP = f"""
CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE VIEW `{EVIL}` AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
CREATE TABLE kept (customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO kept SELECT customer, total FROM `{EVIL}` WHERE total > 10;
"""

AWAY = """
CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'postgres-cdc', 'hostname' = '127.0.0.1',
  'port' = '1', 'username' = '<b onclick=x>', 'password' = 'hidden', 'database-name' = 'd', 'table-name' = 't');
CREATE VIEW v AS SELECT COUNT(*) AS n FROM t;
"""


@pytest.fixture(scope="module", autouse=True)
def pipelines(stand: Stand) -> None:
    shop = stand.deploy("shop", SHOP)
    shop.append({"orders": [("+", {"id": 1, "customer": "ann", "total": 10})]})
    stand.deploy("away", AWAY, restart_enabled=False)
    stand.until_running("shop")


def test_problems_stand_first_and_a_change_moves_the_cut(page: Page, stand: Stand) -> None:
    page.goto("/")
    rows = page.locator("tbody tr.opens")
    expect(rows.nth(0)).to_contain_text(re.compile("away.*failed", re.DOTALL))
    expect(page.locator(".failure")).to_contain_text("Postgres at 127.0.0.1:1 does not answer")
    shop = page.locator("tbody tr.opens", has_text="shop")
    expect(shop).to_contain_text("running")
    totals = page.get_by_role("region", name="Totals")
    expect(totals).to_contain_text(
        re.compile(r"Busy cores\d+ of \d+Spark's memory[\d.]+ [KMG]B of [\d.]+ [KMG]B")
    )
    cut = shop.locator(".truth code")
    expect(cut).to_have_text(str(STORES["shop"].last))
    append_order(2, "bob", 5)
    expect(cut).to_have_text(str(STORES["shop"].last))


def test_a_node_of_the_graph_opens_its_sql_and_how_it_is_maintained(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="shop").click()
    expect(page).to_have_url(re.compile("/console/pipelines/shop$"))
    expect(page.locator("svg.graph .node")).to_have_count(3)
    page.locator("svg.graph").get_by_role("button", name=f"view {EVIL}").click()
    sheet = page.locator("section.panel", has=page.get_by_role("heading", name=EVIL))
    expect(sheet).to_contain_text("SUM(total) AS total FROM orders")
    expect(sheet.locator(".facts")).to_contain_text("linear")
    sheet.get_by_text("How it is maintained").click()
    expect(sheet.locator("details pre")).to_contain_text('when "orders" changes')
    # The page is drawn anew each second: what a visitor opened stays open.
    batches = page.locator("section[aria-label=Batches] tbody tr")
    before = batches.count()
    append_order(3, "cid", 7)
    expect(batches).to_have_count(before + 1)
    expect(sheet.locator("details pre")).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    expect(page.locator("svg.graph .node:focus")).to_contain_text("<img")


def test_verify_recomputes_every_result(page: Page) -> None:
    page.goto("/console/pipelines/shop")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status")).to_contain_text("True. 2 results were recomputed")


def test_a_result_that_is_not_true_is_named(page: Page) -> None:
    wrong = {"is_equal": False, "text": f"{EVIL}: 1 row is missing"}
    found = {"is_equal": False, "cut": "1", "results": [wrong, {"is_equal": True, "text": "kept"}]}
    page.route("**/pipelines/shop/verify", lambda route: route.fulfill(json=found))
    page.goto("/console/pipelines/shop")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("alert")).to_have_text(
        f"1 result differs from a recompute{EVIL}: 1 row is missing"
    )


def test_a_batch_that_was_repeated_says_so(page: Page) -> None:
    def repeated(route: Route) -> None:
        said = route.fetch().json()
        said["batches"][0]["is_repeat"] = True
        route.fulfill(json=said)

    page.route("**/batches?*", repeated)
    page.goto("/console/pipelines/shop/batches")
    expect(page.locator("tbody tr").first).to_contain_text("repeated")
    expect(page.locator("header .soft")).to_contain_text("1 was repeated")


def test_first_rows_on_their_way_are_counted(page: Page) -> None:
    coming = {"rows": 400, "total": 1600, "per_second": 100, "seconds_left": 12}
    table: dict[str, object] = {
        "name": EVIL,
        "columns": [],
        "versions": [],
        "last_event": None,
        "is_whole": False,
    }
    source = {
        "application": "shop",
        "source": "values a",
        "connector": "values",
        "position": None,
        "lag": None,
    }
    told = [source | {"retained": None, "tables": [table | {"snapshot": coming}]}]
    page.route(re.compile(r":\d+/sources$"), lambda route: route.fulfill(json={"sources": told}))
    page.goto("/console/sources")
    row = page.get_by_role("region", name="Source values a").locator("tbody tr")
    expect(row).to_contain_text(EVIL)
    expect(row.locator(".coming")).to_have_text("400 of 1,600100/s, 12.0 s left")


def test_what_changed_in_a_row_of_a_topic_has_all_its_digits(page: Page) -> None:
    value = {"op": "u", "before": {"id": 2**53, "name": EVIL}, "after": {"id": 2**53 + 1, "name": EVIL}}
    message = {"partition": 0, "offset": 7, "key": None, "at": None, "value": json.dumps(value)}
    body = f"data: {json.dumps(message)}\n\n"
    page.route("**/messages", lambda route: route.fulfill(body=body, content_type="text/event-stream"))
    page.goto("/console/sources/local/topic")
    seen = page.get_by_role("region", name="Messages").locator("li .said > code")
    expect(seen).to_have_text(f'id=9007199254740992 → 9007199254740993, name="{EVIL}"')


def test_batches_have_a_page_and_spark_has_its_own(page: Page) -> None:
    page.goto("/console/pipelines/shop")
    page.get_by_role("link", name="All batches").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Batches")
    expect(page.locator("tbody tr").first).to_contain_text(re.compile(r"\d+ ms|\d s"))
    page.goto("/")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Spark’s own pages").click()
    expect(opened.value.get_by_text("Spark Jobs").first).to_be_visible()


def test_a_pipeline_without_letters_says_how_they_come(page: Page) -> None:
    page.goto("/console/pipelines/shop/letters")
    expect(page.get_by_role("heading", name="Nothing is put aside")).to_be_visible()


def test_a_pipeline_stops_and_goes_on(page: Page, stand: Stand) -> None:
    page.goto("/console/pipelines/shop")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("h1 + .state")).to_have_text("stopped")
    assert stand.status("shop") == "CANCELED"
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("h1 + .state")).to_have_text("running")
    expect(page.locator("svg.graph .node")).to_have_count(3)


def test_keys_lead_from_page_to_page_and_turn_the_light_off(page: Page) -> None:
    page.goto("/console/pipelines/shop")
    page.get_by_role("heading", name="shop").wait_for()
    page.keyboard.press("t")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("g")
    page.keyboard.press("o")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_a_narrow_screen_needs_no_scrolling_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 380, "height": 700})
    pages = (
        "sources",
        "applications",
        "applications/shop",
        "new",
        "views",
        "views/shop.orders",
        "dashboards",
        "sql",
    )
    shop = (f"pipelines/shop{more}" for more in ("", "/batches", "/letters", "?node=kept"))
    for address in ("/", *(f"/console/{one}" for one in (*pages, *shop))):
        page.goto(address)
        page.get_by_role("heading", level=1).wait_for()
        page.locator(".panel").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 380, address


def test_many_pipelines_are_sorted_and_filtered(browser: Browser, tmp_path: Path) -> None:
    with standing(tmp_path / "many") as many:
        assert many.running is not None
        store = many.running.server.store
        for number in range(100):
            application = store.add(Application(f"shop-{number:02}"))
            version = store.add(Version(application.id, 1, {"statement": "SELECT 1"}, "local"))
            status = FAILED if number == 50 else FINISHED
            problem = {"message": EVIL, "detail": "", "hint": "", "place": None} if number == 50 else None
            store.add(Deployment(application.id, version.id, status=status, problem=problem))
        with looking(browser, many.address) as page:
            page.goto("/")
            rows = page.locator("tbody tr.opens")
            expect(rows).to_have_count(100)
            expect(rows.first).to_contain_text("shop-50")
            expect(page.get_by_role("alert")).to_contain_text(EVIL)
            page.keyboard.press("/")
            page.keyboard.type("shop-9")
            expect(rows).to_have_count(10)


def append_order(id: int, customer: str, total: int) -> None:
    STORES["shop"].append({"orders": [("+", {"id": id, "customer": customer, "total": total})]})
