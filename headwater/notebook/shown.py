"""The answer of one live SELECT as a cell shows it: its first rows, and which of their cells are new."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.changes.change_set import ChangeSet
from headwater.cli.answer import Answer, Row
from headwater.cli.view import Answers
from headwater.schema import Schema

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")

HELD_ROWS = 10_000
"""An answer above this is not held here but read again, its first rows only."""

READ_ROWS = 1000

READ_AGAIN_SECONDS = 1.0


def is_number(kind: str) -> bool:
    """True for the types that are measured and stand on the right."""
    return kind.startswith(NUMBERS)


@dataclass(frozen=True)
class Sheet:
    """Rows to be drawn: of how many, and for each cell whether it is news."""

    name: str
    schema: Schema
    rows: tuple[Row, ...]
    news: tuple[tuple[bool, ...], ...]
    count: int
    is_cut: bool = False
    """True if there are more rows than were counted."""
    is_behind: bool = False
    """True if the last batches changed rows that could not be read any more."""


class Shown:
    """Follows the answer of a query."""

    def __init__(self, name: str, answers: Answers) -> None:
        self.name = name
        self.schema = answers.schema(name)
        self._answers = answers
        self._answer = Answer(name, self.schema)
        self._is_whole = True
        self._is_behind = False

    @property
    def pause(self) -> float:
        """How long after the last picture the next one may come: what has to be read costs more."""
        return READ_AGAIN_SECONDS if self._is_behind else 0.0

    def fill(self) -> None:
        """Take what is true already."""
        rows = self._answers.rows(self.name, READ_ROWS)
        self._answer.fill(rows)
        self._is_whole, self._is_behind = rows.num_rows < READ_ROWS, False

    def follow(self, changes: ChangeSet, now: float) -> None:
        """Take in the changes of a batch, or remember to read again."""
        is_held = self._is_whole and not self._is_behind and changes.is_small
        if is_held and len(self._answer) + changes.count <= HELD_ROWS:
            self._answer.apply(changes.table(), now)
        else:
            self._is_behind = True

    def catch_up(self) -> None:
        """Read again what could not be followed."""
        if self._is_behind:
            self.fill()

    def sheet(self, limit: int, since: float) -> Sheet:
        """The first rows; what changed after `since` is news."""
        rows = self._answer.rows()
        first = rows[:limit]
        return Sheet(
            self.name,
            self.schema,
            tuple(row.cells for row in first),
            tuple(tuple(moment > since for moment in row.changed) for row in first),
            len(rows),
            is_cut=not self._is_whole,
            is_behind=self._is_behind,
        )
