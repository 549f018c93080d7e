"""Views in a real Chromium: rows as they change, and charts of them.

Oracle: the rows that were handed to the sources, added up by hand.
"""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from headwater.sources.values import STORES
from tests.console.stand import Glimpses, Stand

pytestmark = pytest.mark.jvm

EVIL = "<img src=x onerror=alert(3)>"
LONG = "</h1><script>alert(6)</script>"
"""The name of a view with more rows than one event has; a / is in it."""

SHOP = f"""
CREATE TABLE orders (id INT, customer STRING, total DECIMAL(20, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values');
CREATE VIEW totals AS SELECT customer, SUM(total) AS `{EVIL}` FROM orders GROUP BY customer;
CREATE VIEW doubled AS SELECT 'same' AS grade, customer, total * 2 AS total FROM orders WHERE id >= 20;
CREATE TABLE numbers (n INT, half DOUBLE, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'values');
CREATE VIEW `{LONG}` AS SELECT n, half FROM numbers;
"""


@pytest.fixture(scope="module", autouse=True)
def shop(stand: Stand) -> None:
    stand.deploy("shop", SHOP)
    told(("+", 1, "ann", "9007199254740993.50"), ("+", 2, f"{EVIL}<script>alert(4)</script>", "5"))
    STORES["shop"].append({"numbers": [("+", {"n": n, "half": n / 2}) for n in range(1500)]})
    stand.until_running("shop")


def told(*changes: tuple[str, int, str, str]) -> None:
    """One transaction of orders."""
    rows = [(sign, {"id": id, "customer": customer, "total": total}) for sign, id, customer, total in changes]
    STORES["shop"].append({"orders": rows})


def test_a_changed_cell_lights_up_and_a_row_that_goes_fades(page: Page) -> None:
    page.goto("/console/views")
    page.get_by_role("link", name="totals").click()
    ann = page.locator("table.live tr", has_text="ann")
    # More digits than a number of JavaScript has: all of them are shown.
    expect(ann.locator("td").nth(1)).to_have_text("9,007,199,254,740,993.50")
    expect(page.locator("table.live")).to_contain_text(f"{EVIL}<script>alert(4)</script>")
    expect(page.locator("td.flash")).to_have_count(0)
    flashed, gone = Glimpses(page, "td.flash"), Glimpses(page, "table.live tr.gone")
    told(("u", 1, "ann", "12.25"), ("+", 3, "bob", "7"))
    flashed.until_seen("12.25")
    expect(page.locator("section[aria-label=Changes] li.went")).to_contain_text("9,007,199,254,740,993.50")
    expect(page.locator(".truth")).to_contain_text(re.compile(r"batch \d+ · (just now|\d+ s ago) · 3 rows"))
    assert flashed.texts == {"12.25", "bob", "7.00"}
    told(("-", 3, "bob", "7"))
    gone.until_seen("bob7.00")
    expect(page.locator(".truth")).to_contain_text("2 rows")


def test_a_chart_takes_one_click_and_its_address_can_be_kept(page: Page) -> None:
    told(("+", 4, "cid", "30"))
    page.goto("/console/views/shop.totals")
    drawings = {"Bar": ".barlist .bar", "Pie": ".pie circle", "Line": ".linechart polyline"}
    for kind, drawn in (drawings | {"Area": ".linechart .fill"}).items():
        page.get_by_role("button", name=kind, exact=True).click()
        expect(page.locator(drawn).first).to_be_visible()
    page.get_by_role("button", name="Bar", exact=True).click()
    # Who cannot see the bars is told what they say.
    cid = page.get_by_role("list", name="by customer").get_by_role("listitem").filter(has_text="cid")
    expect(cid.locator(".bar-value")).to_have_text("30.00")
    page.reload()
    expect(page.locator(".barlist .bar", has_text="cid")).to_be_visible()
    page.get_by_role("button", name="Number", exact=True).click()
    expect(page.locator(".single .value")).not_to_be_empty()


