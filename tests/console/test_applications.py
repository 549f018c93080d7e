"""Applications in a real Chromium: written, mistaken, deployed, changed, rolled back.

Oracle: what the server says of versions and deployments, and the place at which its own error stands.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.console.stand import Stand

pytestmark = pytest.mark.jvm

FIRST = """CREATE TABLE orders (id BIGINT, pizza INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.pizza.min' = '1', 'fields.pizza.max' = '3'
);
CREATE VIEW sold AS SELECT pizza, COUNT(*) AS pieces FROM orders GROUP BY pizza;"""
SECOND = FIRST.replace("COUNT(*) AS pieces", "COUNT(*) AS pieces, MAX(id) AS last")


def write(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="SQL").fill(text)


def test_sql_with_a_mistake_is_underlined_and_then_deployed(page: Page, stand: Stand) -> None:
    page.goto("/")
    page.get_by_role("link", name="New application").click()
    page.get_by_label("Name").fill("pizza")
    write(page, FIRST.replace("GROUP BY", "GRUP BY"))
    page.get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("alert")).to_contain_text("Line 4")
    expect(page.locator(".behind .wrong")).to_be_visible()
    expect(page.locator(".lines .wrong")).to_have_text(re.compile("^4"))
    # By hand: names of the text complete themselves, and nothing that the page draws takes the keyboard away.
    editor = page.get_by_role("textbox", name="SQL")
    write(page, FIRST.rpartition("FROM")[0])
    editor.press("Control+End")
    editor.press_sequentially("FROM ord")
    expect(page.locator(".completion li")).to_have_text([re.compile("^orders"), re.compile("^ORDER")])
    editor.press("Tab")
    editor.press_sequentially(" GROUP BY pizza;")
    expect(editor).to_have_value(FIRST)
    page.get_by_role("button", name="Deploy").click()
    expect(page).to_have_url(re.compile("/console/pipelines/pizza$"))
    expect(page.locator("svg.graph .node")).to_have_count(2)
    expect(page.get_by_role("region", name="Batches").locator("tbody tr").first).to_be_visible()
    versions = stand.get("/applications/pizza/versions")["application_versions"]
    assert [one["statement"] for one in versions] == [FIRST]


def test_a_second_version_shows_what_changed_and_is_rolled_back(page: Page, stand: Stand) -> None:
    page.goto("/console/applications")
    page.get_by_role("link", name="pizza").click()
    page.get_by_role("link", name="Edit SQL").click()
    write(page, SECOND)
    page.get_by_role("button", name="Deploy").click()
    # The view is another one: what would be computed anew is told before anything is touched.
    expect(page.get_by_role("alert")).to_contain_text("computed anew: sold")
    page.get_by_role("button", name="Deploy it all the same").click()
    expect(page).to_have_url(re.compile("/console/pipelines/pizza$"))
    expect(page.get_by_role("region", name="Batches").locator("tbody tr").first).to_be_visible()
    page.goto("/console/applications/pizza")
    expect(page.locator(".diff .added")).to_contain_text("MAX(id) AS last")
    expect(page.locator(".diff .removed")).to_contain_text("COUNT(*) AS pieces FROM")
    page.get_by_role("button", name="Roll back").click()
    page.get_by_role("button", name="Deploy it all the same").click()
    deployed = page.get_by_role("region", name="Versions").locator("tr", has_text="deployed")
    expect(deployed).to_contain_text("Version 1")
    expect(page.locator("h1 + .state")).to_have_text("running")


def test_a_schedule_is_kept_and_shown(page: Page) -> None:
    page.goto("/console/new")
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("Runs").select_option("schedule")
    page.get_by_label("Every").fill("1 day")
    write(page, FIRST.replace("'fields.id.kind'", "'number-of-rows' = '5', 'fields.id.kind'"))
    page.get_by_role("button", name="Deploy").click()
    expect(page).to_have_url(re.compile("/console/pipelines/nightly$"))
    page.goto("/console/applications")
    expect(page.locator("tr", has_text="nightly")).to_contain_text("every 1 day")


def test_another_version_runs_when_the_one_before_did(page: Page, stand: Stand) -> None:
    page.goto("/console/applications/nightly/edit")
    expect(page.get_by_label("Every")).to_have_value("1 day")
    page.get_by_label("Runs").select_option("cron")
    page.get_by_label("Cron").fill("0 4 * * *")
    editor = page.get_by_role("textbox", name="SQL")
    editor.fill(f"-- The same once more.\n{editor.input_value()}")
    page.get_by_role("button", name="Deploy").click()
    expect(page).to_have_url(re.compile("/console/pipelines/nightly$"))
    page.goto("/console/applications/nightly")
    page.get_by_role("region", name="Versions").get_by_role("button", name="Deploy").click()
    deployments = page.get_by_role("region", name="Deployments").locator("tbody tr")
    expect(deployments).to_have_count(3)
    known = stand.get("/applications/nightly/deployments")["deployments"]
    assert [(one["version"], one["mode"], one["every"], one["cron"]) for one in known] == [
        (1, "schedule", "1 day", None),
        (2, "schedule", None, "0 4 * * *"),
        (1, "schedule", None, "0 4 * * *"),
    ]


def test_what_an_integration_fills_is_filled_in_the_next_version_too(page: Page, stand: Stand) -> None:
    stand.post("/integrations", {"name": "rows", "options": {"fields.id.kind": "sequence"}})
    [table, view] = FIRST.replace("'sequence'", "''").split(";\n")
    parts = {"statement": view, "sources": [{"create_table": table, "integration_id": "rows"}]}
    stand.post("/applications", {"name": "filled"})
    stand.post("/applications/filled/versions", parts)
    page.goto("/console/applications/filled/edit")
    expect(page.locator("header")).to_contain_text("filled from the integration rows")
    page.get_by_role("button", name="Deploy").click()
    expect(page).to_have_url(re.compile("/console/pipelines/filled$"))
    versions = stand.get("/applications/filled/versions")["application_versions"]
    assert versions[-1]["integration_id"] == "rows"
    # A text has one integration; parts with several are not thrown together.
    more = {"create_table": table.replace("orders", "others"), "integration_id": None}
    stand.post("/applications/filled/versions", parts | {"sinks": [more]})
    page.goto("/console/applications/filled/edit")
    expect(page.locator(".busy-note")).to_contain_text("over HTTP")
    expect(page.get_by_role("button", name="Deploy")).to_be_disabled()


def test_secrets_come_back_as_stars_and_are_not_saved_so(page: Page, stand: Stand) -> None:
    script = "CREATE TABLE t (id INT) WITH ('connector' = 'values', 'password' = 'x')".replace(
        "values", "jdbc"
    )
    script = script.replace("'password'", "'url' = 'jdbc:postgresql://h/d', 'table-name' = 't', 'password'")
    stand.post("/applications", {"name": "hidden"})
    stand.post("/applications/hidden/versions", {"statement": f"{script}; SELECT * FROM t"})
    page.goto("/console/applications/hidden/edit")
    expect(page.get_by_role("textbox", name="SQL")).to_have_value(re.compile(r"'password' = '\*\*\*'"))
    expect(page.get_by_role("button", name="Deploy")).to_be_disabled()
