"""Messages that an application wrote into the log (`pg_logical_emit_message`), as rows of a declared table."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater.log.pgoutput import Begin, Said
from headwater.log.positions import Position
from headwater.log.text_values import RAW
from headwater.schema import Column, Schema

MESSAGE_SCHEMA = Schema(
    (
        Column("prefix", "string"),
        Column("content", "string"),
        Column("lsn", "string"),
        Column("transaction_id", "bigint"),
        Column("commit_time", "timestamp"),
        Column("transactional", "boolean"),
    )
)
"""All a message has; a table may declare some of it, `content` also as BYTES and `lsn` also as BIGINT."""

_PLACES = {name: at for at, name in enumerate(MESSAGE_SCHEMA.names)}
_LSN_AS_NUMBER = len(_PLACES)
"""Behind its columns a message has its LSN again, as a number."""

_FAMILIES = ("text", RAW, "other", "number", "timestamptz", "bool", "number")


def message_place(column: Column) -> int:
    """Where the value of a declared column stands in a `message_row`."""
    name = column.name.lower()
    return _LSN_AS_NUMBER if name == "lsn" and column.type == "bigint" else _PLACES[name]


def message_family(place: int) -> str:
    """How a value of a `message_row` is read."""
    return _FAMILIES[place]


def message_row(said: Said, begun: Begin | None) -> tuple[bytes | None, ...]:
    """A message as the server would write a row: text, with NULL where it belongs to no transaction."""
    return (
        said.prefix.encode(),
        said.content,
        str(Position(said.at, "lsn")).encode(),
        None if begun is None else str(begun.xid).encode(),
        None if begun is None else datetime.fromtimestamp(begun.time, UTC).isoformat(" ").encode(),
        b"f" if begun is None else b"t",
        str(said.at).encode(),
    )
