"""The page about SQL says what the code does.

Oracle: the code's own tables of types and of statements without a body.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwater.sql.cursor import RESERVED_ENDINGS
from headwater.sql.refusals import KNOWN
from headwater.sql.script import PARSERS, parse_script
from headwater.sql.statements import CreateTable
from headwater.sql.types import REFUSED, TYPES

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
ROWS = [line.split("|")[1:3] for line in PAGE.splitlines() if line.startswith("| `") and "${" not in line]


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_has_its_row(kind: str) -> None:
    assert any(re.search(rf"\b{kind}\b", written) for written, _ in ROWS)


def test_every_row_of_types_is_true() -> None:
    stand_ins = {
        "(p, s)": "(4,2)",
        "(p,s)": "(4,2)",
        "(n)": "(3)",
        "(p)": "(3)",
        "...": "z INT",
        "<t>": "<INT>",
    }
    for written, spark in ROWS:
        for name in re.findall(r"`([A-Z][^`]*)`", written):
            if name in ("WITHOUT TIME ZONE", "t ARRAY"):
                continue
            for sign, text in stand_ins.items():
                name = name.replace(sign, text)
            name = re.sub(r"\bt\b", "INT", name).replace("k, v", "INT, INT")
            (statement,) = parse_script(f"CREATE TABLE x (c {name})")
            assert isinstance(statement, CreateTable) and statement.columns is not None
            assert statement.columns[0].type.split("<")[0].split("(")[0] in spark


@pytest.mark.parametrize("word", [*PARSERS, *RESERVED_ENDINGS, "MULTISET", "RAW", "INTERVAL"])
def test_every_statement_and_reserved_name_is_on_the_page(word: str) -> None:
    assert word in PAGE or word == "DESC"


def test_what_the_page_calls_not_there_yet_is_refused() -> None:
    named = re.findall(r"`([A-Z ]+)`", PAGE.rpartition("## Statements that are not there yet")[2])
    known = [name for name, _ in KNOWN]
    assert named and all(any(name.startswith(refused) for refused in known) for name in named)
    assert {"MULTISET", "RAW", "INTERVAL"} <= set(REFUSED)
