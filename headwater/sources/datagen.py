"""A source that makes its rows up: the same row for the same number, however often it is asked.

The position is the number of rows released to each table, so a restart reads on where it was. Rows are
released by the wall clock, counted from the first start of the pipeline.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from headwater.errors import OptionError, SqlError
from headwater.log.events import (
    INSERT,
    KIND,
    POSITION,
    SEQ,
    SMALL_ROWS,
    UNCHANGED,
    Delivery,
    Events,
    event_schema,
)
from headwater.log.positions import Position
from headwater.options import option
from headwater.schema import WEIGHT, Schema
from headwater.sources import saved
from headwater.sources.base import SourceContext, SourceTable, SourceType
from headwater.sources.datagen_columns import MICROS, Field, Span, column_of
from headwater.sources.datagen_fields import fields_of, rows_of

STARTED, JOINED = "started", "joined"
"""The saved facts: when the first row was due, and at which position each table joined."""

MAX_TABLES = 1024
"""Room in the order of events for the tables that share a position."""


@dataclass(frozen=True)
class DatagenOptions:
    """The options of connector 'datagen'."""

    rows_per_second: int = option("rows-per-second", "how many rows are released each second", default=10)
    number_of_rows: int | None = option(
        "number-of-rows", "how many rows there are; endless if not given", default=None
    )
    fields: Mapping[str, str] = option(
        "fields.",
        "`fields.<column>.<what>`: kind (random or sequence), min, max, length, start, end, null-rate",
        prefix=True,
    )


@dataclass(frozen=True)
class Generated:
    """A table as it is made up: how each column is, and how many rows there are at most."""

    name: str
    schema: Schema
    fields: tuple[Field, ...] = field(repr=False)
    rows: int | None
    has_end: bool
    """True if somebody said where it ends. A sequence ends at last where its type does, for which nobody waits."""


class DatagenSource:
    """Makes the rows of all tables that have the same rate and number of rows."""

    def __init__(
        self,
        tables: Sequence[SourceTable],
        context: SourceContext,
        *,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._tables = [_generated(table) for table in tables]
        self._anew = {table.name for table in tables if table.anew}
        self._rate: int = tables[0].options.rows_per_second
        self._folder, self._clock, self._pause = context.folder, clock, pause
        self._started = 0.0
        self._joined: dict[str, float] = {}

    def start(self, after: Position | None) -> Position | None:
        """Go on after a position; a table that joins now, or is read anew, begins with its first row."""
        done = after.value if after else 0
        kept = saved.load(self._folder, STARTED) or {STARTED: self._clock() - done / self._rate}
        known = saved.load(self._folder, JOINED) if after else None
        at = done if known is not None else 0
        held = {name: joined for name, joined in (known or {}).items() if name not in self._anew}
        self._started = kept[STARTED]
        self._joined = {table.name: held.get(table.name, at) for table in self._tables}
        saved.save(self._folder, STARTED, kept)
        saved.save(self._folder, JOINED, self._joined)
        return None

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """The rows released after a position; each row is a transaction of its own."""
        begin = after.value if after else 0
        most = begin + max(1, min(limit, SMALL_ROWS) // len(self._tables))
        # What was released once is released, also if the clock was set back since.
        end = upto.value if upto is not None else min(self._released(), most)
        if end <= begin and after is None:
            return Delivery(Position(0), {})
        if end <= begin:
            self._pause(min(wait, self._until(begin + 1, wait)))
            end = min(self._released(), most)
        if end <= begin:
            return None
        tables = {table.name: events for table, events in self._events(begin, end)}
        return Delivery(Position(end), tables, self._started + end / self._rate)

    def now(self) -> Position:
        """What is released at this moment; where somebody said how many rows there are, all of them."""
        bound = self._bound() if all(table.has_end for table in self._tables) else None
        return Position(self._released() if bound is None else bound)

    def commit(self, position: Position) -> None:
        """Nothing: any row can be made again."""

    def close(self) -> None:
        """Nothing is held."""

    def _bound(self) -> int | None:
        ends = [None if t.rows is None else int(self._joined[t.name]) + t.rows for t in self._tables]
        known = [end for end in ends if end is not None]
        return max(known) if len(known) == len(ends) else None

    def _released(self) -> int:
        due = max(0, int((self._clock() - self._started) * self._rate + 1e-6))
        bound = self._bound()
        return due if bound is None else min(due, bound)

    def _until(self, position: int, wait: float) -> float:
        bound = self._bound()
        if bound is not None and position > bound:
            return wait
        return max(0.0, self._started + position / self._rate - self._clock())

    def _events(self, begin: int, end: int) -> Iterator[tuple[Generated, Events]]:
        for number, table in enumerate(self._tables):
            joined = int(self._joined[table.name])
            first, last = max(0, begin - joined), max(0, end - joined)
            last = last if table.rows is None else min(last, table.rows)
            if last > first:
                span = Span(first, last - first, joined)
                rows = self._rows(table, span, number)
                yield table, saved.as_events(self._folder, f"{begin}-{end}-{table.name}", rows)

    def _rows(self, table: Generated, span: Span, number: int) -> pa.Table:
        first = span.joined + span.first + 1
        positions = pa.array(range(first, first + span.count), pa.int64())
        moments = pa.array(
            [int((self._started + p / self._rate) * MICROS) for p in range(first, first + span.count)],
            pa.int64(),
        )
        made = {f.column.name: column_of(f, span, moments) for f in table.fields}
        made |= {
            KIND: pa.repeat(INSERT, span.count),
            WEIGHT: pa.repeat(pa.scalar(1, pa.int8()), span.count),
            POSITION: positions,
            SEQ: pa.array(
                range(first * MAX_TABLES + number, (first + span.count) * MAX_TABLES + number, MAX_TABLES),
                pa.int64(),
            ),
            UNCHANGED: pa.nulls(span.count, pa.list_(pa.string())),
        }
        return pa.table(made, schema=event_schema(table.schema))


def _generated(table: SourceTable) -> Generated:
    options: DatagenOptions = table.options
    if options.rows_per_second <= 0:
        raise OptionError(
            f"option 'rows-per-second' does not take the value '{options.rows_per_second}'",
            detail="It takes a number above zero.",
            place=table.place,
        )
    if options.number_of_rows is not None and options.number_of_rows < 0:
        raise OptionError(
            f"option 'number-of-rows' does not take the value '{options.number_of_rows}'",
            detail="It takes zero or more.",
            place=table.place,
        )
    fields = fields_of(table)
    has_end = options.number_of_rows is not None or any(name.endswith(".end") for name in options.fields)
    return Generated(
        table.name, table.schema, fields, rows_of(fields, options.number_of_rows), has_end=has_end
    )


def _describe(options: DatagenOptions) -> Schema:
    raise SqlError(
        "connector 'datagen' has no columns of its own",
        detail="It makes up whatever columns are declared.",
        hint="Declare the columns: CREATE TABLE name (id INT, ...) WITH ('connector' = 'datagen').",
    )


def _group(options: DatagenOptions) -> str:
    rows = "endless" if options.number_of_rows is None else str(options.number_of_rows)
    return f"datagen-{options.rows_per_second}-{rows}"


def _forget(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Nothing was made anywhere."""


DATAGEN = SourceType(
    options=DatagenOptions,
    describe=_describe,
    group=_group,
    open=DatagenSource,
    forget=_forget,
    append_only=True,
)
