"""How the parts of a demo come up: a line for each that moves in place, or lines one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
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
    """A line for each part, all of which stay when they are done."""

    def __init__(self, console: Console) -> None:
        columns = (
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description:<11}"),
            _Bar(bar_width=24),
            _Words(),
        )
        self._progress = Progress(*columns, console=console, refresh_per_second=8)
        self._tasks: dict[str, TaskID] = {}
        self._lock = threading.Lock()

    def news(self, news: News) -> None:
        """Show the part's words, a bar where something is counted, and a tick at the end."""
        with self._lock:
            if not self._tasks:
                self._progress.start()
            if news.part not in self._tasks:
                self._tasks[news.part] = self._progress.add_task(news.part, total=None, news=news)
            task = self._tasks[news.part]
        if news.is_over:
            self._progress.update(task, total=1, completed=1, news=news)
        else:
            self._progress.update(task, total=news.total, completed=news.done, news=news)

    def close(self) -> None:
        """Let the lines stand; a part that was never done loses its line."""
        with self._lock:
            for task in self._progress.tasks:
                if not task.finished:
                    self._progress.remove_task(task.id)
            self._progress.stop()


class _Bar(BarColumn):
    """A bar only where something is counted."""

    def render(self, task: Task) -> Text | object:  # type: ignore[override]  # an empty text in place of a bar
        news: News = task.fields["news"]
        return Text("") if news.is_over or news.total is None else super().render(task)


class _Words(ProgressColumn):
    """What is going on, and for how long."""

    def render(self, task: Task) -> Text:
        news: News = task.fields["news"]
        if news.is_over:
            return Text(news.words, style="dim")
        return Text.assemble(counted(news), (f"  {task.elapsed or 0:.0f} s", "dim"))


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
