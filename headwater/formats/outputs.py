"""The columns of decoded events, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from headwater.formats.kinds import Formats
from headwater.formats.layers import Layers
from headwater.formats.metadata import metadata_value
from headwater.formats.trees import Tree, call, case, cast, column, given, is_null, null, number
from headwater.log.events import APPENDED, COMMITTED, KIND, OP, SEQ, TRANSACTION, UNCHANGED
from headwater.schema import Schema

ERROR = "__hw_error"
SOURCE_AT, SOURCE_MS = "__hw_source_at", "__hw_source_ms"
TOPIC, PARTITION, OFFSET = "__hw_topic", "__hw_partition", "__hw_offset"
KEY, VALUE = "__hw_key", "__hw_value"

PARTITIONS = 4096
"""Up to so many partitions of a topic have numbers of their own in the order of events."""


@dataclass(frozen=True)
class Reading:
    """What is to be read: the table's columns, how messages are written, and what a message means."""

    schema: Schema
    formats: Formats
    metadata: Mapping[str, str]
    """Columns that are taken from something besides the value, and from what: `{"at": "timestamp"}`."""
    kind: Literal["append", "changelog", "upsert"]


@dataclass(frozen=True)
class Events:
    """What the events of a table are made of, as trees over the layers below."""

    values: Mapping[str, Tree]
    """The columns that come from key or value."""
    kind: Tree
    half: Tree
    error: Tree
    known: Mapping[str, Tree]
    """What metadata columns can be taken from."""
    unchanged: Tree | None = None
    source_at: Tree | None = None
    source_ms: Tree | None = None
    op: Tree | None = None
    transaction: Tree | None = None


def events_query(layers: Layers, reading: Reading, events: Events, *, where: Tree | None = None) -> exp.Query:
    """The query that gives the events."""
    fine = is_null(events.error)
    place = exp.Mod(this=column("partition"), expression=number(PARTITIONS))
    message = exp.Add(
        this=exp.Mul(this=column("offset"), expression=number(PARTITIONS)), expression=exp.Paren(this=place)
    )
    twice = exp.Mul(this=exp.Paren(this=message), expression=number(2))
    outputs = []
    for col in reading.schema:
        if col.name in reading.metadata:
            name = reading.metadata[col.name]
            value = metadata_value(events.known, name, kind=col.type, column_name=col.name)
        else:
            value = events.values[col.name]
        outputs.append((col.name, value))
    outputs += [
        (KIND, case((fine, events.kind))),
        (SEQ, cast(exp.Add(this=twice, expression=events.half.copy()), "bigint")),
        (UNCHANGED, events.unchanged or null("array<string>")),
        (OP, events.op or null("string")),
        (TRANSACTION, events.transaction or null("string")),
        (COMMITTED, call("timestamp_millis", events.source_ms or null("bigint"))),
        (APPENDED, column("timestamp")),
        (ERROR, events.error),
        (SOURCE_AT, events.source_at or null("array<bigint>")),
        (SOURCE_MS, events.source_ms or null("bigint")),
        (TOPIC, column("topic")),
        (PARTITION, column("partition")),
        (OFFSET, column("offset")),
        (KEY, case((given(events.error), column("key")))),
        (VALUE, case((given(events.error), column("value")))),
    ]
    return layers.query(outputs, where=where)
