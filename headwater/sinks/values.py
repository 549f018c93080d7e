"""The in-memory sink: keeps every batch and the rows that result, for tests and notebooks.

    kept("shop").rows("totals")

What is kept belongs to the pipeline (or to the option `name`) and lives as long as the process, so that a
pipeline opened again finds what it wrote, as it would in a database.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.options import option
from headwater.schema import Column, Schema
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.by_key import ByKey, Row, by_key, by_table, named, two_rows


@dataclass(frozen=True)
class ValuesOptions:
    """The options of connector 'values' as a sink."""

    name: str = option("name", "what is kept goes by this name; by default the pipeline's", default="")


class Kept:
    """What one pipeline wrote: `batches` by id, and the rows that result of each table."""

    def __init__(self) -> None:
        self.batches: dict[int, Mapping[str, pa.Table]] = {}
        self._bags: dict[str, Counter[Row]] = {}
        self._columns: dict[str, tuple[Column, ...]] = {}
        """What the rows of each table are rows of: a script may have been edited since."""

    def rows(self, table: str) -> list[Row]:
        """The rows of a table now, in no order, each as often as it is there."""
        return list(self.bag(table).elements())

    def bag(self, table: str) -> Counter[Row]:
        """The rows of a table now and how often each is there."""
        return Counter(self._bags.get(table, {}))

    def take(self, table: SinkTable, changes: ChangeSet) -> Counter[Row]:
        """The bag as it will be after the changes; nothing is kept yet."""
        bag = self.bag(table.name)
        if table.schema.key:
            return self._keyed(table, bag, by_key(table, _weighted(changes)))
        for row, weight in _weighted(changes):
            bag[row] += weight
        _check_present(table, bag)
        return +bag

    def keep(self, batch_id: int, changes: Mapping[str, ChangeSet], bags: Mapping[str, Counter[Row]]) -> None:
        """Keep a batch and the bags that result."""
        self.batches[batch_id] = {name: change_set.table() for name, change_set in changes.items()}
        self._bags.update(bags)
        self._columns.update({name: change_set.schema.columns for name, change_set in changes.items()})

    def _keyed(self, table: SinkTable, bag: Counter[Row], grouped: ByKey) -> Counter[Row]:
        """A row that goes is found by its key, and must be the one that is here, unless columns were edited since."""
        before = self._columns.get(table.name, table.schema.columns)
        is_edited = before != table.schema.columns
        held = _by_key(table, _laid_out(bag, before, table.schema) if is_edited else bag)
        for key, row in (grouped.gone | grouped.replaced).items():
            had = held.pop(key, None)
            if had is None or not (is_edited or had == row):
                raise _not_there(table, row)
        for key, row in grouped.come.items():
            if key in held and not table.append_only:
                raise two_rows(table, key, (held[key], row))
            held[key] = row
        return Counter(held.values())


KEPT: dict[str, Kept] = {}
"""What the 'values' sinks of this process keep, by name."""


def kept(name: str) -> Kept:
    """What is kept under a name, made on first use."""
    return KEPT.setdefault(name, Kept())


class ValuesSink:
    """Writes into the memory of this process."""

    def __init__(self, tables: Sequence[SinkTable], context: SinkContext) -> None:
        self._tables = {table.name: table for table in tables}
        self._kept = kept(tables[0].options.name or context.pipeline)

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Keep the batch whole, or nothing of it; one that is already there changes nothing."""
        last = self.last_batch()
        if last is not None and batch_id <= last:
            return
        whole = by_table(changes)
        bags = {name: self._kept.take(self._tables[name], change_set) for name, change_set in whole.items()}
        self._kept.keep(batch_id, whole, bags)

    def last_batch(self) -> int | None:
        """The last batch kept under this name."""
        return max(self._kept.batches, default=None)

    def close(self) -> None:
        """Nothing is held: what is kept stays for whoever looks."""


def _by_key(table: SinkTable, rows: Iterable[Row]) -> dict[Row, Row]:
    places = [table.schema.names.index(name) for name in table.schema.key]
    return {tuple(row[place] for place in places): row for row in rows}


def _laid_out(rows: Iterable[Row], before: Sequence[Column], now: Schema) -> list[Row]:
    """Rows of former columns in the order of those of now; what was not there is NULL."""
    places = {column.name: place for place, column in enumerate(before)}
    found = [places.get(name) for name in now.names]
    return [tuple(None if place is None else row[place] for place in found) for row in rows]


def _check_present(table: SinkTable, bag: Counter[Row]) -> None:
    for row, count in bag.items():
        if count < 0:
            raise _not_there(table, row)


def _not_there(table: SinkTable, row: Row) -> SinkError:
    return SinkError(
        f"a row is taken from sink table '{table.name}' that is not in it",
        detail=f"{named(table.schema.names, row)}.",
        hint="What is kept comes from another state of the pipeline: use another 'name'.",
        place=table.place,
    )


def _weighted(changes: ChangeSet) -> Iterator[tuple[Row, int]]:
    for batch in changes.batches():
        *columns, weights = (column.to_pylist() for column in batch.columns)
        for row, weight in zip(zip(*columns, strict=True), weights, strict=True):
            yield tuple(_frozen(value) for value in row), weight


def _frozen(value: object) -> object:
    """A value that can stand in a bag: lists and maps as tuples, every NaN the same one."""
    match value:
        case float() if math.isnan(value):
            return math.nan
        case list() | tuple():
            return tuple(_frozen(part) for part in value)
        case dict():
            return tuple((name, _frozen(part)) for name, part in value.items())
        case _:
            return value


VALUES = SinkType(
    options=ValuesOptions,
    group=lambda options: f"values-{options.name}" if options.name else "values",
    open=ValuesSink,
)
