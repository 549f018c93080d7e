"""A demo as lines, for pipes and files: its parts, then every event that goes in and every row that comes out."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TextIO

from rich.console import Console

from headwater.cli.cells import cell_text
from headwater.cli.demo_board import Board, Scene, event_line, fact_text
from headwater.cli.demo_parts import FIRST_WORDS, PartLines, reported
from headwater.cli.demo_sheet import Rows
from headwater.cli.live import step_seconds
from headwater.cli.view import Answers, Began, View
from headwater.demo.feeds import Said
from headwater.demo.looks import Look
from headwater.demo.together import News
from headwater.runtime.facts import BatchDone
from headwater.sources.base import Report


class DemoView(View, Protocol):
    """A view that also shows the parts of a demo, and what goes in and comes out of its pipeline."""

    def news(self, news: News) -> None:
        """Something is going on at a part."""

    def commands(self, lines: Sequence[str]) -> None:
        """How to look inside from another terminal."""

    def heard(self, said: Sequence[Said]) -> None:
        """Messages of a topic; called by another thread."""

    def rows(self, rows: Rows) -> None:
        """The rows that came out, all of them; called by another thread."""

    def look(self, look: Look) -> None:
        """What somebody saw who looked at the target; called by another thread."""

    def ending(self) -> None:
        """The pipeline has stopped, the services are about to."""


def say_waiting() -> None:
    """Say why nothing starts yet."""
    print("the services of the last run still end ...", file=sys.stderr, flush=True)


def choose_demo_view(scene: Scene, out: TextIO, notes: TextIO, *, plain: bool) -> DemoView:
    """A board on a terminal, lines elsewhere."""
    return DemoLines(scene, out, notes) if plain or not out.isatty() else Board(Console(), scene)


class DemoLines:
    """A view of a demo that writes lines; who adds those of the rows up has what came out."""

    def __init__(self, scene: Scene, out: TextIO, notes: TextIO) -> None:
        self.shown = False
        self._scene, self._out, self._notes = scene, out, notes
        self._parts = PartLines(notes)
        self._began = Began()
        self._rows: dict[Any, Any] = {}
        self._facts: Mapping[str, Any] = {}
        self._lock = threading.Lock()

    def news(self, news: News) -> None:
        """Say how a part comes up."""
        self._parts.news(news)

    def report(self, report: Report) -> None:
        """Say how far the pipeline has come."""
        self._began.report(report)
        self._parts.news(reported(report))

    def commands(self, lines: Sequence[str]) -> None:
        """Say how to look inside."""
        self._write(self._notes, "look inside from another terminal:", *(f"  {line}" for line in lines))

    def open(self, answers: Answers) -> None:
        """Say whether anything is read anew."""
        self._write(self._notes, self._began.text(answers) or f"headwater: {FIRST_WORDS}")

    def batch(self, done: BatchDone) -> None:
        """Say which moment of history it is."""
        lag = "" if done.lag is None else f", lag {done.lag:.2f} s"
        step = f"step {step_seconds(done):.2f} s"
        self._write(
            self._notes, f"batch {done.batch_id}: {done.rows_read:,} rows, cut {done.cut}{lag}, {step}"
        )

    def heard(self, said: Sequence[Said]) -> None:
        """Write the messages."""
        lines = [event_line(one).plain.strip() for one in said if one.value is not None]
        self._write(self._out, *(f"topic {line}" for line in lines))

    def rows(self, rows: Rows) -> None:
        """Write what is new and what is gone; rows that were there before the pipeline began come first, as new."""
        count = "the newest rows" if self._scene.newest_only else f"{len(rows):,} rows"
        lines = [] if self.shown else [f"{self._scene.place}: {count}"] if rows else []
        for key in sorted({*self._rows, *rows}, key=str):
            before, now = self._rows.get(key), rows.get(key)
            if before != now and not (now is None and self._scene.newest_only):
                lines += [f"{sign} {_row_text(row)}" for sign, row in (("-", before), ("+", now)) if row]
        self._rows = dict(rows)
        self._write(self._out, *lines)
        self.shown = self.shown or bool(rows)

    def look(self, look: Look) -> None:
        """Write the facts that are other ones than before, and what is new."""
        changed = {name: value for name, value in look.facts.items() if self._facts.get(name, ...) != value}
        self._facts = look.facts
        self._write(self._out, *(f"{name}: {fact_text(value)}" for name, value in changed.items()))
        self.rows(look.rows)

    def say(self, text: str) -> None:
        """Print it as it is."""
        self._write(self._out, text)

    def ending(self) -> None:
        """Say why it does not end at once."""
        self._write(self._notes, "stopping the services ...")

    def close(self) -> None:
        """Everything is written already."""

    def _write(self, out: TextIO, *lines: str) -> None:
        with self._lock:
            out.write("".join(f"{line}\n" for line in lines))
            out.flush()


def _row_text(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={cell_text(value)}" for name, value in row.items())
