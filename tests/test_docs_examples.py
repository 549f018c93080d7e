"""What the docs show can be done: their SQL compiles, their commands are understood, their Python runs.

Oracles: the compiler with types from sqlglot, the parser of the command line, the Makefile; for the README, Spark.
"""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

from headwater.cli.parser import build_parser
from headwater.errors import OptionError, SqlError
from headwater.runtime.compile import Compiler
from headwater.runtime.facts import BatchDone
from headwater.runtime.open import open_pipeline
from headwater.runtime.scope import Scope
from headwater.schema import Column, Schema
from headwater.sources.base import Report
from headwater.sources.values import STORES
from headwater.sql.script import parse_script
from headwater.sql.statements import Show, Statement, StopJob
from tests.operators.on_paper import PaperEngine

HOUSE = Path(__file__).parent.parent
PAGES = sorted([*HOUSE.glob("*.md"), *(HOUSE / "docs").rglob("*.md")])
_MEMBERS = Schema((Column("id", "int"), Column("insurance_company", "string")), ("id",))
COLUMNS = {
    "accident_claims": Schema((Column("claim_id", "int"),), ("claim_id",)),
    "rates": Schema((Column("currency", "string"), Column("rate", "double")), ("currency",)),
    "members": _MEMBERS,
    "pg.postgres.claims.members": _MEMBERS,
}
"""Columns of tables that the docs declare without any: those of a database that is not there."""

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HOUSE)))


def fenced(page: str, language: str) -> list[str]:
    """The fenced blocks of a language; none is the empty word."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def is_refused(statement: Statement) -> bool:
    """True for what docs/sql.md says is understood and refused in a script."""
    return isinstance(statement, StopJob) or (isinstance(statement, Show) and statement.what == "jobs")


def commands(page: str) -> list[list[str]]:
    """Every whole command line of ours: the lines of blocks, and words between backquotes."""
    # A backslash at the end of a line continues it.
    lines = [line for block in fenced(page, "") for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`((?:\.venv/bin/)?headwater [a-z][^`]*)`", page)
    found = [shlex.split(line) for line in lines if re.match(r"(\.venv/bin/)?headwater [a-z]", line)]
    return [words[1:] for words in found]


def is_understood(words: list[str]) -> bool:
    """True if the command line takes these words; a command's name alone stands for the command."""
    try:
        build_parser().parse_args(words)
    except SystemExit as left:
        return left.code == 0 or _is_name(words)
    return True


def _is_name(words: list[str]) -> bool:
    """True if the words name a command whose arguments are left out."""
    if any(word.startswith("-") for word in words):
        return False
    try:
        build_parser().parse_args([*words, "--help"])
    except SystemExit as left:
        return left.code == 0
    return False


def missing_targets(page: str, makefile: str) -> list[str]:
    """Targets that a page names and the Makefile does not have."""
    named = re.findall(r"`make ([a-z-]+)", page) + re.findall(
        r"^make ([a-z-]+)", "".join(fenced(page, "")), re.MULTILINE
    )
    return [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)]


@each_page
def test_the_sql_of_a_page_is_a_script_that_compiles(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in re.findall(r"\$\{env:(\w+)\}", page.read_text()):
        monkeypatch.setenv(name, "secret")
    compiler = Compiler(Scope(PaperEngine(cast(SparkSession, None), Path("nowhere")), COLUMNS))
    for block in fenced(page.read_text(), "sql"):
        for statement in parse_script(block):
            if is_refused(statement):
                with pytest.raises((SqlError, OptionError)):
                    compiler.take(statement)
            else:
                compiler.take(statement)
    assert compiler.program()


@each_page
def test_the_commands_of_a_page_are_understood(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [words for words in commands(page.read_text()) if not is_understood(words)] == []
    assert missing_targets(page.read_text(), (HOUSE / "Makefile").read_text()) == []


def test_the_transactions_of_the_values_page_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(STORES, "shop", raising=False)
    source, _ = fenced((HOUSE / "docs" / "connectors" / "values.md").read_text(), "python")
    exec(source, {})
    assert STORES["shop"].append({}).value == 3, "two were handed in before"


class Nobody:
    """Looks on and says nothing."""

    def report(self, report: Report) -> None:
        """Nothing."""

    def batch(self, done: BatchDone) -> None:
        """Nothing."""


@pytest.mark.jvm
def test_the_query_of_the_readme_follows_its_table(tmp_path: Path) -> None:
    (script,) = fenced((HOUSE / "README.md").read_text(), "sql")
    pipeline = open_pipeline(script, file="orders.sql", state=tmp_path, listener=Nobody())
    deadline = time.monotonic() + 200
    try:
        while not pipeline.rows("query_1").num_rows and time.monotonic() < deadline:
            pipeline.step(wait=1.0)
        rows = pipeline.rows("query_1").to_pylist()
    finally:
        pipeline.close()
    assert list(rows[0]) == ["customer", "total", "orders"]
    assert {row["customer"] for row in rows} <= {1, 2, 3, 4, 5}
    assert all(1 <= row["total"] / row["orders"] <= 100 for row in rows)


# Each rule, seen to fail.


def test_a_wrong_command_and_a_missing_target_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    page = "```\nheadwater fly --high\nmake nonsense\n```\n`headwater verify`, `make hay`\n"
    page += "`headwater run x.sql --twice`\n"
    wrong = [words for words in commands(page) if not is_understood(words)]
    assert wrong == [["fly", "--high"], ["run", "x.sql", "--twice"]]
    assert missing_targets(page, "test: check\n") == ["hay", "nonsense"]
