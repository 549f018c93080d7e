"""What SUBSCRIBE prints: a line for each row that comes or goes, with its batch and its cut."""

from __future__ import annotations

from typing import TextIO

from headwater.cli.lines import CSV, JSON, PLAIN, Change, signed_rows
from headwater.runtime.feed import Told
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.subscribing import Subscribed

FORMS = {"csv": CSV, "json": JSON}
"""All other forms are lines for people."""


class Subscriptions:
    """Prints what the views change that a script subscribes to; who adds it up has the view."""

    def __init__(self, pipeline: Pipeline, out: TextIO, notes: TextIO, form: str | None) -> None:
        self._followed = [Subscribed(pipeline, s.view, s.after) for s in pipeline.program.subscriptions]
        self._out = out
        self._notes = notes
        self._form = FORMS.get(form or "", PLAIN)
        self._under: str | None = None
        self._begun: set[str] = set()

    def tell(self) -> None:
        """Print what has come since the last call."""
        for followed in self._followed:
            for told in followed.told():
                self._print(followed, told)

    def _print(self, followed: Subscribed, told: Told) -> None:
        view = followed.view
        if told.is_anew and (view in self._begun or followed.after is not None):
            said = (
                f"{view} begins anew with batch {told.batch_id}: what was told of it before is no longer true"
            )
            print(said, file=self._notes, flush=True)
        self._begun.add(view)
        if told.changes is None:
            return
        cut = told.mark.partition("@")[2].replace(",", " ")
        for sign, row in signed_rows(told.changes):
            change = Change(view, told.changes.schema, sign, row, told.batch_id, cut)
            if view != self._under and (head := self._form.head(change)):
                print(head, file=self._out)
            self._under = view
            print(self._form.line(change), file=self._out)
        self._out.flush()
