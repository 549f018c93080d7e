"""Tables and states as text, for terminals and for whoever reads a notebook without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwater.cli.cells import cell_text

MOST = 60
"""A cell is shown up to so many letters."""


def table_text(names: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[bool]) -> str:
    """A table of letters: names, a line, rows; numbers stand on the right."""
    cells = [[_clipped(cell_text(value)) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(names)]

    def line(values: Sequence[str]) -> str:
        padded = [
            value.rjust(width) if is_right else value.ljust(width)
            for value, width, is_right in zip(values, widths, right, strict=True)
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(list(names)), "  ".join("-" * width for width in widths), *map(line, cells)])


def _clipped(text: str) -> str:
    return text if len(text) <= MOST else text[: MOST - 1] + "…"
