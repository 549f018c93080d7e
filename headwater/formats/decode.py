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

from sqlglot import exp

from headwater.formats.debezium import changelog
from headwater.formats.debezium_plain import UNREAD, plain_changelog
from headwater.formats.metadata import METADATA
from headwater.formats.outputs import Reading
from headwater.formats.rows import appended, upserted

__all__ = ["METADATA", "UNREAD", "Reading", "decoding", "quick_decoding"]


def decoding(reading: Reading) -> exp.Query:
    """The query that turns messages into events."""
    match reading.kind:
        case "append":
            return appended(reading)
        case "upsert":
            return upserted(reading)
        case "changelog":
            return changelog(reading)


def quick_decoding(reading: Reading) -> exp.Query | None:
    """A shorter query for messages as most are, None if there is none: rows it cannot tell have the error `UNREAD`."""
    return plain_changelog(reading) if reading.kind == "changelog" else None
