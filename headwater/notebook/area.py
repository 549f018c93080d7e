"""The area under a cell: what its pipeline does and answers, drawn again in place as it changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headwater.cli.complain import error_text
from headwater.cli.progress import COUNTED, rate_text, words
from headwater.errors import HeadwaterError
from headwater.notebook.chart import Axes, axes_of, chart
from headwater.notebook.page import (
    Bundle,
    bundle,
    error_html,
    note_html,
    pre_html,
    state_html,
    table_html,
)
from headwater.notebook.plain import table_text
from headwater.notebook.shown import Sheet, Shown, is_number
from headwater.runtime.facts import BatchDone
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.turning import OVER, RUNNING, STARTING
from headwater.schema import WEIGHT
from headwater.sources.base import Report

WAITING = "waiting"
"""For a sink or a source that is away."""

NOTES = ("note", "resume", "recompute")


@dataclass(frozen=True)
class Look:
    """How a cell wants to be shown."""

    rows: int
    every: float
    chart: str | None = None
    x: str | None = None
    y: str | None = None


@dataclass
class Written:
    """What went to one sink since the cell was run."""

    sink: str
    come: int = 0
    gone: int = 0
    batch: int | None = None


@dataclass
class Area:
    """A listener that draws; only one thread at a time uses it, first the cell's, then the pipeline's."""

    title: str
    look: Look
    paint: Callable[[Bundle], None]
    state: str = STARTING
    last: BatchDone | None = None
    batches: int = 0
    rows_read: int = 0
    error: HeadwaterError | None = None
    said: list[str] = field(default_factory=list)
    written: dict[str, Written] = field(default_factory=dict)
    _note: str = ""
    _shown: list[Shown] = field(default_factory=list)
    _axes: dict[str, Axes] = field(default_factory=dict)
    _drawn_at: float = float("-inf")
    _is_old: bool = True
    _stands: bool = False

    def report(self, report: Report) -> None:
        """Something that takes a while has come further."""
        if report.stage == "waiting":
            self.state = RUNNING if report.subject.endswith("; going on") else WAITING
        said = words(report)
        if report.stage == COUNTED:
            how_far = rate_text(report.done, report.total, report.per_second, report.seconds_left)
            said += f": {how_far}"
        is_over = report.stage not in NOTES and report.total is not None and report.done >= report.total
        self._note = "" if is_over and report.stage != COUNTED else said
        self.changed()

    def open(self, pipeline: Pipeline) -> None:
        """The pipeline stands: from now on its answers are shown, those first that it knows already."""
        self._shown = [Shown(name, pipeline) for name in pipeline.queries]
        if self.look.chart is not None:
            self._axes = {
                s.name: axes_of(s.schema, self.look.chart, self.look.x, self.look.y) for s in self._shown
            }
        self.written = {node.relation: Written(node.table.name) for node in pipeline.program.sinks}
        self.said = list(pipeline.answers)
        if pipeline.cut().positions:
            self._note = f"resumed at cut {pipeline.cut()}"
            for shown in self._shown:
                if shown.name not in pipeline.pending:
                    shown.fill()
        self.state, self._stands = RUNNING, True
        self.draw()

    def batch(self, done: BatchDone) -> None:
        """A batch is done: take in what it changed."""
        now = time.monotonic()
        for shown in self._shown:
            changes = done.changes.get(shown.name)
            if changes is not None and changes.count:
                shown.follow(changes, now)
        for relation, written in self.written.items():
            changes = done.changes.get(relation)
            if changes is not None and changes.count:
                for piece in changes.batches():
                    gone = sum(weight < 0 for weight in piece.column(WEIGHT).to_pylist())
                    written.gone += gone
                    written.come += piece.num_rows - gone
                written.batch = done.batch_id
        self.last, self._note, self.state = done, "", RUNNING
        self.batches += 1
        self.rows_read += done.rows_read
        self.changed()

    def end(self, state: str, error: HeadwaterError | None = None) -> None:
        """Nothing more will come."""
        self.state, self.error, self._note = state, error, ""
        self.draw()

    def changed(self) -> None:
        """Draw, unless that was done a moment ago."""
        self._is_old = True
        self.refresh()

    def refresh(self) -> None:
        """Draw if there is something new and the time has come."""
        pause = max([self.look.every, *(shown.pause for shown in self._shown)])
        if self._is_old and time.monotonic() - self._drawn_at >= pause:
            self.draw()

    def draw(self) -> None:
        """Draw now; rows are never of an earlier batch than the cut beside them."""
        if self.state not in OVER:
            self.read()
        since, self._drawn_at, self._is_old = self._drawn_at, time.monotonic(), False
        # What is there at first is no news.
        since = since if self.batches > 1 else float("inf")
        self.paint(self._picture([shown.sheet(self.look.rows, since) for shown in self._shown]))

    def read(self) -> None:
        """Read what is not known yet; after the pipeline is closed nobody can."""
        for shown in self._shown:
            shown.catch_up()

    def facts(self) -> list[tuple[str, str]]:
        """What the small line says."""
        done = self.last
        if done is None:
            return []
        found = [("batch", str(done.batch_id)), ("rows read", f"{self.rows_read:,}")]
        if done.lag is not None and self.state not in OVER:
            found.append(("lag", f"{done.lag:.2f} s"))
        return [*found, ("cut", str(done.cut))]

    def _picture(self, sheets: Sequence[Sheet]) -> Bundle:
        # Before the pipeline stands, the cell itself tells what is wrong.
        error = error_text(self.error) if self.error is not None and self._stands else ""
        facts = [("", self.title), *self.facts()]
        html = [state_html(self.state, facts), note_html(self._note)]
        text = [" ".join([self.state, *(f"{n} {v}".strip() for n, v in facts)]), self._note]
        for said in self.said:
            html.append(pre_html(said))
            text.append(said)
        for sheet in sheets:
            if self.last is None and not sheet.rows:
                continue
            axes = self._axes.get(sheet.name)
            drawn = chart(sheet, axes) if axes is not None else ""
            html += [drawn or _sheet_html(sheet), note_html(_more(sheet))]
            text += [_sheet_text(sheet), _more(sheet)]
        if self.written:
            html.append(table_html(*self._sinks()))
            text.append(table_text(*self._sinks()))
        return bundle([*html, error_html(error)], [*text, error])

    def _sinks(self) -> tuple[Sequence[str], list[list[object]], Sequence[bool]]:
        rows: list[list[object]] = [
            [w.sink, f"{w.come:,}", f"{w.gone:,}", "" if w.batch is None else w.batch]
            for w in self.written.values()
        ]
        return ("sink", "rows come", "rows gone", "last batch"), rows, (False, True, True, True)


def _right(sheet: Sheet) -> list[bool]:
    return [is_number(column.type) for column in sheet.schema]


def _sheet_html(sheet: Sheet) -> str:
    return table_html(sheet.schema.names, sheet.rows, _right(sheet), sheet.news)


def _sheet_text(sheet: Sheet) -> str:
    return table_text(sheet.schema.names, sheet.rows, _right(sheet))


def _more(sheet: Sheet) -> str:
    late = "rows of an earlier batch" if sheet.is_behind else "rows"
    if sheet.is_cut:
        return f"the first {len(sheet.rows):,} of {sheet.count:,} {late} or more"
    if not sheet.count:
        return f"no {late}"
    is_part = sheet.count > len(sheet.rows) or sheet.is_behind
    return f"{len(sheet.rows):,} of {sheet.count:,} {late}" if is_part else ""
