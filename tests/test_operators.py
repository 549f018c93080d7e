"""One operator, three files: rule, page and story exist and name the same strategy; the README lists them all.

Oracles: the list of operators, EXPLAIN on the page's own example, and DuckDB for what the example's view holds.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path

import duckdb
import pytest
import sqlglot

from headwater.incremental.operators import OPERATORS, Operator
from headwater.plan.reasons import Reason
from headwater.schema import Schema
from tests.operators.on_paper import compile_on_paper, explain_on_paper, first_part
from tests.operators.page import Page, SmallTable, read_page, rewrite_maintained
from tests.stories.story import parse

HOUSE = Path(__file__).parent.parent
PAGES = HOUSE / "docs" / "operators"
STORIES = HOUSE / "tests" / "stories" / "operators"
BEGIN, END = "<!-- operators: made by make update -->\n", "<!-- end of operators -->\n"

each_operator = pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)


def page_of(operator: Operator) -> Page:
    return read_page((PAGES / f"{operator.name}.md").read_text())


def table_of_operators() -> str:
    """The table in the README."""
    lines = ["| operator | strategy | how it is kept true |", "|---|---|---|"]
    for operator in OPERATORS:
        link = f"[{operator.name}](docs/operators/{operator.name}.md)"
        lines.append(f"| {link} | {operator.strategy.value} | {operator.sentence} |")
    return "\n".join(lines) + "\n"


def told_strategies(story: Path) -> list[str]:
    """The strategies that the story's `$ explain` lines expect."""
    explained = [block for block in parse(story) if block.sign == "$" and block.text.startswith("explain ")]
    lines = [line for block in explained for line in block.expected]
    return re.findall(r"changes: ([a-z-]+)", "\n".join(lines))


def rows_by_duckdb(
    query: str, tables: dict[str, tuple[Schema, Counter[tuple[str, ...]]]]
) -> Counter[tuple[str, ...]]:
    """What a Spark query yields over small tables, computed by another engine."""
    with duckdb.connect() as engine:
        for name, (schema, rows) in tables.items():
            columns = ", ".join(f"{column.name} {column.type}" for column in schema)
            engine.execute(f"CREATE TABLE {name} ({columns})")
            for row in rows.elements():
                values = [None if cell == "NULL" else cell for cell in row]
                engine.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", values)
        found = engine.execute(sqlglot.transpile(query, read="spark", write="duckdb")[0]).fetchall()
    return Counter(tuple("NULL" if value is None else str(value) for value in row) for row in found)


@each_operator
def test_the_rule_exists(operator: Operator) -> None:
    assert importlib.util.find_spec(f"headwater.incremental.rules.{operator.rule}") is not None


def test_every_rule_serves_an_operator() -> None:
    rules = {path.stem for path in (HOUSE / "headwater" / "incremental" / "rules").glob("*.py")}
    serving = {"__init__", "sums"}  # sums is what the rule of aggregates stores
    assert rules - serving == {operator.rule for operator in OPERATORS}


@each_operator
def test_page_and_story_name_the_strategy_of_the_list(operator: Operator) -> None:
    assert page_of(operator).strategy == operator.strategy.value
    told = told_strategies(STORIES / f"{operator.name}.story")
    assert told and set(told) == {operator.strategy.value}


def test_every_page_belongs_to_an_operator() -> None:
    names = {operator.name for operator in OPERATORS}
    assert {path.stem for path in PAGES.glob("*.md")} == names | {"README"}


@each_operator
def test_the_page_shows_the_sql_that_maintains_its_example(
    operator: Operator, request: pytest.FixtureRequest
) -> None:
    page = page_of(operator)
    maintained = first_part(explain_on_paper(page.script), page.view)
    if request.config.getoption("--update"):
        rewrite_maintained(PAGES / f"{operator.name}.md", maintained)
        page = page_of(operator)
    assert page.maintained == maintained
    assert f"-- {page.view}: {operator.strategy.value}" in maintained


@each_operator
def test_the_example_of_the_page_is_true(operator: Operator) -> None:
    page = page_of(operator)
    program = compile_on_paper(page.script)
    assert set(page.tables) == {*program.tables, page.view}
    for name, table in program.tables.items():
        assert page.tables[name].columns == table.schema.names
    result, shown = program.results[page.view], page.tables[page.view]
    assert shown.columns == result.schema.names

    def computed(side: str) -> Counter[tuple[str, ...]]:
        given = {n: (t.schema, getattr(page.tables[n], side)()) for n, t in program.tables.items()}
        return rows_by_duckdb(result.query_text, given)

    assert shown.before() == computed("before")
    assert shown.after() == computed("after")
    gone, come = ({row for _, row in shown.signed(sign)} for sign in ("-", "+"))
    assert gone | come and not gone & come, "the example changes its view, and by nothing that cancels"


def test_the_readme_lists_the_operators(request: pytest.FixtureRequest) -> None:
    readme = HOUSE / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    shown, after = rest.split(END)
    if request.config.getoption("--update"):
        shown = table_of_operators()
        readme.write_text(before + BEGIN + shown + END + after)
    assert shown == table_of_operators(), "run make update"


def told_reasons(page: str) -> list[str]:
    """The first column of the table of reasons, without its head."""
    _, _, table = page.partition("\n## Reasons\n")
    return re.findall(r"^\| ([^|`]+?) \|", table, re.MULTILINE)[1:]


def test_the_page_of_recompute_explains_every_reason_and_no_other() -> None:
    told = told_reasons((PAGES / "recompute.md").read_text())
    assert Counter(told) == Counter(reason.value for reason in Reason)


# Seen to fail.


def test_a_wrong_example_is_seen() -> None:
    table = SmallTable(("a",), (("", ("1",)), ("-", ("2",)), ("+", ("NULL",))))
    schema = (
        compile_on_paper(
            "CREATE TABLE t (a INT) WITH ('connector' = 'values'); CREATE VIEW v AS SELECT a FROM t;"
        )
        .tables["t"]
        .schema
    )
    query = "SELECT t.a + 1 AS a FROM t AS t"
    assert rows_by_duckdb(query, {"t": (schema, table.before())}) == Counter([("2",), ("3",)])
    assert rows_by_duckdb(query, {"t": (schema, table.after())}) == Counter([("2",), ("NULL",)])


def test_a_story_that_tells_no_strategy_is_seen(tmp_path: Path) -> None:
    story = tmp_path / "x.story"
    story.write_text("# Nothing.\n> CREATE VIEW v AS SELECT 1;\n\n$ explain v\nv when t changes: linear\n")
    assert told_strategies(story) == ["linear"]
    story.write_text("# Nothing.\n$ step\n")
    assert told_strategies(story) == []


def test_a_reason_that_is_not_explained_is_seen() -> None:
    table = "| EXPLAIN says because of | for example |\n|---|---|\n"
    assert told_reasons(f"# recompute\n\n## Reasons\n\n{table}| PIVOT | `t PIVOT (a)` |\n") == ["PIVOT"]
    assert told_reasons("# recompute\n\n| PIVOT | `t` |\n") == []
