"""Docs that can be checked are checked.

Oracle: the code itself: registries, the parser of the command line, the statements, the modules. Every rule
is a function of text, so that the second half of this file can feed each one a text that breaks it.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cli.parser import build_parser
from headwater.options import options_of
from headwater.sinks.registry import SINK_TYPES
from headwater.sources.registry import SOURCE_TYPES
from headwater.sql.script import parse_script
from headwater.sql.statements import Statement

HOUSE = Path(__file__).parent.parent
DOCS = HOUSE / "docs"
CONNECTORS = DOCS / "connectors"

PAGES = sorted([*HOUSE.glob("*.md"), *DOCS.rglob("*.md")])

# Written in two halves, so that this file does not break its own rule.
FORBIDDEN = tuple(
    first + second
    for first, second in [("TO", "DO"), ("FIX", "ME"), ("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/")]
)

TEXTS = (".py", ".md", ".sql", ".toml", ".txt", ".story", ".sh")


def connector_options() -> dict[str, set[str]]:
    """Each connector and the names of all options it takes, as a source and as a sink."""
    found: dict[str, set[str]] = {}
    classes = [(name, kind.options) for name, kind in SOURCE_TYPES.items()]
    classes += [(name, kind.options) for name, kind in SINK_TYPES.items()]
    for name, options in classes:
        found.setdefault(name, set()).update(option.name for option, _ in options_of(options))
    return found


def missing_options(page: str, options: set[str]) -> list[str]:
    """Options that a connector's page does not name in backquotes."""
    return sorted(name for name in options if not re.search(rf"`'?{re.escape(name)}[^`]*`", page))


def commands(parser: argparse.ArgumentParser, name: str = "headwater") -> Iterator[tuple[str, list[str]]]:
    """Every command that can be typed, with its flags."""
    deeper = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in deeper:
        for word, inner in action.choices.items():
            yield from commands(inner, f"{name} {word}")
    if not deeper:
        flags = [flag for action in parser._actions for flag in action.option_strings]
        yield name, [flag for flag in flags if flag not in ("-h", "--help")]


def sections(page: str) -> dict[str, str]:
    """The text under each heading of the second level."""
    parts = re.split(r"^## +(.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def missing_commands(page: str, parser: argparse.ArgumentParser) -> list[str]:
    """Commands without a section of their own, and flags that are not in it."""
    missing = []
    for command, flags in commands(parser):
        text = next(
            (body for head, body in sections(page).items() if (head + " ").startswith(command + " ")), None
        )
        if text is None:
            missing.append(command)
            continue
        missing += [f"{command} {flag}" for flag in flags if not re.search(rf"`{re.escape(flag)}[ `]", text)]
    return missing


def sql_blocks(page: str) -> list[str]:
    """The fenced blocks of SQL."""
    return re.findall(r"^```sql\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def statements_without_example(page: str) -> list[str]:
    """Kinds of statement that no block of SQL shows; blocks that do not parse raise."""
    shown = {type(statement) for block in sql_blocks(page) for statement in parse_script(block)}
    return sorted(kind.__name__ for kind in Statement.__subclasses__() if kind not in shown)


def broken_links(page: str, folder: Path) -> list[str]:
    """Relative links that lead nowhere."""
    targets = re.findall(r"\]\(([^)\s]+)\)", page) + re.findall(r'(?:src|href)="([^"]+)"', page)
    local = [target for target in targets if not re.match(r"[a-z]+:|#", target)]
    return [target for target in local if not (folder / target.split("#")[0]).exists()]


def forbidden_words(text: str) -> list[str]:
    """Words that have no place in what we hand out."""
    return [word for word in FORBIDDEN if word in text]


def missing_stops(page: str) -> list[str]:
    """Functions and modules that the map names in backquotes and that do not exist."""
    named = re.findall(r"`(headwater/[\w/]+\.py)(?::(\w+(?:\.\w+)?))?`", page)
    missing = []
    for file, name in named:
        path = HOUSE / file
        if not path.exists() or (name and not defines(path.read_text(), name)):
            missing.append(f"{file}:{name}" if name else file)
    return missing


def defines(text: str, name: str) -> bool:
    """True if a module defines `function`, `Class` or `Class.method`."""
    body: list[ast.stmt] = ast.parse(text).body
    for part in name.split("."):
        found = next(
            (
                node
                for node in body
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and node.name == part
            ),
            None,
        )
        if found is None:
            return False
        body = found.body
    return True


def rooms() -> list[str]:
    """The rooms of the package."""
    return sorted(path.parent.name for path in (HOUSE / "headwater").glob("*/__init__.py"))


@pytest.mark.parametrize("connector", sorted(connector_options()))
def test_every_connector_has_a_page_that_names_its_options(connector: str) -> None:
    page = CONNECTORS / f"{connector}.md"
    assert page.exists()
    assert missing_options(page.read_text(), connector_options()[connector]) == []


def test_every_command_and_flag_is_explained() -> None:
    assert missing_commands((DOCS / "cli.md").read_text(), build_parser()) == []


def test_every_statement_has_an_example_that_parses() -> None:
    assert statements_without_example((DOCS / "sql.md").read_text()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HOUSE)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page.read_text(), page.parent) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HOUSE)))
