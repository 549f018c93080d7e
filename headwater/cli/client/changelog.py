"""A live query as lines: each change of a row, `+I -U +U -D`, under a head with the names of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from headwater.changes.change_set import ChangeSet
from headwater.cli.answer import Row, order_key, rows_of, split
from headwater.cli.cells import cell_text
from headwater.cli.live import NUMBERS
from headwater.cli.progress import NOTES, Bars, words
from headwater.cli.view import ALL_ROWS
from headwater.cli.widths import fitting
from headwater.runtime.conversation import LiveAnswers
from headwater.runtime.facts import BatchDone
from headwater.schema import Schema
from headwater.sources.base import Report

INSERT, BEFORE, AFTER, DELETE = "+I", "-U", "+U", "-D"

STYLES = {INSERT: "green", BEFORE: "dim yellow", AFTER: "yellow", DELETE: "red"}

Operation = tuple[str, Row]


def operations(changes: ChangeSet, key: tuple[str, ...] | None) -> Iterator[Operation]:
    """The changes as Flink names them: of one key, a row that went and one that came are an update.

    A key without columns is that of an answer with one row. Without a key nobody can tell which row came for which:
    there are only rows that come and go.
    """
    if changes.is_small:
        yield from _paired(changes.table(), changes.schema, key)
        return
    for piece in changes.batches():
        yield from _paired(pa.Table.from_batches([piece]), changes.schema, key)


def _paired(table: pa.Table, schema: Schema, names: tuple[str, ...] | None) -> Iterator[Operation]:
    gone, come = split(table, schema)
    key = [schema.names.index(name) for name in names or ()]
    if names is None:
        yield from ((DELETE, row) for row in gone)
        yield from ((INSERT, row) for row in come)
        return

    def who(row: Row) -> tuple[object, ...]:
        return order_key([row[index] for index in key])

    before = {who(row) for row in gone}
    after = {who(row) for row in come}
    signed = [(who(row), 0, BEFORE if who(row) in after else DELETE, row) for row in gone]
    signed += [(who(row), 1, AFTER if who(row) in before else INSERT, row) for row in come]
    for *_, operation, row in sorted(signed, key=lambda one: one[:2]):
        yield operation, row


@dataclass(frozen=True)
class Look:
    """The signs of which head and lines are made."""

    edge: str
    """Before the first and behind the last cell."""
    between: str
    rule: str
    cross: str
    """Where a line below the head meets one between columns."""
    tells_batches: bool
    """True if a line says where a batch ends."""


CHANGELOG = Look(edge="", between="│", rule="─", cross="┼", tells_batches=True)
TABLEAU = Look(edge="|", between="|", rule="-", cross="+", tells_batches=False)


class ChangelogView:
    """A view that writes a line for each change; the head comes again when columns need more room."""

    def __init__(self, console: Console, look: Look) -> None:
        self.shown = False
        self._console = console
        self._look = look
        self._bars: Bars | None = None
        self._query = ""
        self._schema = Schema(())
        self._key: tuple[str, ...] | None = None
        self._wide: list[int] = []
        self._count = 0

    def report(self, report: Report) -> None:
        """Show how far it has come, until there is something to show."""
        if not self.shown:
            self._bars = self._bars or Bars(self._console)
            self._bars.report(report)
        elif report.stage in NOTES:
            self.say(words(report))

    def open(self, answers: LiveAnswers) -> None:
        """What is true already comes first; one that begins anew may have other columns."""
        self._wide = []
        self._query = answers.queries[0]
        self._schema = answers.schema(self._query)
        self._key = answers.row_key(self._query)
        rows = rows_of(answers.rows(self._query, ALL_ROWS), self._schema) if answers.cut().positions else ()
        self._write([(INSERT, row) for row in sorted(rows, key=order_key)])

    def batch(self, done: BatchDone) -> None:
        """Write what the batch changed."""
        changes = done.changes.get(self._query)
        if changes is None or not changes.count:
            return
        self._write(list(operations(changes, self._key)))
        if self._look.tells_batches:
            self._print(Text(batch_line(done), style="dim"))

    def say(self, text: str) -> None:
        """Print it as it is."""
        self._end_bars()
        self._print(Text(text, style="dim"))

    def close(self) -> None:
        """Close the box, and say how many changes there were."""
        self._end_bars()
        if self._wide and not self._look.tells_batches:
            self._print(self._rule())
        if self.shown:
            self._print(Text(f"{self._count:,} {'change' if self._count == 1 else 'changes'}", style="dim"))

    def _end_bars(self) -> None:
        if self._bars is not None:
            self._bars.close()
            self._bars = None

    def _write(self, found: Sequence[Operation]) -> None:
        if not found:
            return
        self._end_bars()
        self._make_room([row for _, row in found])
        for operation, row in found:
            self._print(self._line(operation, row))
        self._count += len(found)
        self.shown = True

    def _make_room(self, rows: Sequence[Row]) -> None:
        """Widen the columns to what comes, as far as the screen goes; then the head has to come again."""
        columns = {name: [row[at] for row in rows] for at, name in enumerate(self._schema.names)}
        wide = fitting(columns, self._console.size.width - 5)
        if not self._wide or any(need > has for need, has in zip(wide, self._wide, strict=True)):
            self._wide = [max(sizes) for sizes in zip(wide, self._wide or wide, strict=True)]
            head = self._cells("op", self._schema.names, style="bold")
            if not self._look.tells_batches:
                self._print(self._rule())
            self._print(head)
            self._print(self._rule())

    def _line(self, operation: str, row: Row) -> Text:
        return self._cells(operation, [cell_text(value) for value in row], style=STYLES[operation])

    def _cells(self, operation: str, cells: Iterable[str], *, style: str) -> Text:
        look = self._look
        padded = [f" {operation} "]
        for column, cell, wide in zip(self._schema, cells, self._wide, strict=True):
            padded.append(f" {_fitted(cell, wide, is_right=column.type.startswith(NUMBERS))} ")
        between = Text(look.between, style="dim")
        line = between.join(Text(cell, style=style) for cell in padded)
        return Text.assemble((look.edge, "dim"), line, (look.edge, "dim"))

    def _rule(self) -> Text:
        look = self._look
        corner = look.cross if look.edge else ""
        rules = look.cross.join(look.rule * (wide + 2) for wide in (2, *self._wide))
        return Text(f"{corner}{rules}{corner}", style="dim")

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def _fitted(cell: str, wide: int, *, is_right: bool) -> str:
    if (size := cell_len(cell)) > wide:
        return set_cell_size(cell, wide - 1) + "…"
    return " " * (wide - size) + cell if is_right else cell + " " * (wide - size)


def batch_line(done: BatchDone) -> str:
    """`── batch 12, cut 0/16B3748, lag 0.21 s`."""
    lag = "" if done.lag is None else f", lag {done.lag:.2f} s"
    return f"── batch {done.batch_id}, cut {done.cut}{lag}"
