"""Dashboards in a real Chromium: a chart is built from a view, kept in a file, and moves.

Oracle: the rows that were handed to the sources, and the file in the server's folder.
"""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from headwater.sources.values import STORES
from tests.console.stand import PATIENCE, Stand, until

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
    bars = {"view": "insurer.costs", "kind": "bar", "x": "animal", "y": "cost", "title": "", "width": 2}
    wanted = {"title": "<b>What animals cost</b>", "charts": [bars]}
    file = stand.folder / "dashboards" / "animals.json"
    # The title stands there while the width is still on its way to the file.
    until(lambda: json.loads(file.read_text()) == wanted, "the width is kept")
    # The rows themselves can stand beside it.
    page.goto("/console/views/insurer.costs")
    page.get_by_role("button", name="Add to dashboard").click()
    page.get_by_label("Dashboard").fill("animals")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("link", name="To the dashboard animals").click()
    expect(page.get_by_role("region", name="costs", exact=True).locator("td")).to_have_text(["Koala", "125"])
    sheet = bars | {"kind": "table", "width": 1}
    assert json.loads(file.read_text()) == wanted | {"charts": [bars, sheet]}


def put(folder: Path, name: str, text: str) -> Path:
    """A file as somebody copies it there."""
    folder = folder / "dashboards"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def test_what_another_tab_has_changed_is_not_lost(page: Page, stand: Stand) -> None:
    chart = {"view": "nobody.knows", "width": 2}
    file = put(stand.folder, "shared.json", json.dumps({"title": "Before", "charts": [chart]}))
    other = page.context.new_page()
    for one in (page, other):
        one.goto("/console/dashboards/shared")
        one.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("Ours")
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ours")
    other.get_by_role("button", name="Narrow").click()
    expect(other.get_by_role("alert")).to_contain_text("Dashboard 'shared' was changed meanwhile")
    expect(other.get_by_role("heading", level=1)).to_have_text("Ours")
    assert json.loads(file.read_text())["charts"][0]["width"] == 2
    # Whoever only looks on sees it too, also if somebody has put another file there.
    put(stand.folder, "shared.json", json.dumps({"title": "Theirs", "charts": []}))
    expect(page.get_by_role("heading", level=1)).to_have_text("Theirs")


def test_a_file_that_cannot_be_read_hides_no_other(page: Page, stand: Stand) -> None:
    put(stand.folder, "fine.json", '{"title": "Fine"}')
    put(stand.folder, "broken.json", '{"title": <script>alert(1)</script>}')
    page.goto("/console/dashboards")
    expect(page.get_by_role("link", name="Fine")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text('The dashboard in "broken.json" cannot be read')


def test_a_file_that_is_put_there_is_a_dashboard(page: Page, stand: Stand) -> None:
    file = put(stand.folder, "ours.json", '{"title": "Ours", "charts": [{"view": "nobody.knows"}]}')
    page.goto("/console/dashboards")
    page.get_by_role("link", name="Ours").click()
    expect(page.locator(".grid")).to_contain_text("nobody.knows does not run")
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    assert file.exists()
    page.get_by_role("button", name="Remove it now").click()
    expect(page).to_have_url(f"{stand.address}/console/dashboards")
    assert not file.exists()


@pytest.mark.jvm
def test_more_views_than_a_browser_has_connections_are_all_drawn(page: Page, stand: Stand) -> None:
    views = "".join(f"CREATE VIEW v{n} AS SELECT cost + {n} AS total FROM claims;" for n in range(8))
    stand.deploy("many", SCRIPT.partition("CREATE VIEW")[0] + views)
    STORES["many"].append({"claims": [("+", {"id": 1, "animal": "Emu", "cost": 40})]})
    stand.until_running("many")
    charts = [{"view": f"many.v{n}", "kind": "number", "y": "total"} for n in range(8)]
    saved = httpx.put(f"{stand.address}/dashboards/many", json={"charts": charts}, timeout=PATIENCE)
    assert saved.status_code == 200
    page.goto("/console/dashboards/many")
    expect(page.locator(".single .value")).to_have_text([str(40 + n) for n in range(8)])
    # All of them are drawn anew when a batch is done.
    STORES["many"].append({"claims": [("+", {"id": 2, "animal": "Emu", "cost": 10})]})
    expect(page.locator(".single .value")).to_have_text([str(50 + 2 * n) for n in range(8)])
    cuts = page.locator(".grid footer code").all_inner_texts()
    assert len(cuts) == 8 and len(set(cuts)) == 1


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
    assert httpx.put(f"{stand.address}/dashboards/{name}", json=body, timeout=PATIENCE).status_code == status
