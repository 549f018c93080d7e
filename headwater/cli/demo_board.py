"""A demo on the screen: how its parts come up, then the events that go in and the rows that come out."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from headwater.cli.demo_parts import FIRST_WORDS, PartBars, reported
from headwater.cli.demo_sheet import Rows, Sheet
from headwater.cli.envelope import Event, read_value
from headwater.cli.live import RATE_SECONDS, Frame, status
from headwater.cli.progress import NOTES, words
from headwater.cli.tail_view import STYLES, shown, shown_text
from headwater.cli.view import Answers, Began
from headwater.demo.feeds import Said
from headwater.demo.looks import Look
from headwater.demo.together import News
from headwater.runtime.facts import BatchDone
from headwater.sources.base import Report

EVENTS = 5
"""So many of the latest events are shown."""


@dataclass(frozen=True)
class Scene:
    """What a demo shows: its name, the topics that go in, the place where rows come out and how they are laid out."""

    title: str
    topics: tuple[str, ...]
    place: str
    head: str
    laid_out: Callable[[Rows], Rows] = lambda rows: rows
    newest_first: bool = False
    newest_only: bool = False
    """The rows are not all there are: one that is not among them any more may still be there."""


class Board:
    """A view of a demo that redraws in place."""

    def __init__(
        self, console: Console, scene: Scene, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.shown = False
        self._console, self._scene, self._clock = console, scene, clock
        self._parts = PartBars(console)
        self._began = Began()
        self._sheet = Sheet(scene.head, newest_first=scene.newest_first)
        self._count = 0
        self._facts: Mapping[str, Any] = {}
        self._events: deque[Text] = deque(maxlen=EVENTS)
        self._read: deque[tuple[float, int]] = deque()
        self._frame = Frame()
        self._live: Live | None = None
        self._commands: tuple[str, ...] = ()
        self._opened, self._is_new = 0.0, False

    def news(self, news: News) -> None:
        """Show how a part comes up."""
        self._parts.news(news)

    def report(self, report: Report) -> None:
        """Show how far the pipeline has come, until it turns; what it notes later goes above the tables."""
        self._began.report(report)
        if self._live is None:
            self._parts.news(reported(report))
        elif report.stage in NOTES:
            self._console.print(Text(words(report), style="dim"))

    def commands(self, lines: Sequence[str]) -> None:
        """Keep for later how to look inside: it stands between the parts and the tables."""
        self._commands = tuple(lines)

    def open(self, answers: Answers) -> None:
        """Begin to draw."""
        resumed, self._opened = self._began.text(answers), self._clock()
        self._is_new = resumed is None
        self._parts.close()
        self._console.print(Text("look inside from another terminal:", style="dim"))
        for line in self._commands:
            self._console.print(Text(f"  {line}"), soft_wrap=True)
        if resumed is not None:
            self._console.print(Text(resumed, style="green"))
        self._live = Live(
            get_renderable=self.picture, console=self._console, refresh_per_second=8, transient=False
        )
        self._live.start()

    def batch(self, done: BatchDone) -> None:
        """Tell the head line of a batch."""
        now = self._clock()
        self._read.append((now, done.rows_read))
        while self._read[0][0] < now - RATE_SECONDS:
            self._read.popleft()
        self._frame = Frame((), done, tuple(self._read))

    def heard(self, said: Sequence[Said]) -> None:
        """Show more events; called by another thread."""
        self._events.extend(event_line(one) for one in said if one.value is not None)

    def rows(self, rows: Rows) -> None:
        """Show the rows as they are now; called by another thread."""
        self._count = len(rows)
        self._sheet.follow(self._scene.laid_out(rows), self._clock())
        self.shown = self.shown or bool(rows)

    def look(self, look: Look) -> None:
        """Show what somebody saw who looked at the target; called by another thread."""
        self._facts = look.facts
        self.rows(look.rows)

    def say(self, text: str) -> None:
        """Print it above the tables."""
        self._console.print(Text(text))

    def ending(self) -> None:
        """Leave the last picture standing and say why the prompt does not come back at once."""
        self.close()
        self._console.print(Text("stopping the services ...", style="dim"))

    def close(self) -> None:
        """Leave the terminal as it should stay."""
        self._parts.close()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def picture(self) -> RenderableType:
        """The screen at this moment."""
        now, size = self._clock(), self._console.size
        drawn: list[RenderableType] = [
            Text.assemble((f" {self._scene.title} ", "bold reverse"), "  ", self._head(now)),
            *self._events_drawn(),
            Text.assemble(("out ", "dim"), self._scene.place, (f"  {self._how_many()}", "dim")),
            *self._facts_drawn(),
        ]
        if len(self._sheet):
            # The table's own lines, one for how many more there are, the last one, and one to spare for the head.
            room = max(3, size.height - len(drawn) - 8)
            drawn.append(self._sheet.drawn(room, width=size.width, now=now))
        return Group(*drawn, Text("Ctrl-C stops", style="dim"))

    def _events_drawn(self) -> list[Text]:
        """The latest events; the lines of those that are to come are kept free."""
        if not self._scene.topics:
            return []
        events = list(self._events)
        named = Text.assemble(("in  ", "dim"), "topic ", ", ".join(self._scene.topics))
        return [named, *events, *(Text("") for _ in range(EVENTS - len(events)))]

    def _how_many(self) -> str:
        if self._scene.newest_only and self._count:
            return "the newest rows"
        return _counted(self._count)

    def _facts_drawn(self) -> list[Text]:
        """A line for each fact, the answers below each other."""
        facts = self._facts
        wide = max(map(len, facts), default=0)
        return [
            Text.assemble((f"    {name:<{wide}}  ", "dim"), (fact_text(value), "bold"), no_wrap=True)
            for name, value in facts.items()
        ]

    def _head(self, now: float) -> Text:
        if self._frame.last is None and self._is_new:
            return Text.assemble(FIRST_WORDS, (f"  {now - self._opened:.0f} s", "dim"))
        return status(self._frame, now)


def _counted(rows: int) -> str:
    return f"{rows:,} {'row' if rows == 1 else 'rows'}" if rows else "nothing yet"


def fact_text(value: object) -> str:
    """A fact as people read it: `1,234`, `SP500`, nothing yet."""
    return (
        "nothing yet" if value is None else f"{value:,}" if isinstance(value, int) else shown_text(str(value))
    )


def event_line(said: Said) -> Text:
    """An event in as many words as fit: the op, the key, what changed."""
    seen, line = read_value(said.value), Text(no_wrap=True, overflow="ellipsis")
    if not isinstance(seen, Event):
        return line.append(shown_text((said.value or b"").decode(errors="replace")))
    style = STYLES[seen.op]
    line.append(f"  {seen.op} ", style=f"bold {style}").append(shown_text(seen.subject), style=style)
    if seen.op == "m":
        return line.append(f"  {shown_text(seen.content)}")
    row = (seen.after if seen.after is not None else seen.before) or {}
    before = (seen.before if seen.op == "u" else None) or row
    same = [f"{name}={shown(value)}" for name, value in row.items() if before.get(name, value) == value]
    changed = [
        f"{name}={shown(before[name])} → {shown(value)}"
        for name, value in row.items()
        if before.get(name, value) != value
    ]
    # The first column says which row it is; then what is news.
    return line.append(shown_text("  " + ", ".join([*same[:1], *changed, *same[1:]])))
