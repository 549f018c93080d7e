"""How the parts of a demo come up: a line for each that moves in place, or lines one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from headwater.cli.progress import COUNTED, QUIET_SECONDS, words
from headwater.demo.together import News
from headwater.sources.base import Report

FIRST_WORDS = "reading what is there, computing the first rows"
"""What is going on until the first batch of a new demo is done."""


def counted(news: News) -> str:
    """`fetching packages: 12 of 104`, where something is counted."""
    return news.words if news.total is None else f"{news.words}: {news.done:,} of {news.total:,}"


def reported(report: Report) -> News:
    """What a pipeline reports of its start, as news of a part."""
    is_counted = report.stage in (COUNTED, "fetch")
    return News("headwater", words(report), report.done, report.total if is_counted else None)


class PartBars:
    """A line for each part that moves in place; those of parts that are done stay."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._parts: dict[str, tuple[News, float]] = {}
        self._spinner = Spinner("dots")
        self._live: Live | None = None
        self._lock = threading.Lock()

    def news(self, news: News) -> None:
        """Show the part's words, and a bar where something is counted."""
        with self._lock:
            before, since = self._parts.get(news.part, (news, self._clock()))
            moment = since if before.words == news.words else self._clock()
            # Replaced as a whole: the drawing thread never sees half of it.
            self._parts = {**self._parts, news.part: (news, moment)}
            if self._live is None:
                self._live = Live(get_renderable=self.picture, console=self._console, refresh_per_second=8)
                self._live.start()

    def close(self) -> None:
        """Let the lines stand; a part that was never done loses its line."""
        with self._lock:
            self._parts = {name: told for name, told in self._parts.items() if told[0].is_over}
            if self._live is not None:
                self._live.stop()
            self._parts, self._live = {}, None

    def picture(self) -> RenderableType:
        """All lines at this moment."""
        drawn = Table.grid(padding=(0, 1))
        for name, (news, since) in self._parts.items():
            drawn.add_row(self._mark(news), f"{name:<11}", _words(news, self._clock() - since))
        return drawn

    def _mark(self, news: News) -> RenderableType:
        if news.is_over:
            return Text("✓", style="green")
        return Text("·", style="dim") if news.done == news.total else self._spinner


def _words(news: News, seconds: float) -> RenderableType:
    """What is going on, and for how long."""
    if news.is_over:
        return Text(news.words, style="dim", no_wrap=True, overflow="ellipsis")
    if news.total is None:
        return Text.assemble(news.words, (f"  {seconds:.0f} s", "dim"))
    drawn = Table.grid(padding=(0, 1))
    drawn.add_row(ProgressBar(news.total, news.done, width=24), counted(news))
    return drawn


class PartLines:
    """A line whenever a part has other words; where something is counted, one every two seconds."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._told: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def news(self, news: News) -> None:
        """Say it, not too often."""
        with self._lock:
            words, moment = self._told.get(news.part, ("", 0.0))
            now = self._clock()
            if news.words == words and (news.total is None or now - moment < QUIET_SECONDS):
                return
            self._told[news.part] = news.words, now
            self._out.write(f"{news.part}: {counted(news)}\n")
            self._out.flush()

    def close(self) -> None:
        """Nothing to take away."""
