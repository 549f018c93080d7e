"""What the tests of the Postgres source share: a database, declared tables, and what a source said."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg2
import pyarrow as pa
import pyarrow.parquet as pq

from headwater.log.events import (
    DELETE,
    HISTORY,
    INSERT,
    KIND,
    POSITION,
    SEQ,
    TRUNCATE,
    UNCHANGED,
    Delivery,
    Events,
)
from headwater.log.positions import Position
from headwater.options import read_options
from headwater.schema import WEIGHT, Column, Schema
from headwater.sources.base import Report, SourceContext, SourceTable
from headwater.sources.captured.source import CapturedSource
from headwater.sources.postgres.options import PostgresOptions
from headwater.sources.postgres.source import open_source

EXTRA = (KIND, WEIGHT, POSITION, SEQ, UNCHANGED, *HISTORY)


def schema(columns: str, *key: str) -> Schema:
    """A schema from text: `schema("id int, name string", "id")`."""
    parts = [part.strip().rsplit(" ", 1) for part in columns.split(", ")]
    return Schema(tuple(Column(name, kind) for name, kind in parts), key)


def wait_for(what: Callable[[], bool], *, seconds: float = 120.0) -> None:
    """Return soon after a condition holds; fail if it does not in time.

    Who waits long asks less often: asking takes the time of those it waits for.
    """
    deadline, pause = time.monotonic() + seconds, 0.01
    while not what():
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(pause)
        pause = min(pause * 1.3, 0.3)


class Database:
    """One database of the server and a client on it."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        parts = urlsplit(uri)
        self.port, self.name = parts.port, parts.path.removeprefix("/")
        self._client = psycopg2.connect(uri)
        self._client.autocommit = True

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement in a transaction of its own and give its rows."""
        with self._client.cursor() as cursor:
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def together(self, *statements: str) -> None:
        """Run statements in one transaction."""
        self.run("; ".join(["BEGIN", *statements, "COMMIT"]))

    @contextmanager
    def client(self, **settings: str) -> Iterator[Any]:
        """A connection of its own."""
        connection = psycopg2.connect(self.uri, **settings)
        try:
            yield connection
        finally:
            connection.close()

    def options(self, table: str, **options: str) -> PostgresOptions:
        """Options of a table; written with underscores for dashes and `__` for dots."""
        given = {
            "hostname": "127.0.0.1",
            "port": str(self.port),
            "username": "postgres",
            "password": "postgres",
            "database-name": self.name,
            "table-name": table,
        }
        given |= {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
        return read_options(PostgresOptions, given, owner="connector 'postgres-cdc'", place=None)

    def table(self, name: str, columns: str, *key: str, **options: str) -> SourceTable:
        """A declared table that reads the table of the same name."""
        remote = options.pop("table_name", name)
        return SourceTable(name, schema(columns, *key), self.options(remote, **options))

    def slots(self) -> list[str]:
        """The slots of this database."""
        found = self.run(
            "SELECT slot_name FROM pg_replication_slots WHERE database = current_database() ORDER BY 1"
        )
        return [name for (name,) in found]

    def publications(self) -> list[str]:
        """The publications of this database."""
        return [name for (name,) in self.run("SELECT pubname FROM pg_publication ORDER BY 1")]

    def clean(self) -> None:
        """Drop the slots and publications of this database, once nobody reads them any more."""
        mine = "FROM pg_replication_slots WHERE database = current_database()"
        wait_for(lambda: self.run(f"SELECT count(*) {mine} AND active") == [(0,)])
        self.run(f"SELECT pg_drop_replication_slot(slot_name) {mine}")
        for name in self.publications():
            self.run(f'DROP PUBLICATION "{name}"')

    def close(self) -> None:
        """Close the client."""
        self._client.close()


class World:
    """A source under test, its folder, and everything it said."""

    def __init__(self, folder: Path, pipeline: str = "test") -> None:
        self.reports: list[Report] = []
        self.context = SourceContext(pipeline, folder, self.reports.append)

    @contextmanager
    def source(self, *tables: SourceTable, after: Position | None = None) -> Iterator[CapturedSource]:
        """A started source."""
        opened = open_source(tables, self.context)
        try:
            opened.start(after)
            yield opened
        finally:
            opened.close()


def read_to(
    source: CapturedSource, end: Position, *, after: Position | None = None, limit: int = 10_000
) -> list[Delivery]:
    """Everything a source says up to a position."""
    said: list[Delivery] = []
    deadline = time.monotonic() + 120.0
    while after is None or after < end:
        assert time.monotonic() < deadline, f"the source never reached {end}"
        delivery = source.read(after, limit, wait=1.0)
        if delivery is not None:
            assert after is None or delivery.position > after
            said.append(delivery)
            after = delivery.position
    return said


def read_now(source: CapturedSource, *, after: Position | None = None) -> list[Delivery]:
    """Everything committed by now."""
    return read_to(source, source.now(), after=after)


def rows_of(events: Events) -> list[dict[str, Any]]:
    """The events of a table, whichever way they came."""
    table = events.rows
    if table is None:
        table = pa.concat_tables([pq.ParquetFile(path).read() for path in events.files])
    assert table.num_rows == events.count
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def events(deliveries: Sequence[Delivery], table: str) -> list[dict[str, Any]]:
    """All events of a table, in order; the order is checked."""
    found = [row for d in deliveries if table in d.tables for row in rows_of(d.tables[table])]
    seqs = [row[SEQ] for row in found]
    assert seqs == sorted(set(seqs)), "events out of order or doubled"
    return found


def parts(deliveries: Sequence[Delivery], table: str) -> list[Events]:
    """The events of a table as they were delivered; deliveries that say nothing of it are left out."""
    return [d.tables[table] for d in deliveries if table in d.tables]


def brief(deliveries: Sequence[Delivery], table: str) -> list[tuple[Any, ...]]:
    """Events as short tuples: their kind, then their values."""
    return [
        (row[KIND], *(value for name, value in row.items() if name not in EXTRA))
        for row in events(deliveries, table)
    ]


def bag(deliveries: Sequence[Delivery], table: str) -> Counter[tuple[Any, ...]]:
    """The rows that are there after all events of a table that logs whole rows."""
    state: Counter[tuple[Any, ...]] = Counter()
    for kind, *values in brief(deliveries, table):
        assert kind in (INSERT, DELETE, TRUNCATE)
        if kind == TRUNCATE:
            state.clear()
        else:
            state[tuple(values)] += 1 if kind == INSERT else -1
    assert all(count >= 0 for count in state.values()), "a row went that was not there"
    return +state
