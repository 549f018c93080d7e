"""A small Postgres of our own that knows the shape of every relation, and has no row of any.

It is started at the first connection, on this machine only, under a password that nobody else has. Clients' statements
reach it as a role that may change nothing and run no text as SQL, so that a statement in which the name of a relation
does not stand cannot read one.
"""

from __future__ import annotations

import logging
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg2
from psycopg2 import sql

from headwater.schema import Schema
from headwater.server.postgres.backend import Backend
from headwater.server.postgres.reading import Relation
from headwater.server.postgres.types import postgres_type
from headwater.services.postgres import PostgresServer
from headwater.services.running import running_pid, stop_process

DATABASE = USER = "headwater"

CONNECTIONS = 100
"""So many clients at the same time."""

SETTINGS = {
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_replication_slots": "0",
    "fsync": "off",
    "shared_buffers": "16MB",
    "max_connections": str(CONNECTIONS + 10),
    "autovacuum": "off",
    "jit": "off",
    "io_method": "sync",
    "temp_file_limit": "100MB",
    "TimeZone": "UTC",
}
"""It may forget everything when it ends: its shapes are made anew."""

PREFIX = "headwater-shapes-"
"""How the names of its folders begin."""

LOCK_SECONDS = 2
"""So long a change of shapes waits for transactions of clients that use them; after that it is tried again."""

AGAIN_SECONDS = 5.0
"""So long afterwards: all clients wait while it is tried."""

# What runs a text as SQL, writes, or ends other clients.
_FORBIDDEN = (
    "^(query_to_|table_to_|schema_to_|database_to_|cursor_to_|ts_stat$|ts_rewrite$|lo_|pg_terminate_backend$"
    "|pg_cancel_backend$|pg_notify$|pg_(try_)?advisory_)"
)

_LOG = logging.getLogger("headwater.server")


@dataclass(frozen=True)
class Shape:
    """What Postgres knows of a relation."""

    schema: str
    name: str
    kind: str
    columns: Schema


class Shapes:
    """The Postgres behind all clients; for any number of threads."""

    def __init__(self, note: Path) -> None:
        """`note` is a file that says where it was started last, so that nothing is left of one that was killed."""
        self._note = note
        self._server: PostgresServer | None = None
        self._lock = threading.Lock()
        self._known: frozenset[Shape] = frozenset()
        self._asked: frozenset[Shape] = frozenset()
        """What it was to know when that was tried last."""
        self._asked_at = float("-inf")
        self._admin: psycopg2.extensions.connection | None = None
        self._password = secrets.token_urlsafe(24)

    def connect(self, relations: Iterable[Relation], settings: dict[str, str]) -> Backend:
        """A session of it for one client."""
        self.follow(relations)
        assert self._server is not None and self._admin is not None
        with self._lock:
            # A role may always change its own password and settings: no client is to meet those of another.
            _tried(self._admin, USER, _as_made(self._password))
        return Backend(self._server.port, self._password, {"user": USER, "database": DATABASE, **settings})

    def follow(self, relations: Iterable[Relation]) -> None:
        """Let it know these relations and no others; one that died is started again."""
        wanted = frozenset(Shape(r.pipeline, r.name, r.kind, r.schema) for r in relations)
        if self._is_alive and self._has_followed(wanted):
            return
        with self._lock:
            if not self._is_alive:
                self._known = self._asked = frozenset()
                self._admin = self._start()
            if not self._has_followed(wanted):
                self._change(self._admin, wanted)
                self._asked, self._asked_at = wanted, time.monotonic()

    @property
    def pid(self) -> int | None:
        """Its process; None if it does not run."""
        return None if self._server is None else running_pid(self._server.folder)

    @property
    def _is_alive(self) -> bool:
        return self._admin is not None and not self._admin.closed and self.pid is not None

    def _has_followed(self, wanted: frozenset[Shape]) -> bool:
        """True if it knows these, or could not learn them a moment ago."""
        if wanted == self._known:
            return True
        return wanted == self._asked and time.monotonic() - self._asked_at < AGAIN_SECONDS

    def close(self) -> None:
        """End it."""
        with self._lock:
            if self._admin is not None:
                self._admin.close()
            if self._server is not None:
                self._server.stop()
            _remove(self._note)

    def _start(self) -> psycopg2.extensions.connection:
        _remove(self._note)
        # Not in the server's own folder: the Postgres of root runs as another user, who must be able to walk there.
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._note.write_text(str(folder))
        self._server = server = PostgresServer(folder, settings=SETTINGS).start()
        first = _connected(server.uri)
        _run(first, [sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE))])
        admin = _connected(server.uri.rsplit("/", 1)[0] + "/" + DATABASE)
        _run(admin, _roles(self._password))
        with admin.cursor() as cursor:
            cursor.execute("SELECT oid::regprocedure::text FROM pg_proc WHERE proname ~ %s", (_FORBIDDEN,))
            named = [name for (name,) in cursor.fetchall()]
        _run(
            admin,
            [sql.SQL("REVOKE EXECUTE ON ROUTINE {} FROM PUBLIC").format(sql.SQL(name)) for name in named],
        )
        # The password that the server was made with is known to everyone on this machine.
        changed = sql.SQL("ALTER ROLE CURRENT_USER PASSWORD {}").format(
            sql.Literal(secrets.token_urlsafe(24))
        )
        _run(first, [changed])
        first.close()
        return admin

    def _change(self, admin: psycopg2.extensions.connection, wanted: frozenset[Shape]) -> None:
        """Drop what is no more, make what is new, one by one: a client that uses one shape holds up no other."""
        known = set(self._known)
        for shape in known - wanted:
            if _tried(admin, shape, [_drop(shape)]):
                known.discard(shape)
        for schema in sorted({shape.schema for shape in wanted} - {shape.schema for shape in known}):
            _tried(admin, schema, _make_schema(schema))
        for shape in wanted - known:
            if _tried(admin, shape, _make(shape)):
                known.add(shape)
        for schema in {shape.schema for shape in self._known} - {shape.schema for shape in known}:
            _tried(admin, schema, [sql.SQL("DROP SCHEMA {}").format(sql.Identifier(schema))])
        self._known = frozenset(known)


