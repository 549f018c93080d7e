"""What the server knows, in one SQLite file that only its owner reads: secrets of integrations are in it."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from headwater.errors import StateError
from headwater.log.private_file import opening, private_file
from headwater.server.records import Application, Deed, Deployment, Integration, Version
from headwater.server.refusals import Unwritten

FILE = "server.db"
FORMAT = 1

TABLES: dict[type, str] = {
    Application: "applications",
    Version: "versions",
    Integration: "integrations",
    Deployment: "deployments",
    Deed: "deeds",
}

INDEXES = {"deployments": "application_id"}
"""What is asked for all the time, by whoever looks on."""

UNIQUE = {"applications": "name", "integrations": "name", "versions": "application_id, version"}

Record = TypeVar("Record", Application, Version, Integration, Deployment, Deed)


class Store:
    """Records of a few kinds. Every write is one durable transaction; any thread may call."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        try:
            self._connection = _opened(folder)
        except (sqlite3.DatabaseError, OSError) as problem:
            raise StateError(
                f'what the server knew in "{folder}" cannot be read',
                detail=str(problem),
                hint="Bring the file server.db back from a copy, or give another --state folder.",
            ) from None

    def add(self, record: Record) -> Record:
        """Keep a new record, or a former one as it is now."""
        table, values = TABLES[type(record)], _row(record)
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        updates = ", ".join(f"{name} = excluded.{name}" for name in values if name != "id")
        with self._writing():
            self._connection.execute(
                f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {updates}",
                tuple(values.values()),
            )
        return record

    def change(self, record: Record, **fields: Any) -> Record:
        """Keep a record with other values in some of its fields."""
        return self.add(dataclasses.replace(record, **fields))

    def all(self, kind: type[Record], **wanted: object) -> list[Record]:
        """The records of a kind, or those with the wanted values, in the order in which they came."""
        where = " AND ".join(f"{name} = ?" for name in wanted) or "1"
        text = f"SELECT * FROM {TABLES[kind]} WHERE {where} ORDER BY rowid"
        with self._lock:
            rows = self._connection.execute(text, tuple(wanted.values())).fetchall()
        return [_record(kind, row) for row in rows]

    def newest(self, kind: type[Record], **wanted: object) -> Record | None:
        """The last record with the wanted values, however many came before it."""
        where = " AND ".join(f"{name} = ?" for name in wanted)
        text = f"SELECT * FROM {TABLES[kind]} WHERE {where} ORDER BY rowid DESC LIMIT 1"
        with self._lock:
            row = self._connection.execute(text, tuple(wanted.values())).fetchone()
        return None if row is None else _record(kind, row)

    def last(self, kind: type[Record], limit: int) -> list[Record]:
        """The last records of a kind, the latest last."""
        text = f"SELECT * FROM {TABLES[kind]} ORDER BY rowid DESC LIMIT ?"
        with self._lock:
            rows = self._connection.execute(text, (limit,)).fetchall()
        return [_record(kind, row) for row in reversed(rows)]

    def find(self, kind: type[Record], **wanted: object) -> Record | None:
        """The first record with the wanted values."""
        return next(iter(self.all(kind, **wanted)), None)

    def remove(self, record: Application | Integration) -> None:
        """Forget a record; of an application all that belongs to it."""
        with self._writing():
            if isinstance(record, Application):
                for table in ("versions", "deployments"):
                    self._connection.execute(f"DELETE FROM {table} WHERE application_id = ?", (record.id,))
            self._connection.execute(f"DELETE FROM {TABLES[type(record)]} WHERE id = ?", (record.id,))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction."""
        try:
            with self._lock, self._connection:
                yield
        except sqlite3.OperationalError as problem:
            raise Unwritten(
                "what the server knows cannot be written",
                detail=str(problem),
                hint=f"Is the disk full, and may {FILE} be written to? Nothing was changed; try again.",
            ) from None

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._connection.close()


def _opened(folder: Path) -> sqlite3.Connection:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with opening(folder):
        connection = sqlite3.connect(private_file(folder / FILE), check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        known = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if known > FORMAT:
            raise sqlite3.DatabaseError(f"it was written by a newer version, in form {known}")
        with connection:
            for statement in _declarations():
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {FORMAT}")
    return connection


def _declarations() -> list[str]:
    """A table for each kind of record, with a column for each of its fields."""
    made = []
    for kind, table in TABLES.items():
        columns = ", ".join(field.name for field in dataclasses.fields(kind) if field.name != "id")
        unique = f", UNIQUE ({UNIQUE[table]})" if table in UNIQUE else ""
        made.append(f"CREATE TABLE IF NOT EXISTS {table} (id TEXT PRIMARY KEY, {columns}{unique})")
    named = INDEXES.items()
    return made + [f"CREATE INDEX IF NOT EXISTS {t}_by_{c} ON {t} ({c})" for t, c in named]


def _row(record: Any) -> dict[str, Any]:
    values = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    return {n: json.dumps(value) if isinstance(value, Mapping) else value for n, value in values.items()}


def _record(kind: type[Record], row: sqlite3.Row) -> Record:
    values = {}
    for field in dataclasses.fields(kind):
        value = row[field.name]
        if "Mapping" in str(field.type) and value is not None:
            value = json.loads(value)
        elif field.type == "bool":
            value = bool(value)
        values[field.name] = value
    return kind(**values)
