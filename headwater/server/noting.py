"""What a pipeline reports, written into the journal as far as somebody will want to read it later."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.runtime.facts import BatchDone
from headwater.server.journal import Journal
from headwater.server.records import Application
from headwater.sources.base import Report

TOLD_AT_ONCE = ("resume", "recompute")
"""Stages whose reports are of interest by themselves; of all others the end is."""


@dataclass(frozen=True)
class Noting:
    """A listener that writes down reports; batches are counted elsewhere, there are too many of them."""

    journal: Journal
    application: Application

    def report(self, report: Report) -> None:
        """Write down what is kept and recomputed, and what is done."""
        is_done = report.total is not None and report.done >= report.total
        if report.stage in TOLD_AT_ONCE or is_done:
            self.journal.note(
                report.stage,
                application=self.application.name,
                id=self.application.id,
                detail=report.subject,
            )

    def batch(self, done: BatchDone) -> None:
        """Nothing."""
