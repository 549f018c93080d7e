"""What a log says, in columns.

Events of one table are rows of an Arrow table or of Parquet files: the table's own columns, typed as the
user declared them, and beside them

    __hw_kind       insert | delete | upsert | delete_key | truncate
    __hw_weight     +1 for insert and upsert, -1 for delete and delete_key, 0 for truncate
    __hw_position   the position of the commit, as a number
    __hw_seq        the order of the event within the log, strictly increasing
    __hw_unchanged  the columns an upsert did not send because they did not change, or NULL; of a truncate those in
                    which the rows that go are equal to it, or NULL if all rows go

Sources that know it also tell how a row came to be, for whoever asks for the history of a table:

    __hw_op           c created, u updated, d deleted, r there from the beginning, t emptied
    __hw_transaction  the name of the transaction
    __hw_committed    when it was committed
    __hw_appended     when it came into our log

An update of a whole row is a `delete` and then an `insert`, both with `u`, one right after the other.

`insert` and `delete` carry the whole row, so they are changes as they stand. `upsert` is a whole new row
whose predecessor, if there is one, has to be looked up by key; `delete_key` has only its key columns. If an
update changes the key, the `delete_key` of the old one stands directly before the `upsert` (its seq is one
less), and what that upsert left unchanged is what the row of the old key had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from headwater.log.losses import Loss
from headwater.log.positions import Position
from headwater.schema import WEIGHT, Schema, arrow_schema

KIND = "__hw_kind"
POSITION = "__hw_position"
SEQ = "__hw_seq"
UNCHANGED = "__hw_unchanged"

OP, TRANSACTION, COMMITTED, APPENDED = "__hw_op", "__hw_transaction", "__hw_committed", "__hw_appended"
HISTORY = (OP, TRANSACTION, COMMITTED, APPENDED)
CREATED, UPDATED, DELETED, FIRST, EMPTIED = "c", "u", "d", "r", "t"

INSERT, DELETE, UPSERT, DELETE_KEY, TRUNCATE = "insert", "delete", "upsert", "delete_key", "truncate"
WEIGHTS = {INSERT: 1, DELETE: -1, UPSERT: 1, DELETE_KEY: -1, TRUNCATE: 0}
"""The weight each kind of event carries."""

SMALL_ROWS = 50_000
"""Up to so many rows travel as Arrow through the driver; more stay in files that Spark reads."""


@dataclass(frozen=True)
class Events:
    """The events of one table in log order: either `rows`, or `files` when there are many."""

    count: int
    rows: pa.Table | None = None
    files: tuple[Path, ...] = ()
    whole_rows: bool = True
    """True if all events are insert or delete, so that no look-up in State is needed."""


@dataclass(frozen=True)
class Span:
    """The messages of one partition of a topic from `begin` up to, not with, `end`."""

    topic: str
    partition: int
    begin: int
    end: int


@dataclass(frozen=True)
class Messages:
    """What a broker holds for one table, as bytes: either `rows`, or only the spans where there are many.

    `rows` has the columns of `message_schema`. Spark reads large spans on the executors, by `properties`.
    """

    spans: tuple[Span, ...]
    rows: pa.Table | None = None
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        """About how many messages there are: what a broker removed meanwhile is counted too."""
        return len(self.rows) if self.rows is not None else sum(s.end - s.begin for s in self.spans)


def message_schema() -> pa.Schema:
    """A message as Spark's own Kafka reader names its parts."""
    header = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
    return pa.schema(
        [
            pa.field("topic", pa.string()),
            pa.field("partition", pa.int32()),
            pa.field("offset", pa.int64()),
            pa.field("timestamp", pa.timestamp("us", tz="UTC")),
            pa.field("timestampType", pa.int32()),
            pa.field("key", pa.binary()),
            pa.field("value", pa.binary()),
            pa.field("headers", pa.list_(header)),
        ]
    )


@dataclass(frozen=True)
class Delivery:
    """Whole transactions: everything a source says after one position, up to and with another."""

    position: Position
    tables: Mapping[str, Events]
    committed_at: float | None = None
    """When the last transaction in it was committed at the source, in seconds since 1970."""
    messages: Mapping[str, Messages] = field(default_factory=dict)
    """What has to be decoded first, for tables of a broker."""
    losses: tuple[Loss, ...] = ()
    """What can no longer be told, from the first of these transactions on."""


def event_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema of a table's events."""
    columns = arrow_schema(schema)
    for extra in (
        pa.field(KIND, pa.string()),
        pa.field(WEIGHT, pa.int8()),
        pa.field(POSITION, pa.int64()),
        pa.field(SEQ, pa.int64()),
        pa.field(UNCHANGED, pa.list_(pa.string())),
    ):
        columns = columns.append(extra)
    return columns


def told_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema of events that tell how rows came to be."""
    moment = pa.timestamp("us", tz="UTC")
    columns = event_schema(schema)
    for name, kind in zip(HISTORY, (pa.string(), pa.string(), moment, moment), strict=True):
        columns = columns.append(pa.field(name, kind))
    return columns


def first_history(count: int, appended: datetime) -> list[pa.Array]:
    """What is told of rows that were there from the beginning."""
    moment = pa.timestamp("us", tz="UTC")
    return [
        pa.repeat(FIRST, count),
        pa.nulls(count, pa.string()),
        pa.nulls(count, moment),
        pa.repeat(pa.scalar(appended, moment), count),
    ]
