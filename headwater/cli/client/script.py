"""A script in a session, without anyone who types: statement by statement, up to the first error."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from typing import TextIO

from rich.console import Console

from headwater.cli.answer import Row, comparable, order_key, rows_of
from headwater.cli.client import commands
from headwater.cli.client.commands import apart, command_of
from headwater.cli.client.show import show_help, show_jobs, show_relations
from headwater.cli.client.watch import Gate, Shown
from headwater.cli.lines import CSV, JSON, PLAIN, LineView
from headwater.cli.progress import Lines
from headwater.cli.render import write_rows
from headwater.cli.script_file import sourced
from headwater.cli.stop import Stop, Stopped
from headwater.runtime.conversation import (
    SUBSCRIBED,
    Listed,
    LiveAnswers,
    Outcome,
    Query,
    Said,
    Session,
    Started,
)
from headwater.runtime.facts import BatchDone, Silent
from headwater.schema import WEIGHT, Schema
from headwater.sources.base import Report

POLL_SECONDS = 0.05
FORMS = {"csv": CSV, "json": JSON}


def run_script(session: Session, text: str, file: str, *, form: str | None, once: bool) -> int:
    """Carry out a script; a SELECT is followed until someone stops us, or with `once` until it knows what is there."""
    is_bad = False
    with Stop(), closing(session):
        for outcome in _outcomes(session, text, file, once=once):
            is_bad = _told(outcome, form=form, once=once) or is_bad
    return int(is_bad)


def _outcomes(
    session: Session, text: str, file: str, *, once: bool, depth: int = 0
) -> Generator[Outcome, None, bool]:
    """What comes of each statement, also of the files it names; returns True if somebody left in the middle."""
    for piece in apart(text):
        match command_of(piece.text):
            case None:
                yield session.run(piece.in_place(text), file, listener=Silent(), once=once)
            case commands.Sql(said):
                yield session.run(said, file, listener=Silent(), once=once)
            case commands.Source(other):
                inner = sourced(other, depth)
                if (yield from _outcomes(session, inner, str(other), once=once, depth=depth + 1)):
                    return True
            case commands.Quit():
                return True
            case commands.Relations():
                show_relations(Console(highlight=False), session.known())
            case commands.Help():
                show_help(Console(highlight=False))
            case commands.Clear():
                """There is no screen."""
    return False


def _told(outcome: Outcome, *, form: str | None, once: bool) -> bool:
    """Write what came of a statement; True if it is bad."""
    match outcome:
        case Said(text, is_note, is_bad):
            print(text, file=sys.stderr if is_note else sys.stdout, flush=True)
            return is_bad
        case Started(job):
            print(f"job '{job.id}' is {job.state}: {job.what}", file=sys.stderr, flush=True)
        case Listed(jobs):
            show_jobs(Console(highlight=False), jobs)
        case query:
            _follow(query, _view(form, adds_up=once and query.mode != SUBSCRIBED))
    return False


def _view(form: str | None, *, adds_up: bool) -> Shown:
    if adds_up:
        return LastRows(sys.stdout, form or "table")
    return LineView(sys.stdout, sys.stderr, FORMS.get(form or "", PLAIN))


def _follow(query: Query, view: Shown) -> None:
    gate = Gate(view)
    query.start(gate)
    try:
        while gate.gone is None and not query.ended.wait(POLL_SECONDS):
            pass
        if gate.gone is not None:
            raise gate.gone
    except (Stopped, BrokenPipeError):
        query.stop()
        query.ended.wait()
        raise
    finally:
        gate.shut()
    if query.problem is not None:
        raise query.problem


class LastRows:
    """Adds up the changes of a query and writes its rows when it ends."""

    def __init__(self, out: TextIO, form: str) -> None:
        self._out = out
        self._form = form
        self._progress = Lines(sys.stderr)
        self._query = ""
        self._schema: Schema | None = None
        self._count: Counter[Row] = Counter()
        self._values: dict[Row, Row] = {}

    def report(self, report: Report) -> None:
        """Say how far it has come."""
        self._progress.report(report)

    def open(self, answers: LiveAnswers) -> None:
        """Remember the columns."""
        self._query = answers.queries[0]
        self._schema = answers.schema(self._query)

    def batch(self, done: BatchDone) -> None:
        """Follow the changes."""
        changes = done.changes.get(self._query)
        if changes is None or self._schema is None:
            return
        table = changes.table()
        weights = table.column(WEIGHT).to_pylist()
        for row, weight in zip(rows_of(table, self._schema), weights, strict=True):
            known = tuple(comparable(value) for value in row)
            self._count[known] += weight
            self._values[known] = row

    def say(self, text: str) -> None:
        """Print it as it is."""
        print(text, file=self._out, flush=True)

    def close(self) -> None:
        """Write all rows."""
        if self._schema is not None:
            rows = [self._values[known] for known, count in self._count.items() for _ in range(count)]
            write_rows(self._out, self._schema, sorted(rows, key=order_key), form=self._form)
            self._out.flush()
