"""What every way of showing answers has in common."""

from __future__ import annotations

from typing import Protocol

from headwater.runtime.conversation import Answers
from headwater.runtime.facts import Listener
from headwater.sources.base import Report

__all__ = ["ALL_ROWS", "Answers", "Began", "View"]

ALL_ROWS = 2_147_483_647


class View(Listener, Protocol):
    """A listener that shows what it hears; `open` before the first batch, `close` in any case."""

    shown: bool
    """True once a result is on the screen."""

    def open(self, answers: Answers) -> None:
        """The pipeline is there: show what is true already."""

    def say(self, text: str) -> None:
        """Show what EXPLAIN, SHOW or DESCRIBE answered."""

    def close(self) -> None:
        """Leave the terminal as it should stay."""


class Began:
    """Remembers from the reports of a start whether anything is read or computed anew."""

    def __init__(self) -> None:
        self._anew = False

    def report(self, report: Report) -> None:
        """Hear of one more thing that is done at the start."""
        self._anew = self._anew or report.stage in ("snapshot", "recompute")

    def text(self, answers: Answers) -> str | None:
        """The sentence that says where saved progress goes on; None if there is none."""
        if not answers.cut().positions:
            return None
        return f"resumed at cut {answers.cut()}" + ("" if self._anew else ", no new snapshot")
