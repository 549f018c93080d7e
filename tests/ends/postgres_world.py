"""What the tests of the jdbc sink share: sink tables, change sets, and a client of the server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg2
import pyarrow as pa

from headwater.changes.change_set import ChangeSet, Rows, weighted_schema
from headwater.options import read_options
from headwater.schema import Column, Schema
from headwater.sinks.base import SinkContext, SinkTable
from headwater.sinks.jdbc.options import JdbcOptions
from headwater.sinks.jdbc.sink import JdbcSink, open_jdbc


def schema(columns: str, *key: str) -> Schema:
    """A schema from text: `schema("id int, name string", "id")`; after the comma comes a space."""
    parts = [part.strip().rsplit(" ", 1) for part in columns.split(", ")]
    return Schema(tuple(Column(name, kind) for name, kind in parts), key)


def changes(table: SinkTable, *rows: tuple[object, ...]) -> ChangeSet:
    """A change set from rows that begin with their weight: `(+1, 7, "ann")`."""
    columns = [list(column) for column in zip(*[(*row[1:], row[0]) for row in rows], strict=True)]
    return arrow_changes(table, columns)


def arrow_changes(table: SinkTable, columns: Sequence[Any]) -> ChangeSet:
    """A change set from columns, the weight last."""
    wanted = weighted_schema(table.schema)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, wanted, strict=True)] if columns else []
    made = pa.table(arrays, schema=wanted) if arrays else wanted.empty_table()
    return ChangeSet(table.name, table.schema, (Rows(made),))


def wait_for(what: Callable[[], bool], *, seconds: float = 120.0, pause: float = 0.01) -> None:
    """Return as soon as a condition holds, looked at again after each pause; fail if it does not in time."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(pause)


class Database:
    """One database of the embedded server, and sinks that write to it."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._parts = urlsplit(uri)
        self._client = psycopg2.connect(uri)
        self._client.autocommit = True

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement in a transaction of its own and give its rows."""
        with self._client.cursor() as cursor:
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A cursor of a second session, in an open transaction that is undone at the end."""
        connection = psycopg2.connect(self.uri)
        try:
            yield connection.cursor()
        finally:
            connection.close()

    def url(self, parameters: str = "") -> str:
        """The database as a jdbc url."""
        where = f"{self._parts.hostname}:{self._parts.port}{self._parts.path}"
        return f"jdbc:postgresql://{where}{parameters}"

    def table(self, name: str, declared: Schema, *, append_only: bool = False, **options: str) -> SinkTable:
        """A sink table; options are written with underscores for dashes and `__` for dots."""
        given = {
            "url": self.url(),
            "table-name": name,
            "username": str(self._parts.username),
            "password": str(self._parts.password),
        }
        given |= {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
        read = read_options(JdbcOptions, given, owner="connector 'jdbc'", place=None)
        return SinkTable(name, declared, read, append_only)

    def close(self) -> None:
        """Close the client."""
        self._client.close()


@contextmanager
def sink(
    *tables: SinkTable, pipeline: str = "p", waits: Callable[[str | None], None] = lambda trouble: None
) -> Iterator[JdbcSink]:
    """An open sink over tables."""
    opened = open_jdbc(tables, SinkContext(pipeline, waits=waits))
    try:
        yield opened
    finally:
        opened.close()
