"""What is typed and is no SQL. Oracle: what each text means, written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cli.client.commands import (
    Clear,
    Command,
    Help,
    Quit,
    Relations,
    Source,
    Sql,
    apart,
    command_of,
    is_command,
)
from headwater.errors import UsageError


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("quit", Quit()),
        ("EXIT;", Quit()),
        ("\\q", Quit()),
        (" clear ;", Clear()),
        ("HELP", Help()),
        ("\\?", Help()),
        ("\\d", Relations()),
        ("\\d clicks", Sql("DESCRIBE clicks")),
        ("\\d pg.public.clicks;", Sql("DESCRIBE pg.public.clicks")),
        ("\\d my-table", Sql("DESCRIBE `my-table`")),
        ("\\dt", Sql("SHOW TABLES")),
        ("\\dv", Sql("SHOW VIEWS")),
        ("\\dj", Sql("SHOW JOBS")),
        ("\\i 'a b.sql'", Source(Path("a b.sql"))),
        ("SOURCE 'a.sql';", Source(Path("a.sql"))),
        ("SELECT quit", None),
        ("CLEAR TABLE", None),
        ("", None),
    ],
)
def test_a_command_is_told_from_sql(text: str, command: Command | None) -> None:
    assert command_of(text) == command


def test_words_and_short_forms_are_whole_without_a_semicolon() -> None:
    assert is_command("quit") and is_command("\\d t") and is_command("HELP;")
    assert not is_command("SELECT 1") and not is_command("SOURCE 'a.sql'") and not is_command("")


@pytest.mark.parametrize(
    ("text", "hint"),
    [("\\dx", "Did you mean"), ("\\i", "Write \\i file.sql"), ("SOURCE a.sql;", "Write SOURCE 'file.sql';")],
)
def test_what_is_misspelt_is_explained(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as problem:
        command_of(text)
    assert hint in problem.value.hint


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("USE a;\n  \\d\nUSE b;", ["USE a", "\\d", "USE b"]),
        ("\\i it's--here.sql\nSELECT '\n\\d';", ["\\i it's--here.sql", "SELECT '\n\\d'"]),
        ("/* ;\n\\d */ USE a; \\dt", ["USE a", "\\dt"]),
        (" \n", []),
    ],
)
def test_a_short_form_ends_with_its_line(text: str, parts: list[str]) -> None:
    found = list(apart(text))
    assert [piece.text for piece in found] == parts
    assert [text[piece.start : piece.end] for piece in found] == parts
