"""Which view fits: a live table on a terminal, lines elsewhere, the final rows for --once."""

from __future__ import annotations

import json
import sys
from typing import TextIO

from rich.box import ASCII, ROUNDED
from rich.console import Console
from rich.table import Table

from headwater.cli.answer import Row, order_key, rows_of
from headwater.cli.cells import cell_text, csv_line
from headwater.cli.lines import CSV, JSON, PLAIN, LineView, row_object
from headwater.cli.live import NUMBERS, LiveView
from headwater.cli.progress import Bars, Lines
from headwater.cli.view import ALL_ROWS, Answers, View
from headwater.runtime.facts import BatchDone
from headwater.schema import Schema
from headwater.sources.base import Report


def choose_view(form: str | None, *, plain: bool, title: str, footnote: str = "Ctrl-C stops") -> View:
    """The view for answers that go on changing."""
    match form:
        case "csv":
            return LineView(sys.stdout, sys.stderr, CSV)
        case "json":
            return LineView(sys.stdout, sys.stderr, JSON)
        case _ if plain or not sys.stdout.isatty():
            return LineView(sys.stdout, sys.stderr, PLAIN)
        case _:
            return LiveView(Console(), title=title, footnote=footnote)


class OnceView:
    """A view that shows how far it has come, and the final rows when it is closed after `finish`."""

    def __init__(self, out: TextIO, notes: TextIO, form: str) -> None:
        self.shown = False
        self._out = out
        self._form = form
        self._progress = Bars(Console(file=notes)) if notes.isatty() else Lines(notes)
        self._answers: Answers | None = None

    def report(self, report: Report) -> None:
        """Show how far it has come."""
        self._progress.report(report)

    def batch(self, done: BatchDone) -> None:
        """Only the last rows count."""

    def open(self, answers: Answers) -> None:
        """Remember whom to ask."""
        self._answers = answers

    def say(self, text: str) -> None:
        """Print it as it is."""
        self._progress.close()
        print(text, file=self._out, flush=True)

    def finish(self) -> None:
        """Write the rows of every query as they are now."""
        self._progress.close()
        assert self._answers is not None
        for number, query in enumerate(self._answers.queries):
            schema = self._answers.schema(query)
            rows = sorted(rows_of(self._answers.rows(query, ALL_ROWS), schema), key=order_key)
            if number and self._form != "json":
                print(file=self._out)
            write_rows(self._out, schema, rows, form=self._form)
            self.shown = True

    def close(self) -> None:
        """Take the progress away."""
        self._progress.close()
        self._out.flush()


def write_rows(out: TextIO, schema: Schema, rows: list[Row], *, form: str) -> None:
    """All rows in one of the formats."""
    match form:
        case "csv":
            lines = [csv_line(list(schema.names)), *(csv_line(list(row)) for row in rows)]
            print("\n".join(lines), file=out)
        case "json":
            for row in rows:
                print(json.dumps(row_object(schema, row), ensure_ascii=False), file=out)
        case _:
            write_table(out, schema, rows)


def write_table(out: TextIO, schema: Schema, rows: list[Row]) -> None:
    """A table that does not fold, in letters any file can hold."""
    drawn = Table(box=ROUNDED if out.isatty() else ASCII)
    for column in schema:
        justify = "right" if column.type.startswith(NUMBERS) else "left"
        drawn.add_column(column.name, justify=justify, no_wrap=True)  # type: ignore[arg-type]  # two of its literals
    for row in rows:
        drawn.add_row(*(cell_text(value) for value in row))
    console = Console(file=out, width=None if out.isatty() else 10_000, markup=False, highlight=False)
    console.print(drawn)
    console.print(f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}")
