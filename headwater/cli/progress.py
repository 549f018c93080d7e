"""How far something that takes a while has come, in words: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.text import Text

from headwater.sources.base import Report

QUIET_SECONDS = 2.0
"""A line about the same thing at most so often."""


WORDS = {"snapshot": "snapshot of ", "recompute": "computing anew: ", "stopped": "stopped: "}
"""What goes before the subject of a report; elsewhere the subject says it all."""

COUNTED = "snapshot"
"""The stage whose reports count rows; the others only say that something is going on."""

NOTES = ("resume", "recompute", "note", "waiting", "stopped")
"""Stages that are told once and not counted."""


def words(report: Report) -> str:
    """What is going on: `snapshot of orders`, `starting Spark`."""
    return WORDS.get(report.stage, "") + report.subject


def rate_text(
    done: float, total: float | None, per_second: float | None, seconds_left: float | None = None
) -> str:
    """`1,200 of 5,000 rows, 600/s, 6 s left`."""
    said = [f"{done:,.0f} rows" if total is None else f"{done:,.0f} of {total:,.0f} rows"]
    if per_second is not None:
        said.append(f"{per_second:,.0f}/s")
    if seconds_left is not None and seconds_left >= 1:
        said.append(f"{time_text(seconds_left)} left")
    return ", ".join(said)


def time_text(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h 5 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class RateColumn(ProgressColumn):
    """Rows done, of how many, and how fast."""

    def render(self, task: Task) -> Text:
        if not task.completed and task.total is None:
            return Text(f"{task.elapsed or 0:.0f} s", style="dim")
        speed = task.fields.get("per_second") or task.finished_speed or task.speed
        said = rate_text(task.completed, task.total, speed, task.fields.get("seconds_left"))
        return Text(said, style="dim")


class Bars:
    """Bars and spinners that redraw in place."""

    def __init__(self, console: Console) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), RateColumn())
        self._progress = Progress(*columns, console=console, transient=True, refresh_per_second=8)
        self._tasks: dict[str, TaskID] = {}
        self._spinner: str | None = None

    def report(self, report: Report) -> None:
        """Show how far it has come; a spinner goes when the next thing begins."""
        name = words(report)
        if report.stage in NOTES:
            self._progress.console.print(Text(name, style="dim"))
            return
        if self._spinner is not None and self._spinner != name:
            self._progress.remove_task(self._tasks.pop(self._spinner))
        self._spinner = None if report.stage == COUNTED else name
        self._progress.start()
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=None)
        if report.stage == COUNTED:
            self._progress.update(
                self._tasks[name],
                completed=report.done,
                total=report.total,
                per_second=report.per_second,
                seconds_left=report.seconds_left,
            )

    def close(self) -> None:
        """Take the bars away."""
        self._progress.stop()
        for task in self._tasks.values():
            self._progress.remove_task(task)
        self._tasks, self._spinner = {}, None


class Lines:
    """A line when something begins; where rows are counted, one every two seconds and one at the end."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._began: dict[str, float] = {}
        self._last: dict[str, float] = {}

    def report(self, report: Report) -> None:
        """Say how far it has come, not too often."""
        name, now = words(report), self._clock()
        is_new = name not in self._began
        if is_new:
            self._began[name] = self._last[name] = now
        if report.stage != COUNTED or (is_new and not report.done):
            self._say(name if report.stage in NOTES else f"{name} ..." if is_new else None)
        elif is_new or report.done == report.total or now - self._last[name] >= QUIET_SECONDS:
            spent = now - self._began[name]
            speed = report.per_second or (report.done / spent if spent > 0 else None)
            self._last[name] = now
            self._say(f"{name}: {rate_text(report.done, report.total, speed, report.seconds_left)}")

    def close(self) -> None:
        """Nothing to take away."""

    def _say(self, text: str | None) -> None:
        if text is not None:
            print(text, file=self._out, flush=True)
