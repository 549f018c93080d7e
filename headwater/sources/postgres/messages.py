"""Tables whose rows are an application's messages: no table at the server, no first rows, only the log."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from headwater.errors import SourceError
from headwater.log.layout import Layout
from headwater.log.manifest import LoggedTable
from headwater.log.messages import MESSAGE_SCHEMA, message_family, message_place
from headwater.log.store import LogWriter
from headwater.log.text_values import can_read
from headwater.nearest import nearest_hint
from headwater.schema import Column
from headwater.sources.base import SourceTable
from headwater.sources.postgres.config import CaptureConfig, CaptureTable
from headwater.sources.postgres.options import OWN_PREFIX


def check_messages(tables: Sequence[SourceTable]) -> None:
    """Tables of messages declare what a message has."""
    for table in tables:
        if not table.options.messages:
            continue
        if table.metadata:
            raise SourceError(
                f"messages have no metadata '{next(iter(table.metadata.values()))}'",
                detail=f"Table '{table.name}' reads messages. Their columns are {', '.join(MESSAGE_SCHEMA.names)}.",
                hint="Declare these without METADATA.",
                place=table.place,
            )
        for column in table.schema:
            _check_column(table, column)
        if table.schema.key and "lsn" not in [name.lower() for name in table.schema.key]:
            raise SourceError(
                f"a key of table '{table.name}' must hold lsn",
                detail=f"The key is ({', '.join(table.schema.key)}), and two messages may be equal in it.",
                hint="Remove the PRIMARY KEY, or make it (lsn).",
                place=table.place,
            )


def _check_column(table: SourceTable, column: Column) -> None:
    natural = MESSAGE_SCHEMA.find(column.name)
    if natural is None:
        raise SourceError(
            f"messages have no column '{column.name}'",
            detail=f"Table '{table.name}' reads messages. Their columns are {', '.join(MESSAGE_SCHEMA.names)}.",
            hint=nearest_hint(column.name, MESSAGE_SCHEMA.names, "columns"),
            place=table.place,
        )
    if not can_read(message_family(message_place(column)), column.type):
        other = {"content": " or BYTES", "lsn": " or BIGINT"}.get(natural.name, "")
        raise SourceError(
            f"column '{column.name}' of table '{table.name}' cannot be read as {column.type}",
            detail=f"Of a message it is {natural.type}.",
            hint=f"Declare it as {natural.type.upper()}{other}.",
            place=table.place,
        )


def reads(prefixes: Sequence[str], prefix: str) -> bool:
    """True if messages of a prefix are among those a table names: `reads(["audit*"], "audit.login")`."""
    if prefix == OWN_PREFIX:
        return False
    return any(re.fullmatch(".*".join(map(re.escape, p.split("*"))), prefix, re.DOTALL) for p in prefixes)


def message_layout(table: CaptureTable, snapshot: int | None) -> Layout:
    """How messages become rows of a declared table."""
    places = tuple(message_place(column) for column in table.schema)
    families = tuple(message_family(place) for place in places)
    return Layout(table.name, table.schema, places, families, snapshot, table.place)


def new_messages(config: CaptureConfig, log: LogWriter) -> tuple[CaptureTable, ...]:
    """The tables of messages that are not in the log as they are declared now."""
    known = log.manifest.tables()
    return tuple(
        table
        for table in config.tables
        if table.prefixes
        and (
            (logged := known.get(table.name)) is None
            or logged.schema.columns != table.schema.columns
            or logged.origin != _origin(table)
        )
    )


def logged_messages(table: CaptureTable, position: int | None) -> LoggedTable:
    """A table of messages that begins at a position, as the log remembers it."""
    return LoggedTable(table.name, table.schema, _origin(table), position)


def _origin(table: CaptureTable) -> str:
    # No table at a server has the schema null.
    return json.dumps([None, list(table.prefixes), None])