def test_a_view_of_many_rows_begins_without_changes_and_tells_how_many_are_drawn(page: Page) -> None:
    page.goto("/console/views")
    page.get_by_role("link", name=LONG).click()
    expect(page.locator(".truth")).to_contain_text("1,500 rows")
    expect(page.locator("table.live tbody tr").nth(1)).to_have_text("10.5")
    expect(page.get_by_role("region", name="Changes")).to_contain_text("They appear here")
    expect(page.locator("td.flash")).to_have_count(0)
    # Of a table the first rows are shown; its number is that of all, or says that it is not.
    page.goto("/console/views/shop.numbers")
    expect(page.locator(".truth")).to_contain_text("the first 300 rows; there are more")
    page.get_by_role("button", name="Number", exact=True).click()
    expect(page.locator(".single")).to_have_text("562,125half, all 1,500 rows")


def test_an_age_is_that_of_the_cut_whatever_the_time_in_the_browser(page: Page) -> None:
    head = {"content-type": "text/event-stream", "date": "Thu, 01 Jan 2026 11:00:00 GMT"}
    said = {"cut": "1", "batch": 7, "at": "2026-01-01T10:00:00Z", "anew": True, "more": False, "changes": []}
    body = f"id: 7@1\nevent: changes\ndata: {json.dumps(said)}\n\n"

    def an_hour_later(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, headers=answer.headers | {"date": head["date"]})

    page.route("**/views", an_hour_later)
    page.route("**/changes?*", lambda route: route.fulfill(body=body, headers=head))
    page.goto("/console/views/shop.totals")
    expect(page.locator(".truth")).to_contain_text("batch 7 · 1 h ago")


def test_rows_are_filtered_and_sorted(page: Page) -> None:
    page.goto("/console/views/shop.totals")
    page.locator("table.live tbody tr").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("ann")
    expect(page.locator("table.live tbody tr")).to_have_count(1)
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="customer").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("customer")


def test_a_row_that_changes_keeps_its_place_among_equal_ones(page: Page) -> None:
    told(("+", 20, "gil", "70"), ("+", 21, "hal", "70"), ("+", 22, "ida", "70"))
    page.goto("/console/views/shop.doubled")
    page.get_by_role("button", name="grade").click()
    rows = page.locator("table.live tbody tr", has_text="same")
    expect(rows).to_contain_text(["gil", "hal", "ida"])
    told(("u", 20, "gil", "71"))
    expect(rows.first.locator("td.flash")).to_have_text("142.00")
    expect(rows).to_contain_text(["gil", "hal", "ida"])


def test_a_view_of_a_pipeline_that_ends_says_so(page: Page, stand: Stand) -> None:
    page.goto("/console/views/shop.totals")
    page.locator("table.live tbody tr").first.wait_for()
    stand.post("/applications/shop/deployments/latest/stop", {})
    expect(page.locator(".busy-note")).to_have_text("stoppedThese are the rows at its last cut.")
    expect(page.locator("table.live")).to_contain_text("ann")
    # Nobody has to load the page again when it goes on.
    stand.post("/applications/shop/deployments/latest/resume", {})
    expect(page.locator("h1 + .state")).to_have_text("live")
    told(("+", 8, "dan", "3"))
    expect(page.locator("table.live tr", has_text="dan")).to_contain_text("3.00")
    expect(page.locator(".busy-note")).to_have_count(0)


def test_a_server_that_comes_back_is_followed_on(page: Page, stand: Stand) -> None:
    assert stand.running is not None
    page.goto("/console/views/shop.totals")
    page.locator("table.live tr", has_text="ann").wait_for()
    overview = page.context.new_page()
    overview.goto("/")
    overview.locator("tr.opens", has_text="running").wait_for()
    stand.running.stop()
    expect(page.locator(".busy-note")).to_contain_text("The server does not answer")
    expect(overview.locator(".trouble-note")).to_contain_text("The server does not answer")
    stand.running.start()
    expect(page.locator("h1 + .state")).to_have_text("live")
    expect(page.locator(".busy-note")).to_have_count(0)
    expect(overview.locator(".trouble-note .failure")).to_have_count(0)
    told(("+", 9, "eve", "4"))
    expect(page.locator("table.live tr", has_text="eve")).to_contain_text("4.00")
