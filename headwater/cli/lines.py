"""Answers as lines: one for each change, for pipes, logs and files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TextIO

import pyarrow as pa

from headwater.changes.change_set import ChangeSet
from headwater.cli.answer import Row, order_key, rows_of, split
from headwater.cli.cells import cell_text, csv_line, json_value
from headwater.cli.progress import Lines
from headwater.cli.view import ALL_ROWS, Answers, Began
from headwater.log.positions import Cut
from headwater.runtime.facts import BatchDone
from headwater.schema import Schema
from headwater.sources.base import Report


@dataclass(frozen=True)
class Change:
    """One row that came (+) or went (-); the batch is None for rows that were true before we looked."""

    query: str
    schema: Schema
    sign: str
    row: Row
    batch: int | None
    cut: Cut | str


@dataclass(frozen=True)
class Format:
    """How a change is written, and the line that goes before the changes of one query."""

    line: Callable[[Change], str]
    head: Callable[[Change], str | None] = lambda change: None


def plain_line(change: Change) -> str:
    """`+ animal=Cassowary, total=1200 (batch 3, cut 0/16B3748)`."""
    named = zip(change.schema.names, change.row, strict=True)
    cells = ", ".join(f"{name}={cell_text(value)}" for name, value in named)
    batch = "" if change.batch is None else f"batch {change.batch}, "
    return f"{change.sign} {cells} ({batch}cut {change.cut})"


def json_change(change: Change) -> str:
    """`{"op": "+", "batch": 3, "cut": "0/16B3748", "query": "q", "row": {"animal": "Cassowary"}}`."""
    said = {"op": change.sign, "batch": change.batch, "cut": str(change.cut), "query": change.query}
    return json.dumps(said | {"row": row_object(change.schema, change.row)}, ensure_ascii=False)


def csv_change(change: Change) -> str:
    """`+,3,0/16B3748,Cassowary,1200.0`."""
    return csv_line([change.sign, change.batch, str(change.cut), *change.row])


def csv_head(change: Change) -> str:
    """The names over the columns of `csv_change`."""
    return csv_line(["op", "batch", "cut", *change.schema.names])


def row_object(schema: Schema, row: Row) -> dict[str, object]:
    """A row as a JSON object."""
    return {name: json_value(value) for name, value in zip(schema.names, row, strict=True)}


PLAIN = Format(plain_line)
JSON = Format(json_change)
CSV = Format(csv_change, csv_head)


class LineView:
    """A view that writes a line for each change of a live query; who adds them up has the answer."""

    def __init__(self, out: TextIO, notes: TextIO, form: Format) -> None:
        self.shown = False
        self._out = out
        self._notes = notes
        self._form = form
        self._progress = Lines(notes)
        self._began = Began()
        self._answers: Answers | None = None
        self._under: str | None = None

    def report(self, report: Report) -> None:
        """Say how far it has come."""
        self._began.report(report)
        self._progress.report(report)

    def open(self, answers: Answers) -> None:
        """On resuming, what is true already comes first; one that begins anew may have other columns."""
        self._answers, self._under = answers, None
        resumed = self._began.text(answers)
        if resumed is None:
            return
        print(resumed, file=self._notes, flush=True)
        for query in answers.queries:
            schema = answers.schema(query)
            rows = sorted(rows_of(answers.rows(query, ALL_ROWS), schema), key=order_key)
            self._show(Change(query, schema, "+", row, None, answers.cut()) for row in rows)

    def batch(self, done: BatchDone) -> None:
        """Write the changes of every live query."""
        for query in self._answers.queries if self._answers else ():
            changes = done.changes.get(query)
            if changes is not None:
                self._show(
                    Change(query, changes.schema, sign, row, done.batch_id, done.cut)
                    for sign, row in signed_rows(changes)
                )

    def say(self, text: str) -> None:
        """Print it as it is."""
        print(text, file=self._out, flush=True)

    def close(self) -> None:
        """Everything is written already."""
        self._out.flush()

    def _show(self, changes: Iterable[Change]) -> None:
        for change in changes:
            if change.query != self._under and (head := self._form.head(change)):
                print(head, file=self._out)
            self._under = change.query
            print(self._form.line(change), file=self._out)
            self.shown = True
        self._out.flush()


def signed_rows(changes: ChangeSet) -> Iterable[tuple[str, Row]]:
    """All changes; within a piece the old row of a key stands before its new one."""
    names = changes.schema.key or changes.schema.names[:1]
    identity = [changes.schema.names.index(name) for name in names]
    for piece in changes.batches():
        gone, come = split(pa.Table.from_batches([piece]), changes.schema)
        signed = [("-", row) for row in gone] + [("+", row) for row in come]
        yield from sorted(signed, key=lambda change: order_key([change[1][index] for index in identity]))
