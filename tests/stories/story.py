"""Stories: text files a person can write, told by the runner and checked against the law.

`> ` SQL that works, `! ` SQL that fails, `$ ` an action; the lines below, up to a blank line, are what must come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SIGNS = ("> ", "! ", "$ ")


@dataclass(frozen=True)
class Block:
    """One part of a story: its sign, its text, what must come out, and where the expectation stands."""

    sign: str
    text: str
    expected: tuple[str, ...]
    line: int
    expected_line: int


def parse(path: Path) -> list[Block]:
    """The blocks of a story file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    blocks: list[Block] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        if not line.strip() or line.startswith("#"):
            number += 1
            continue
        assert line[:2] in SIGNS, f"{path}:{number + 1}: a block starts with '> ', '! ' or '$ '"
        begin, text = number, [line[2:]]
        number += 1
        while number < len(lines) and line[0] != "$" and lines[number].startswith("  "):
            text.append(lines[number])
            number += 1
        first, expected = number, []
        while number < len(lines) and lines[number].strip() and lines[number][:2] not in SIGNS:
            expected.append(lines[number].rstrip())
            number += 1
        blocks.append(Block(line[0], "\n".join(text), tuple(expected), begin + 1, first))
    return blocks


def table(lines: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of a small table: names in the first line, cells parted by bars."""
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def signed(lines: tuple[str, ...]) -> list[tuple[str, dict[str, str]]]:
    """The rows of a small table whose first column is a sign; another column may be called op, too."""
    bare = tuple(line.partition("|")[2] for line in lines)
    signs = [line.partition("|")[0].strip() for line in lines[1:]]
    return list(zip(signs, table(bare), strict=True))


def as_lines(names: list[str], rows: list[list[str]]) -> list[str]:
    """A small table as text, columns lined up."""
    widths = [max(len(row[i]) for row in [names, *rows]) for i in range(len(names))]
    return [
        " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in [names, *rows]
    ]


def rewrite(path: Path, answers: dict[int, list[str]], blocks: list[Block]) -> None:
    """Put what came out in the place of what was expected; `answers` is keyed by a block's line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for block in sorted(blocks, key=lambda b: -b.line):
        if block.line in answers:
            lines[block.expected_line : block.expected_line + len(block.expected)] = answers[block.line]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
