"""The table of what people write and what it is kept as. Oracle: the table itself, against what is compiled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwater.incremental.differentiate import differentiate
from tests.operators.on_paper import compile_on_paper

PAGES = Path(__file__).parents[2] / "docs" / "operators"
ROW = re.compile(r"^\| (.+?) \| `(.+)` \| ([a-z-]+) \| \[([a-z-]+)\]\(\4\.md\) \|$", re.MULTILINE)
TABLE = (PAGES / "README.md").read_text().partition("| you write |")[2].partition("\n\n")[0]
ROWS = ROW.findall(TABLE)
TABLES = """
CREATE TABLE orders (
  id INT, customer STRING, total INT, placed TIMESTAMP_LTZ, tags ARRAY<STRING>, PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'values');
CREATE TABLE customers (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'values');
"""


def test_every_row_of_the_table_is_read() -> None:
    assert len(ROWS) == len(TABLE.splitlines()) - 2


def test_every_operator_is_what_something_is_kept_as() -> None:
    assert {page for *_, page in ROWS} == {path.stem for path in PAGES.glob("*.md")} - {"README"}


@pytest.mark.parametrize(("query", "strategy"), [row[1:3] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_is_written_is_kept_as_the_table_says(query: str, strategy: str) -> None:
    view = compile_on_paper(f"{TABLES}CREATE VIEW kept AS {query};").views["kept"]
    assert differentiate(view.maintained, {view.block.inputs[0]}).strategy.value == strategy
