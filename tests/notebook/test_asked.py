"""What stands behind the magics is understood, or refused in words of ours.

Oracle: the table of options of docs/notebook.md, and literal lines.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from headwater.errors import UsageError
from headwater.notebook.asked import cell_parser, line_parser, read_cell, read_words

PAGE = Path(__file__).parents[2] / "docs" / "notebook.md"


def flags(parser: argparse.ArgumentParser) -> set[str]:
    """All flags of a parser and of the words it takes."""
    found = set()
    for action in parser._actions:
        found |= set(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                found |= flags(inner)
    return found


def test_a_cell_without_options_shows_twenty_rows_twice_a_second() -> None:
    given = read_cell("")
    assert (given.rows, given.every, given.once, given.on, given.chart) == (20, 0.5, False, None, None)


def test_all_options_of_a_cell_are_read() -> None:
    given = read_cell("--name star --once --chart line --x day --y 'sum of all' --rows 5 --every 2")
    assert vars(given) == {
        "on": None,
        "name": "star",
        "once": True,
        "chart": "line",
        "x": "day",
        "y": "sum of all",
        "rows": 5,
        "every": 2.0,
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--rows 0", "not a number from 1 to 1000"),
        ("--rows many", "not a number from 1 to 1000"),
        ("--every 0", "not a number of seconds"),
        ("--name ../x", "no name"),
        ("--chart pie", "invalid choice"),
        ("--nam x", "unrecognized arguments"),
        ("--on shop --once", "--once does not go together with --on"),
        ("--x a", "--x and --y are for charts"),
        ("--name 'x", "does not end"),
    ],
)
def test_what_makes_no_sense_is_refused(line: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_cell(line)
    assert said in refused.value.message


@pytest.mark.parametrize("line", ["", "start", "drop", "services up nothing", "services"])
def test_words_that_are_not_known_are_refused(line: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_words(line_parser(), line)
    assert refused.value.hint.startswith("Write %headwater")


def test_every_option_and_word_is_explained() -> None:
    page = PAGE.read_text()
    missing = [
        f for f in sorted(flags(cell_parser()) | flags(line_parser())) if not re.search(rf"`{f}[ `]", page)
    ]
    words = [f"%headwater {word}" for word in ("status", "stop", "wait", "drop", "services")]
    assert missing + [word for word in words if f"`{word}" not in page] == []
