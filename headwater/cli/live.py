"""Answers as tables that redraw in place while they change."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.box import ROUNDED
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from headwater.changes.change_set import ChangeSet
from headwater.cli.answer import Answer, ShownRow
from headwater.cli.cells import NULL, cell_text
from headwater.cli.progress import NOTES, Bars, words
from headwater.cli.view import Answers, Began
from headwater.cli.widths import fitting
from headwater.runtime.facts import BatchDone
from headwater.schema import Schema
from headwater.sources.base import Report

FLASH_SECONDS = 1.0
RATE_SECONDS = 5.0
"""Changes per second are counted over so long."""

HELD_ROWS = 10_000
"""An answer above this is not held here but read again, its first rows only."""

READ_AGAIN_SECONDS = 1.0

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True)
class Frame:
    """All that is drawn, so that the drawing thread never sees half a change."""

    tables: tuple[tuple[str, Schema, tuple[ShownRow, ...], int], ...] = ()
    """Name, columns, the rows that may be seen, and how many there are in all."""
    last: BatchDone | None = None
    read: tuple[tuple[float, int], ...] = ()
    """When how many changed rows were read, lately."""


class LiveView:
    """A view that draws each live query as a table; changed cells flash.

    With `screen` it takes the whole terminal, which may change its size, and leaves the last table when it is closed.
    """

    def __init__(
        self,
        console: Console,
        *,
        title: str,
        footnote: str = "Ctrl-C stops",
        clock: Callable[[], float] = time.monotonic,
        screen: bool = False,
    ) -> None:
        self.shown = False
        self._console = console
        self._title = title
        self._footnote = footnote
        self._clock = clock
        self._bars = Bars(console)
        self._began = Began()
        self._pipeline: Answers | None = None
        self._answers: dict[str, Answer] = {}
        self._read: deque[tuple[float, int]] = deque()
        self._frame = Frame()
        self._live: Live | None = None
        self._read_again: dict[str, float] = {}
        self._screen = screen
        self._note = ""

    def report(self, report: Report) -> None:
        """Show how far it has come, until there is an answer to show; what is noted later goes above the tables."""
        self._began.report(report)
        if self._live is None:
            self._bars.report(report)
        elif report.stage in NOTES:
            self.say(words(report))
        elif self._screen:
            self._note = f"{words(report)} ..."

    def open(self, answers: Answers) -> None:
        """On resuming, draw what is true already."""
        self._pipeline = answers
        self._answers = {query: Answer(query, answers.schema(query)) for query in answers.queries}
        resumed = self._began.text(answers)
        if resumed is None:
            if self._screen:
                self._draw(None)
            return
        self._bars.close()
        self._console.print(Text(resumed, style="green"))
        for query, answer in self._answers.items():
            answer.fill(answers.rows(query))
        self._draw(None)

    def batch(self, done: BatchDone) -> None:
        """Draw what the batch changed."""
        now, self._note = self._clock(), ""
        self._read.append((now, done.rows_read))
        while self._read[0][0] < now - RATE_SECONDS:
            self._read.popleft()
        for query, answer in self._answers.items():
            changes = done.changes.get(query)
            if changes is not None and changes.count:
                self._follow(answer, changes, now)
        self._draw(done)

    def say(self, text: str) -> None:
        """Print it above the tables; where these have the whole terminal, below."""
        self._bars.close()
        if self._screen and self._live is not None:
            self._note = text
        else:
            self._console.print(Text(text, style="dim" if self._live is not None else ""))

    def close(self) -> None:
        """Leave the last table standing."""
        self._bars.close()
        if self._live is not None:
            self._live.stop()
            self._live = None
            if self._screen:
                self._console.print(self._drawn(flashing=False))

    def _follow(self, answer: Answer, changes: ChangeSet, now: float) -> None:
        assert self._pipeline is not None
        if (
            changes.is_small
            and len(answer) + changes.count <= HELD_ROWS
            and answer.name not in self._read_again
        ):
            answer.apply(changes.table(), now)
        elif now - self._read_again.get(answer.name, -READ_AGAIN_SECONDS) >= READ_AGAIN_SECONDS:
            self._read_again[answer.name] = now
            answer.fill(self._pipeline.rows(answer.name))

    def _draw(self, done: BatchDone | None) -> None:
        tables = tuple((a.name, a.schema, tuple(a.rows()), len(a)) for a in self._answers.values())
        self._frame = Frame(tables, done or self._frame.last, tuple(self._read))
        self.shown = self.shown or done is not None or any(count for *_, count in tables)
        if self._live is None:
            self._bars.close()
            self._live = Live(
                get_renderable=self.picture,
                console=self._console,
                refresh_per_second=8,
                screen=self._screen,
                redirect_stdout=not self._screen,
                redirect_stderr=not self._screen,
            )
            self._live.start()
        self._live.refresh()

    def picture(self) -> RenderableType:
        """The screen at this moment."""
        return Group(self._drawn(), Text(self._note or self._footnote, style="dim"))

    def _drawn(self, *, flashing: bool = True) -> RenderableType:
        """The head and the tables."""
        now, frame = self._clock(), self._frame
        room = max(
            3, (self._console.size.height - (4 if self._screen else 3)) // max(1, len(frame.tables)) - 5
        )
        title = Text(f" {self._title} ", style="bold reverse", no_wrap=True, overflow="ellipsis")
        # A title that is a whole query leaves no room beside it.
        head = (
            [title, status(frame, now)] if self._screen else [Text.assemble(title, "  ", status(frame, now))]
        )
        drawn: list[RenderableType] = [*head]
        drawn += [
            table(schema, rows, room, width=self._console.size.width, now=now if flashing else math.inf)
            for _, schema, rows, _ in frame.tables
        ]
        return Group(*drawn)


def status(frame: Frame, now: float) -> Text:
    """`cut 0/16B3748   lag 0.21 s   12 changes/s   step 0.18 s   batch 42`."""
    if frame.last is None:
        return Text("waiting for changes", style="dim")
    done = frame.last
    lately = sum(count for moment, count in frame.read if moment >= now - RATE_SECONDS)
    parts = (
        ("cut", str(done.cut)),
        ("lag", "-" if done.lag is None else f"{done.lag:.2f} s"),
        ("changes/s", f"{lately / RATE_SECONDS:,.1f}"),
        ("step", f"{step_seconds(done):.2f} s"),
        ("batch", str(done.batch_id)),
    )
    return Text("   ").join(Text.assemble((name + " ", "dim"), (value, "bold")) for name, value in parts)


def step_seconds(done: BatchDone) -> float:
    """What the batch cost; reading is left out, which is mostly waiting for something to happen."""
    return sum(seconds for stop, seconds in done.seconds.items() if stop != "read")


def table(schema: Schema, rows: Sequence[ShownRow], room: int, *, width: int, now: float) -> Table:
    """The rows that fit, cells that changed a moment ago highlighted."""
    drawn = Table(box=ROUNDED, border_style="dim", header_style="bold")
    values = {name: [row.cells[at] for row in rows[:room]] for at, name in enumerate(schema.names)}
    for column, wide in zip(schema, fitting(values, width), strict=True):
        numeric = column.type.startswith(NUMBERS)
        drawn.add_column(column.name, justify="right" if numeric else "left", no_wrap=True, width=wide)
    for row in rows[:room]:
        drawn.add_row(
            *(cell(value, moment, now=now) for value, moment in zip(row.cells, row.changed, strict=True))
        )
    if len(rows) > room:
        drawn.caption = f"{len(rows) - room:,} more rows"
    return drawn


def cell(value: object, changed: float, *, now: float) -> Text:
    """One value; a change is bright for a moment."""
    text = cell_text(value)
    if now - changed < FLASH_SECONDS:
        return Text(text, style="bold black on yellow")
    return Text(text, style="dim" if value is None and text == NULL else "")
