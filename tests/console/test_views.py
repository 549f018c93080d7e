"""Views in a real Chromium: rows as they change, and charts of them.

Oracle: the rows that were handed to the sources, added up by hand.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from headwater.sources.values import STORES
from tests.console.stand import Stand

pytestmark = pytest.mark.jvm

EVIL = "<img src=x onerror=alert(3)>"

SHOP = f"""
CREATE TABLE orders (id INT, customer STRING, total DECIMAL(20, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values');
CREATE VIEW totals AS SELECT customer, SUM(total) AS `{EVIL}` FROM orders GROUP BY customer;
"""


@pytest.fixture(scope="module", autouse=True)
def shop(stand: Stand) -> None:
    stand.deploy("shop", SHOP)
    told(("+", 1, "ann", "9007199254740993.50"), ("+", 2, f"{EVIL}<script>alert(4)</script>", "5"))
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
    told(("u", 1, "ann", "12.25"), ("+", 3, "bob", "7"))
    expect(ann.locator("td.flash")).to_have_text("12.25")
    expect(page.locator("section[aria-label=Changes] li.went")).to_contain_text("9,007,199,254,740,993.50")
    expect(page.locator(".truth")).to_contain_text(re.compile(r"batch \d+ · (just now|\d+ s ago) · 3 rows"))
    told(("-", 3, "bob", "7"))
    expect(page.locator("table.live tr.gone")).to_contain_text("bob")
    expect(page.locator(".truth")).to_contain_text("2 rows")


def test_a_chart_takes_one_click_and_its_address_can_be_kept(page: Page) -> None:
    told(("+", 4, "cid", "30"))
    page.goto("/console/views/shop.totals")
    for kind, drawn in (("Bar", ".barlist .bar"), ("Pie", ".pie circle"), ("Line", ".linechart polyline")):
        page.get_by_role("button", name=kind, exact=True).click()
        expect(page.locator(drawn).first).to_be_visible()
    page.get_by_role("button", name="Bar", exact=True).click()
    expect(page.locator(".barlist .bar", has_text="cid").locator(".bar-value")).to_have_text("30.00")
    page.reload()
    expect(page.locator(".barlist .bar", has_text="cid")).to_be_visible()
    page.get_by_role("button", name="Number", exact=True).click()
    expect(page.locator(".single .value")).not_to_be_empty()


def test_rows_are_filtered_and_sorted(page: Page) -> None:
    page.goto("/console/views/shop.totals")
    page.locator("table.live tbody tr").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("ann")
    expect(page.locator("table.live tbody tr")).to_have_count(1)
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="customer").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("customer")


def test_a_view_of_a_pipeline_that_ends_says_so(page: Page, stand: Stand) -> None:
    page.goto("/console/views/shop.totals")
    page.locator("table.live tbody tr").first.wait_for()
    stand.post("/applications/shop/deployments/latest/stop", {})
    expect(page.locator(".busy-note")).to_contain_text("These are the rows at its last cut")
    expect(page.locator("table.live")).to_contain_text("ann")
