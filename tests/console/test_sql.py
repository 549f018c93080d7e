"""The SQL page in a real Chromium.

Oracle: the rows that were handed to the sources, and the place of the mistake in the text.
"""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from headwater.sources.values import STORES
from tests.console.stand import PATIENCE, Stand, until

EVIL = "<img src=x onerror=alert(5)>"

SCRIPT = """
CREATE TABLE claims (id INT, animal STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE VIEW named AS SELECT id, animal FROM claims;
"""


def claim(id: int, animal: str) -> None:
    STORES["zoo"].append({"claims": [("+", {"id": id, "animal": animal})]})


@pytest.mark.jvm
def test_two_questions_are_answered_side_by_side_and_again(page: Page, stand: Stand) -> None:
    stand.deploy("zoo", SCRIPT)
    claim(1, "<i>Koala</i>")
    stand.until_running("zoo")
    until(lambda: is_ready(stand), "the view has its rows")
    page.goto("/console/sql")
    page.get_by_role("textbox", name="SQL").fill(
        "SELECT animal FROM zoo.named;\nSELECT COUNT(*) AS n FROM claims"
    )
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("region", name="Answer 1").locator("td")).to_have_text("<i>Koala</i>")
    cuts = page.locator(".truth code").all_inner_texts()
    assert len(cuts) == 2 and len(set(cuts)) == 1
    page.get_by_role("button", name="Live: off").click()
    claim(2, "Emu")
    expect(page.get_by_role("region", name="Answer 2").locator("td")).to_have_text("2")
    page.get_by_role("button", name="Live: on").click()
    page.get_by_role("textbox", name="SQL").fill("SELECT animal\nFROM named\nWERE id = 1")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator(".behind .wrong").first).to_be_visible()
    # A name in an error is shown, and does not run.
    page.get_by_role("textbox", name="SQL").fill(f"SELECT `{EVIL}` FROM zoo.named")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text(EVIL)
    # What was begun is completed: keywords, relations, and behind a dot the columns of one.
    editor = page.get_by_role("textbox", name="SQL")
    editor.fill("")
    editor.press_sequentially("SELE")
    expect(page.get_by_role("option").first).to_contain_text("SELECT")
    editor.press("Tab")
    editor.press_sequentially(" named.an")
    expect(page.get_by_role("option")).to_have_text([re.compile("^animal")])
    editor.press("Enter")
    editor.press_sequentially(" FROM zoo.nam")
    editor.press("Enter")
    expect(editor).to_have_value("SELECT named.animal FROM zoo.named")
    expect(page.get_by_role("listbox")).to_be_hidden()


def is_ready(stand: Stand) -> bool:
    return any(one["name"] == "named" and one["is_ready"] for one in stand.get("/views")["views"])


@pytest.mark.parametrize("sql", ["DROP VIEW named", "CREATE TABLE t (id INT) WITH ('connector' = 'values')"])
def test_only_questions_are_taken(stand: Stand, sql: str) -> None:
    answer = httpx.get(f"{stand.address}/queries", params={"sql": sql}, timeout=PATIENCE)
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "only SELECT can be asked here")
