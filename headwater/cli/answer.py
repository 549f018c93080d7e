"""The answer of one query as the terminal holds it: its rows now, and which cells changed when."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.cli.cells import cell_text
from headwater.schema import WEIGHT, Schema

Row = tuple[Any, ...]

LONG_AGO = -math.inf


@dataclass(frozen=True)
class ShownRow:
    """A row, and for each cell the moment it last changed."""

    cells: Row
    changed: tuple[float, ...]


class Answer:
    """A bag of rows that follows change sets."""

    def __init__(self, name: str, schema: Schema) -> None:
        self.name = name
        self.schema = schema
        self._count: Counter[Row] = Counter()
        self._changed: dict[Row, tuple[float, ...]] = {}
        # Without a key the first column is the best guess at which new row stands for which old one.
        names = schema.key or schema.names[:1]
        self._identity = [schema.names.index(name) for name in names]

    def __len__(self) -> int:
        return self._count.total()

    def fill(self, rows: pa.Table) -> None:
        """Begin with rows that are no news."""
        self._count = Counter(_hashable(rows_of(rows, self.schema)))
        self._changed = {}

    def apply(self, changes: pa.Table, now: float) -> None:
        """Follow the changes of one batch."""
        gone, come = (_hashable(rows) for rows in split(changes, self.schema))
        before = {self._who(row): row for row in gone}
        stamps = {row: self._changed.get(row) for row in gone}
        for row in gone:
            self._count[row] -= 1
            if self._count[row] == 0:
                del self._count[row]
                self._changed.pop(row, None)
        for row in come:
            self._count[row] += 1
            old = before.get(self._who(row))
            self._changed[row] = _stamped(row, old, stamps.get(old) if old else None, now=now)

    def rows(self) -> list[ShownRow]:
        """All rows in a stable order."""
        unchanged = (LONG_AGO,) * len(self.schema.columns)
        ordered = sorted(self._count.items(), key=lambda item: self._order(item[0]))
        return [
            ShownRow(row, self._changed.get(row, unchanged)) for row, count in ordered for _ in range(count)
        ]

    def _who(self, row: Row) -> Row:
        return tuple(row[index] for index in self._identity)

    def _order(self, row: Row) -> tuple[Any, ...]:
        return order_key((*self._who(row), *row))


def _stamped(row: Row, old: Row | None, stamps: tuple[float, ...] | None, *, now: float) -> tuple[float, ...]:
    if old is None:
        return (now,) * len(row)
    carried = stamps or (LONG_AGO,) * len(row)
    return tuple(now if new != was else stamp for new, was, stamp in zip(row, old, carried, strict=True))


def order_key(row: Sequence[Any]) -> tuple[Any, ...]:
    """Rows sort by value, NULL and text that stands for no value last."""
    values = [comparable(value) for value in row]
    return tuple((value is None, isinstance(value, str), "" if value is None else value) for value in values)


def split(changes: pa.Table, schema: Schema) -> tuple[list[Row], list[Row]]:
    """The rows that went and the rows that came, both in order."""
    weights: Iterable[int] = changes.column(WEIGHT).to_pylist()
    gone: list[Row] = []
    come: list[Row] = []
    for row, weight in zip(rows_of(changes, schema), weights, strict=True):
        (gone if weight < 0 else come).extend([row] * abs(weight))
    return sorted(gone, key=order_key), sorted(come, key=order_key)


def rows_of(table: pa.Table, schema: Schema) -> Iterator[Row]:
    """The rows of a table as Python values."""
    yield from zip(*(table.column(name).to_pylist() for name in schema.names), strict=True)


def comparable(value: Any) -> Any:
    """A value that equals itself and can be hashed and sorted, which NaN and lists cannot."""
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case list() | dict():
            return cell_text(value)
        case _:
            return value


def _hashable(rows: Iterable[Row]) -> list[Row]:
    return [tuple(comparable(value) for value in row) for row in rows]