def test_every_block_of_sql_parses(page: Path) -> None:
    for block in sql_blocks(page.read_text()):
        assert parse_script(block)


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [HOUSE / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        targets = re.findall(r"\]\(([^)\s:]+)\)", page.read_text())
        waiting += [page.parent / target.split("#")[0] for target in targets]
    assert sorted(str(p.relative_to(HOUSE)) for p in {p.resolve() for p in PAGES} - reached) == []


def test_the_map_names_functions_that_exist_and_every_room() -> None:
    page = (DOCS / "map.md").read_text()
    assert missing_stops(page) == []
    assert [room for room in rooms() if f"`{room}/`" not in page] == []


def test_nothing_forbidden_is_handed_out() -> None:
    folders = [HOUSE / name for name in ("headwater", "docs", "tests", "bench", ".ci")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in TEXTS]
    files += [path for path in HOUSE.iterdir() if path.suffix in TEXTS or path.name == "Makefile"]
    found = {str(path.relative_to(HOUSE)): forbidden_words(path.read_text()) for path in files}
    assert {path: words for path, words in found.items() if words} == {}


# Each rule, seen to fail.


def test_a_missing_option_is_seen() -> None:
    assert missing_options("`table-name` and `'url'`", {"table-name", "url", "driver"}) == ["driver"]


def test_a_missing_command_and_a_missing_flag_are_seen() -> None:
    parser = argparse.ArgumentParser()
    inner = parser.add_subparsers()
    inner.add_parser("fly").add_argument("--high")
    inner.add_parser("swim").add_argument("--deep")
    page = "## headwater fly\n`--low` and --high\n## headwater swimming\n"
    assert missing_commands(page, parser) == ["headwater fly --high", "headwater swim"]


def test_a_missing_statement_is_seen() -> None:
    missing = statements_without_example("```sql\nSELECT a FROM t;\n```\n")
    assert "CreateTable" in missing and "Select" not in missing


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    (tmp_path / "here.md").write_text("")
    page = "[a](here.md#x) [b](there.md) [c](https://example.com) [d](#here)"
    assert broken_links(page, tmp_path) == ["there.md"]


def test_a_forbidden_word_is_seen() -> None:
    assert forbidden_words(f"{FORBIDDEN[0]}: mend this") == [FORBIDDEN[0]]


def test_a_stop_that_does_not_exist_is_seen() -> None:
    page = "`headwater/errors.py:Place` `headwater/errors.py:fly` `headwater/nowhere.py`"
    assert missing_stops(page) == ["headwater/errors.py:fly", "headwater/nowhere.py"]
    assert missing_stops("`headwater/errors.py:HeadwaterError.to_json`") == []
    assert missing_stops("`headwater/errors.py:HeadwaterError.fly`") != []
