"""Rows by their keys, as others tell them again and again, and which cells changed when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import ROUNDED
from rich.console import JustifyMethod
from rich.table import Table

from headwater.cli.answer import LONG_AGO, order_key
from headwater.cli.live import cell
from headwater.cli.widths import fitting

Rows = Mapping[Any, Mapping[str, Any]]
"""Rows by key; each has its values by column."""


@dataclass(frozen=True)
class Cell:
    """A value and the moment it last changed."""

    value: Any
    changed: float = LONG_AGO


class Sheet:
    """A table that follows rows by key; the key is its first column."""

    def __init__(self, head: str, *, newest_first: bool = False) -> None:
        self._head = head
        self._newest_first = newest_first
        self._cells: dict[Any, dict[str, Cell]] = {}

    def __len__(self) -> int:
        return len(self._cells)

    def follow(self, rows: Rows, now: float) -> None:
        """Take the rows as they are now; what is there at first is no news."""
        before, moment = self._cells, now if self._cells else LONG_AGO
        # Replaced as a whole: the drawing thread never sees half of it.
        self._cells = {
            key: {
                name: old
                if (old := before.get(key, {}).get(name)) is not None and old.value == value
                else Cell(value, moment)
                for name, value in row.items()
            }
            for key, row in rows.items()
        }

    def drawn(self, room: int, *, width: int, now: float) -> Table:
        """The rows that fit, cells that changed a moment ago highlighted."""
        cells = self._cells
        keys = sorted(cells, key=lambda key: order_key([key]), reverse=self._newest_first)
        shown = keys[:room]
        names = list(dict.fromkeys(name for row in cells.values() for name in row))
        columns: dict[str, list[Any]] = {self._head: list(shown)}
        columns |= {name: [cells[key][name].value for key in shown if name in cells[key]] for name in names}
        table = Table(box=ROUNDED, border_style="dim", header_style="bold")
        for (name, values), wide in zip(columns.items(), fitting(columns, width), strict=True):
            justify: JustifyMethod = "right" if _are_numbers(values) else "left"
            table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", width=wide)
        for key in shown:
            row = [cells[key].get(name, Cell("")) for name in names]
            # A row that is new flashes from its key on.
            since = min((c.changed for c in row), default=LONG_AGO)
            table.add_row(cell(key, since, now=now), *(cell(c.value, c.changed, now=now) for c in row))
        if len(keys) > room:
            table.caption = f"{len(keys) - room:,} more"
        return table


def _are_numbers(values: Sequence[Any]) -> bool:
    return bool(values) and all(type(value) in (int, float) for value in values)


def crosstab(documents: Rows, *, down: str, across: str, value: str) -> Rows:
    """One cell for each document: `{"Cassowary": {"QBE": 1200.0, ...}, ...}`."""
    names = sorted({str(document.get(across)) for document in documents.values()})
    found: dict[str, dict[str, Any]] = {}
    for document in documents.values():
        found.setdefault(str(document.get(down)), {})[str(document.get(across))] = document.get(value)
    return {key: {name: row.get(name, "") for name in names} for key, row in found.items()}
