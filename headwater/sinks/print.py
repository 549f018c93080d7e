"""The sink that prints each change as a line, in Flink's notation.

+I[1, ann]      a row came           -D[1, ann]      a row is gone
-U[1, ann]      a row with a key is replaced ...
+U[1, anne]     ... by this one
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from headwater.changes.change_set import ChangeSet
from headwater.options import option
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.by_key import Row, by_table

PAIRED_ROWS = 50_000
"""Up to so many changes are held in memory to bring old and new rows together; more go out as they come."""


@dataclass(frozen=True)
class PrintOptions:
    """The options of connector 'print'."""

    identifier: str = option("print-identifier", "a word before each line, as in `word> +I[1]`", default="")


class PrintSink:
    """Prints the changes of each table; a batch that this process has printed is not printed again."""

    def __init__(self, tables: Sequence[SinkTable], context: SinkContext) -> None:
        self._tables = {table.name: table for table in tables}
        self._say = context.say
        self._last: int | None = None

    def write(self, changes: Sequence[ChangeSet], batch_id: int) -> None:
        """Print the batch, line by line."""
        if self._last is not None and batch_id <= self._last:
            return
        for name, change_set in by_table(changes).items():
            identifier = self._tables[name].options.identifier
            before = f"{identifier}> " if identifier else ""
            for sign, row in signed(change_set, self._tables[name].schema.key):
                self._say(f"{before}{sign}[{', '.join(shown(value) for value in row)}]")
        self._last = batch_id

    def last_batch(self) -> int | None:
        """The last batch this process printed; a terminal remembers nothing of those before it."""
        return self._last

    def close(self) -> None:
        """Nothing is held."""


def signed(changes: ChangeSet, key: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """The rows of a change set with Flink's signs: rows that go first, old and new of one key together."""
    if not key or changes.count > PAIRED_ROWS:
        yield from (("-D", row) for row, weight in _rows(changes) if weight < 0)
        yield from (("+I", row) for row, weight in _rows(changes) if weight > 0)
        return
    places = [changes.schema.names.index(name) for name in key]
    come: dict[str, list[Row]] = {}
    for row, weight in _rows(changes):
        if weight > 0:
            come.setdefault(_key(row, places), []).append(row)
    for row, weight in _rows(changes):
        if weight > 0:
            continue
        new = come.pop(_key(row, places), [])
        yield ("-U" if new else "-D"), row
        yield from (("+U", replacing) for replacing in new)
    yield from (("+I", row) for rows in come.values() for row in rows)


def _key(row: Row, places: Sequence[int]) -> str:
    return repr([row[place] for place in places])


def _rows(changes: ChangeSet) -> Iterator[tuple[Row, int]]:
    for batch in changes.batches():
        *columns, weights = (column.to_pylist() for column in batch.columns)
        yield from zip(zip(*columns, strict=True), weights, strict=True)


def shown(value: object) -> str:
    """A value as Flink prints it: `null`, `true`, `2024-01-01T10:00`, `[a, b]`, `{k=v}`."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case bytes():
            return f"x'{value.hex()}'"
        case datetime():
            text = value.replace(tzinfo=None).isoformat()
            return f"{text}Z" if value.tzinfo else text
        case date():
            return value.isoformat()
        case dict():
            return f"({', '.join(shown(part) for part in value.values())})"
        case list() if value and all(isinstance(part, tuple) for part in value):
            return "{" + ", ".join(f"{shown(k)}={shown(v)}" for k, v in value) + "}"
        case list():
            return f"[{', '.join(shown(part) for part in value)}]"
        case _:
            return str(value)


PRINT = SinkType(options=PrintOptions, group=lambda options: "print", open=PrintSink)