def _remove(note: Path) -> None:
    """Remove the Postgres that a note speaks of; one that was not written to its end, on a full disk, names none."""
    if not note.exists():
        return
    folder = Path(note.read_text())
    if folder.is_absolute() and folder.name.startswith(PREFIX):
        stop_process(folder, PostgresServer.stop_signal)
        shutil.rmtree(folder, ignore_errors=True)
    note.unlink()


def _connected(uri: str) -> psycopg2.extensions.connection:
    connection = psycopg2.connect(uri)
    connection.autocommit = True
    return connection


def _run(connection: psycopg2.extensions.connection, statements: Sequence[sql.Composable]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("; ").join(statements))


def _tried(
    connection: psycopg2.extensions.connection, what: object, statements: Sequence[sql.Composable]
) -> bool:
    """Run statements as one; False if they cannot be, for now or for good."""
    try:
        _run(connection, statements)
    except psycopg2.Error as problem:
        _LOG.warning("a shape cannot be shown to clients of Postgres' protocol: %s: %s", what, problem)
        return False
    return True


def _roles(password: str) -> list[sql.Composable]:
    """The role of all clients: it may look at shapes, and nothing else."""
    role, database = sql.Identifier(USER), sql.Identifier(DATABASE)
    return [
        sql.SQL("CREATE ROLE {} LOGIN").format(role),
        *_as_made(password),
        sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database),
        sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, role),
        sql.SQL("REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC"),
        sql.SQL("REVOKE ALL ON LANGUAGE plpgsql, sql FROM PUBLIC"),
        sql.SQL("SET lock_timeout = {}").format(sql.Literal(f"{LOCK_SECONDS}s")),
    ]


def _as_made(password: str) -> list[sql.Composable]:
    """What the role of all clients has of its own, whatever one of them made of it."""
    role, database = sql.Identifier(USER), sql.Identifier(DATABASE)
    return [
        sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)),
        sql.SQL("ALTER ROLE {} IN DATABASE {} RESET ALL").format(role, database),
        sql.SQL("ALTER ROLE {} RESET ALL").format(role),
        sql.SQL("ALTER ROLE {} SET default_transaction_read_only = on").format(role),
    ]


def _make_schema(name: str) -> list[sql.Composable]:
    schema = sql.Identifier(name)
    return [
        sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema),
        sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, sql.Identifier(USER)),
    ]


def _make(shape: Shape) -> list[sql.Composable]:
    name = sql.Identifier(shape.schema, shape.name)
    make = _make_table if shape.kind == "table" else _make_view
    return [make(name, shape.columns), sql.SQL("GRANT SELECT ON {} TO {}").format(name, sql.Identifier(USER))]


def _make_table(name: sql.Composable, schema: Schema) -> sql.Composable:
    parts = [
        sql.SQL("{} {}").format(sql.Identifier(c.name), sql.SQL(postgres_type(c.type)))
        for c in schema.columns
    ]
    if schema.key:
        parts.append(sql.SQL("PRIMARY KEY ({})").format(sql.SQL(", ").join(map(sql.Identifier, schema.key))))
    return sql.SQL("CREATE TABLE {} ({})").format(name, sql.SQL(", ").join(parts))


def _make_view(name: sql.Composable, schema: Schema) -> sql.Composable:
    parts = [
        sql.SQL("NULL::{} AS {}").format(sql.SQL(postgres_type(c.type)), sql.Identifier(c.name))
        for c in schema.columns
    ]
    return sql.SQL("CREATE VIEW {} AS SELECT {} WHERE false").format(name, sql.SQL(", ").join(parts))


def _drop(shape: Shape) -> sql.Composable:
    what = sql.SQL("TABLE" if shape.kind == "table" else "VIEW")
    return sql.SQL("DROP {} IF EXISTS {}").format(what, sql.Identifier(shape.schema, shape.name))
