"""How wide the columns of a table are on a screen that may be too narrow for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from headwater.cli.cells import cell_text

NARROW = 8
"""What a column keeps when it gives way to others."""


def fitting(columns: Mapping[str, Sequence[Any]], width: int) -> list[int]:
    """The width of each column by its name and values; where all do not fit, the widest give way and not the others.

    >>> fitting({"id": [1, 22], "text": ["x" * 80]}, 40)
    [2, 31]
    """
    wide = [max(cell_len(cell_text(text)) for text in (name, *values)) for name, values in columns.items()]
    # A cell has a space on both sides and a line behind it; one more line begins the row.
    excess = sum(wide) + 3 * len(wide) + 1 - width
    while excess > 0 and max(wide) > NARROW:
        widest = wide.index(max(wide))
        others = max((size for at, size in enumerate(wide) if at != widest), default=0)
        taken = min(excess, max(1, wide[widest] - max(NARROW, others)))
        wide[widest] -= taken
        excess -= taken
    return wide
