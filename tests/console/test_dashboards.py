"""Dashboards in a real Chromium: a chart is built from a view, kept in a file, and moves.

Oracle: the rows that were handed to the sources, and the file in the server's folder.
"""

from __future__ import annotations

import json

import httpx
import pytest
from playwright.sync_api import Page, expect

from headwater.sources.values import STORES
from tests.console.stand import Stand

SCRIPT = """
CREATE TABLE claims (id INT, animal STRING, cost INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE VIEW costs AS SELECT animal, SUM(cost) AS cost FROM claims GROUP BY animal;
"""


def claim(id: int, animal: str, cost: int) -> None:
    STORES["insurer"].append({"claims": [("+", {"id": id, "animal": animal, "cost": cost})]})


@pytest.mark.jvm
def test_a_chart_is_kept_in_a_file_and_follows_its_view(page: Page, stand: Stand) -> None:
    stand.deploy("insurer", SCRIPT)
    claim(1, "Koala", 100)
    stand.until_running("insurer")
    page.goto("/console/views/insurer.costs")
    page.get_by_role("button", name="Bar", exact=True).click()
    page.get_by_role("button", name="Add to dashboard").click()
    page.get_by_label("Dashboard").fill("animals")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("link", name="To the dashboard animals").click()
    koala = page.locator(".bar", has_text="Koala").locator(".bar-value")
    expect(koala).to_have_text("100")
    claim(2, "Koala", 25)
    expect(koala).to_have_text("125")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("<b>What animals cost</b>")
    page.get_by_role("button", name="Wide").click()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>What animals cost</b>")
    kept = json.loads((stand.folder / "dashboards" / "animals.json").read_text())
    chart = {"view": "insurer.costs", "kind": "bar", "x": "animal", "y": "cost", "title": "", "width": 2}
    assert kept == {"title": "<b>What animals cost</b>", "charts": [chart]}


def test_a_file_that_is_put_there_is_a_dashboard(page: Page, stand: Stand) -> None:
    folder = stand.folder / "dashboards"
    folder.mkdir(exist_ok=True)
    (folder / "ours.json").write_text('{"title": "Ours", "charts": [{"view": "nobody.knows"}]}')
    page.goto("/console/dashboards")
    page.get_by_role("link", name="Ours").click()
    expect(page.locator(".grid")).to_contain_text("nobody.knows does not run")
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page).to_have_url(f"{stand.address}/console/dashboards")
    assert not (folder / "ours.json").exists()


@pytest.mark.jvm
def test_more_views_than_a_browser_has_connections_are_all_drawn(page: Page, stand: Stand) -> None:
    views = "".join(f"CREATE VIEW v{n} AS SELECT SUM(cost) + {n} AS total FROM claims;" for n in range(8))
    stand.deploy("many", SCRIPT.replace("CREATE VIEW costs", f"{views} CREATE VIEW costs"))
    STORES["many"].append({"claims": [("+", {"id": 1, "animal": "Emu", "cost": 40})]})
    stand.until_running("many")
    charts = [{"view": f"many.v{n}", "kind": "number", "y": "total"} for n in range(8)]
    saved = httpx.put(f"{stand.address}/dashboards/many", json={"charts": charts}, timeout=60)
    assert saved.status_code == 200
    page.goto("/console/dashboards/many")
    expect(page.locator(".single .value")).to_have_text([str(40 + n) for n in range(8)])


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("..%2Fx", {"charts": []}, 404),
        (".hidden", {"charts": []}, 400),
        ("a", {"charts": [{"view": "v", "kind": "radar"}]}, 422),
        ("a", {"charts": [], "more": 1}, 422),
    ],
)
def test_what_is_no_dashboard_is_refused(stand: Stand, name: str, body: object, status: int) -> None:
    assert httpx.put(f"{stand.address}/dashboards/{name}", json=body).status_code == status
