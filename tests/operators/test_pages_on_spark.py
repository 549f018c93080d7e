"""The examples of the operators' pages on the real engine.

Oracles: the page's own tables, the law, and Spark's analyser for what EXPLAIN prints.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwater.incremental.operators import OPERATORS
from headwater.runtime.inspect import explain_script
from tests.operators.on_paper import first_part
from tests.operators.page import Page, read_page
from tests.stories.story import Block, as_lines
from tests.stories.telling import Teller

pytestmark = pytest.mark.jvm

FOLDER = Path(__file__).parents[2] / "docs" / "operators"
PAGES = {operator.name: read_page((FOLDER / f"{operator.name}.md").read_text()) for operator in OPERATORS}

Told = tuple[str, str, tuple[str, ...]]


def with_names_of_its_own(page: Page, owner: str) -> Page:
    """The page with its tables called `owner_table`, so that all pages fit into one pipeline."""
    script, owner = page.script, owner.replace("-", "_")
    for name in page.tables:
        script = re.sub(rf"\b{name}\b", f"{owner}_{name}", script)
    tables = {f"{owner}_{name}": table for name, table in page.tables.items()}
    return Page(page.strategy, script, tables, page.maintained)


def changes(page: Page, *, first: bool) -> list[Told]:
    """`$ change` of each table of a page: all rows before the change, or the change itself."""
    told: list[Told] = []
    for name, table in page.tables.items():
        before = [("+", row) for row in table.before().elements()]
        if name != page.view:
            told.append(
                ("$", f"change {name}", lines(page, name, before if first else table.signed("-", "+")))
            )
    return told


def lines(page: Page, name: str, rows: list[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    return tuple(as_lines(["op", *page.tables[name].columns], [[sign, *row] for sign, row in rows]))


def test_the_examples_run_and_change_their_views_as_the_pages_say(tmp_path: Path) -> None:
    pages = [with_names_of_its_own(page, name) for name, page in PAGES.items()]
    step: Told = ("$", "step", ())
    told: list[Told] = [(">", page.script, ()) for page in pages]
    told += [one for page in pages for one in changes(page, first=True)]
    told.append(step)
    told += [one for page in pages for one in changes(page, first=False)]
    told.append(step)
    for page in pages:
        moved = page.tables[page.view].signed("-", "+")
        told.append(("$", f"changes {page.view}", lines(page, page.view, moved)))
    blocks = [
        Block(sign, text, expected, number, number) for number, (sign, text, expected) in enumerate(told)
    ]
    teller = Teller("as written", tmp_path)
    teller.tell(blocks)
    assert teller.moved


def test_explain_says_what_the_pages_show() -> None:
    for name, page in PAGES.items():
        said = first_part(explain_script(page.script, file=f"{name}.sql"), page.view)
        assert said == page.maintained, name
