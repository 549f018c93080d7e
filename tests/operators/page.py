"""An operator's page, taken apart: strategy, example, small tables, the SQL that maintains it.

In the tables a row without a sign stays, `-` goes, `+` comes; so one table tells what was before and what is after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SIGNS = ("", "-", "+")


@dataclass(frozen=True)
class SmallTable:
    """A table of the example: its columns, and its rows with their signs."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]

    def before(self) -> Counter[tuple[str, ...]]:
        """The rows before the change."""
        return Counter(row for sign, row in self.rows if sign != "+")

    def after(self) -> Counter[tuple[str, ...]]:
        """The rows after it."""
        return Counter(row for sign, row in self.rows if sign != "-")

    def signed(self, *signs: str) -> list[tuple[str, tuple[str, ...]]]:
        """The rows with one of these signs."""
        return [(sign, row) for sign, row in self.rows if sign in signs]


@dataclass(frozen=True)
class Page:
    """The parts of a page; the view of the example is the last relation its script declares."""

    strategy: str
    script: str
    tables: Mapping[str, SmallTable]
    maintained: str

    @property
    def view(self) -> str:
        """The name of the example's view."""
        return str(re.findall(r"CREATE VIEW (\w+)", self.script)[-1])


_MAINTAINED = re.compile(r"(?<=\n## The SQL it compiles to\n\n```\n).*?(?=\n```\n)", re.DOTALL)


def read_page(text: str) -> Page:
    """Take a page apart; a part that is missing raises."""
    (strategy,) = re.findall(r"^\*\*Strategy: ([a-z-]+)\.\*\*", text, re.MULTILINE)
    (script,) = re.findall(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    named = re.findall(r"^`(\w+)`[^\n]*:\n\n((?:\|.*\n)+)", text, re.MULTILINE)
    (maintained,) = _MAINTAINED.findall(text)
    return Page(strategy, script, {name: _table(lines) for name, lines in named}, maintained)


def rewrite_maintained(path: Path, maintained: str) -> None:
    """Put the SQL that maintains the example's view now in the place of the old."""
    path.write_text(_MAINTAINED.sub(lambda _: maintained, path.read_text()))


def _table(lines: str) -> SmallTable:
    head, _, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines()]
    assert head[0] == "op" and all(row[0] in SIGNS for row in body)
    return SmallTable(tuple(head[1:]), tuple((row[0], tuple(row[1:])) for row in body))
