"""A connection to Postgres that can be lost and made again, and what its errors mean."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg2
import psycopg2.extensions

from headwater.errors import AwayError, SinkError
from headwater.jdbc_url import Address, connect_hint
from headwater.options import Secret
from headwater.postgres_tls import checked
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.options import hidden, secrets_of

CONNECT_SECONDS = 10
SILENT_MILLISECONDS = 60_000
"""A server that does not acknowledge what it is sent for so long is taken for lost."""

AGAIN = {"40P01": "deadlock", "40001": "serialization failure"}
"""Errors after which the same transaction can succeed at once."""

AWAY = {
    "53300": "too many connections",
    "57P01": "the server ended the session",
    "57P02": "the server crashed",
    "57P03": "the server is starting",
    "57P05": "the session was idle for too long",
}
"""Errors that pass when the server is back; so does what begins with 08, a connection that failed."""

_ANSWERED = re.compile(r"\bFATAL:|no password supplied|SSL|certificate|private key|sslmode|invalid")
_FOR_NOW = re.compile(
    r"starting up|shutting down|recovery mode|not (yet )?accepting connections|too many (clients|connections)"
    r"|connection slots are reserved|terminating connection|SYSCALL error|SSL connection has been closed"
)
"""A connection that fails has no code: whoever answers refuses for good, unless it says one of these."""


class Session:
    """One connection, opened when it is needed."""

    def __init__(self, address: Address, tables: Sequence[SinkTable]) -> None:
        self.address = address
        self._password: Secret | None = tables[0].options.password
        self._secrets = tuple(secret for table in tables for secret in secrets_of(table.options))
        self._connection: Any = None

    @property
    def is_connected(self) -> bool:
        """True if there was a connection that is not known to be lost."""
        return self._connection is not None

    @property
    def is_lost(self) -> bool:
        """True if the connection broke under what was just done."""
        return self._connection is not None and bool(self._connection.closed)

    @property
    def shown(self) -> str:
        """The server for a message: `Postgres at localhost:5432`."""
        return self.hide(f"Postgres at {self.address.host}:{self.address.port}")

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A cursor whose work is committed at the end, or undone."""
        connection = self._connected()
        try:
            with connection.cursor() as cursor:
                yield cursor
            connection.commit()
        except psycopg2.Error as error:
            is_lost = self.is_lost
            self._undo()
            if is_lost and not is_away(error):
                # In the middle of COPY the driver calls a lost connection an error of the database.
                raise psycopg2.OperationalError(str(error)) from error
            raise
        except BaseException:
            self._undo()
            raise

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def hide(self, text: str) -> str:
        """A text without any secret of the options."""
        return hidden(text, self._secrets)

    def _connected(self) -> Any:
        if self._connection is None or self._connection.closed:
            self._connection, where = None, self.address
            settings: dict[str, object] = {
                "application_name": "headwater",
                "connect_timeout": CONNECT_SECONDS,
                "keepalives_idle": 30,
                "tcp_user_timeout": SILENT_MILLISECONDS,
            }
            connection = psycopg2.connect(
                host=where.host,
                port=where.port,
                dbname=where.database,
                user=where.user or getpass.getuser(),
                password=self._password.reveal() if self._password else None,
                **(settings | checked(dict(where.settings))),
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: Any) -> None:
        connection.set_session(isolation_level=psycopg2.extensions.ISOLATION_LEVEL_READ_COMMITTED)
        with connection.cursor() as cursor:
            # Times are sent as text: without a zone in the session they would mean another moment.
            cursor.execute("SET TIME ZONE 'UTC'")
            cursor.execute("SET client_encoding = 'UTF8'")
            if self.address.schema:
                cursor.execute(
                    "SELECT set_config('search_path', quote_ident(%s), false)", [self.address.schema]
                )
        connection.commit()

    def _undo(self) -> None:
        connection = self._connection
        if connection is None:
            return
        try:
            connection.rollback()
        except psycopg2.Error:
            # The server undoes what a lost connection began.
            self.close()


def is_away(error: psycopg2.Error) -> bool:
    """True if the connection was lost or none comes about for now: whoever waits can go on."""
    code = error.pgcode
    if code is not None:
        return code in AWAY or code.startswith("08")
    if not isinstance(error, psycopg2.OperationalError | psycopg2.InterfaceError):
        return False
    said = str(error)
    return _FOR_NOW.search(said) is not None or _ANSWERED.search(said) is None


def can_try_again(error: psycopg2.Error) -> bool:
    """True if the server undid the transaction for the sake of another one."""
    return error.pgcode in AGAIN


def unreachable(session: Session, error: psycopg2.Error, table: SinkTable) -> SinkError:
    """Why no connection came about."""
    where = session.address
    said = session.hide(str(error))
    kind = AwayError if is_away(error) else SinkError
    return kind(
        session.hide(f"cannot connect to Postgres at {where.host}:{where.port}, database '{where.database}'"),
        detail=said if said.endswith((".", "?")) else f"{said}.",
        hint=connect_hint(said),
        place=table.place,
    )


_WRITE_HINTS = {
    "22001": "Widen the column, or shorten the value in the query.",
    "22003": "Widen the column's type.",
    "22021": "Remove the character 0 in the query: Postgres text cannot hold it.",
    "22P02": "Cast the value in the query to what the column takes.",
    "22P05": "Remove the character 0 in the query: Postgres text cannot hold it.",
    "23502": "Make the column nullable, or replace NULL in the query with COALESCE.",
    "23503": "The tables it refers to must have the row first: remove the constraint from the sink table.",
    "23505": "Another unique index of the table forbids the row: remove it, or make it the sink's key.",
    "23514": "Change the table's CHECK constraint, or the query.",
    "25006": "Connect to the primary server.",
    "42501": "Grant the user INSERT, UPDATE, DELETE, SELECT on the table and TEMPORARY on the database.",
    "42703": "The table was altered: restart the pipeline, or put the column back.",
    "42P01": "The table was dropped: create it again.",
    "42P10": "The unique index on the key was dropped: create it again.",
    "53100": "Free space on the server's disk.",
}


def refused(session: Session, error: psycopg2.Error, table: SinkTable) -> SinkError:
    """Why the server did not take the rows of a table."""
    diagnosis = error.diag
    said = diagnosis.message_primary or str(error)
    more = [text for text in (diagnosis.message_detail, diagnosis.context) if text]
    return SinkError(
        session.hide(f"Postgres refused the rows of sink table '{table.name}': {said}"),
        detail=session.hide(" ".join(more)),
        hint=_WRITE_HINTS.get(error.pgcode or "", "Check the table and the log of the server."),
        place=table.place,
    )
