"""From a broker's messages to typed events.

`decoding` gives a query over a relation `messages` that has the columns of `log.events.message_schema`. It gives the
table's columns, and beside them those of `log.events` and

    __hw_error      what is wrong with the message, naming the field; NULL for good rows
    __hw_source_at  where the event stands in the log of the database, comparable; NULL if that is not known
    __hw_source_ms  when it was committed there, in milliseconds since 1970
    __hw_topic, __hw_partition, __hw_offset
    __hw_key, __hw_value    the bytes of a message that is wrong, else NULL

A message that is wrong gives one row, whose kind is NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from headwater.formats.kinds import Formats
from headwater.formats.metadata import METADATA
from headwater.schema import Schema

__all__ = ["METADATA", "Reading", "decoding"]

ERROR = "__hw_error"
SOURCE_AT, SOURCE_MS = "__hw_source_at", "__hw_source_ms"
TOPIC, PARTITION, OFFSET = "__hw_topic", "__hw_partition", "__hw_offset"
KEY, VALUE = "__hw_key", "__hw_value"


@dataclass(frozen=True)
class Reading:
    """What is to be read: the table's columns, how messages are written, and what a message means."""

    schema: Schema
    formats: Formats
    metadata: Mapping[str, str]
    kind: Literal["append", "changelog", "upsert"]


def decoding(reading: Reading) -> exp.Query:
    """The query that turns messages into events."""
    raise NotImplementedError
