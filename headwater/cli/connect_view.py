"""The state of connectors as a table, and why one has failed, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.box import ASCII, ROUNDED
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.connect.status import Part, Status
from headwater.connect.troubles import hint_for, reason_of

STYLES = {"RUNNING": "green", "FAILED": "bold red", "PAUSED": "yellow", "STOPPED": "yellow"}


def print_statuses(statuses: Sequence[Status], out: TextIO) -> None:
    """A line for each connector and each of its tasks."""
    console = Console(file=out, width=None if out.isatty() else 10_000, markup=False, highlight=False)
    drawn = Table(box=ROUNDED if out.isatty() else ASCII)
    for head in ("connector", "part", "state", "worker"):
        drawn.add_column(head, no_wrap=True)
    for status in statuses:
        for part in status.parts:
            drawn.add_row(
                status.name if part.task is None else "",
                part_name(part),
                Text(part.state, style=STYLES.get(part.state, "dim")),
                part.worker,
            )
    console.print(drawn)


def part_name(part: Part) -> str:
    """`connector` or `task 0`."""
    return "connector" if part.task is None else f"task {part.task}"


def failure_lines(status: Status, hidden: tuple[str, ...]) -> Iterator[str]:
    """Why parts of a connector have failed and what to do, with nothing secret."""
    for part in status.failed:
        yield f"{status.name}, {part_name(part)}: {reason_of(part.trace, hidden)}"
        yield f"hint: {hint_for(part.trace, status.name)}"
