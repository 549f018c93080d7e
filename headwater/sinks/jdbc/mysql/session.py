"""A connection to MySQL or MariaDB that can be lost and made again, and what its errors mean."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pymysql

from headwater.errors import AwayError, SinkError
from headwater.jdbc_url import MYSQL, Address, connect_hint, tls_of
from headwater.options import Secret
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.options import hidden, secrets_of

CONNECT_SECONDS = 10
SILENT_MILLISECONDS = 60_000
"""A server that does not acknowledge what it is sent for so long is taken for lost."""

AGAIN = (1020, 1205, 1213)
"""A deadlock, a lock that was waited for too long, a row that changed meanwhile: the same can succeed at once."""

AWAY = (
    *(1040, 1203, 1053, 1077, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 4031),
    *(2002, 2003, 2006, 2013, 2055),
)
"""The server is gone, goes, ended the session, or has no room: it may answer later."""

LOST = 2013

BEGIN = (
    # Whoever wrote 0 means 0, also in a column that counts by itself; nothing is cut or rounded in silence.
    "SET time_zone = '+00:00', autocommit = 0, sql_safe_updates = 0,"
    " sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'",
    # A reader of the table is not to wait for keys that were never there.
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)
"""What every session is told first."""


class Session:
    """One connection, opened when it is needed."""

    def __init__(self, address: Address, tables: Sequence[SinkTable]) -> None:
        self.address = address
        self._password: Secret | None = tables[0].options.password
        self._secrets = tuple(secret for table in tables for secret in secrets_of(table.options))
        self._connection: Any = None
        self.packet = 0
        """The largest statement that the server takes, in bytes; known once there was a connection."""

    @property
    def is_connected(self) -> bool:
        """True if there was a connection that is not known to be lost."""
        return self._connection is not None

    @property
    def is_lost(self) -> bool:
        """True if the connection broke under what was just done."""
        return self._connection is not None and not self._connection.open

    @property
    def shown(self) -> str:
        """The server for a message: `MySQL at localhost:3306`."""
        return self.hide(f"MySQL at {self.address.host}:{self.address.port}")

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A cursor whose work is committed at the end, or undone."""
        connection = self._connected()
        try:
            with connection.cursor() as cursor:
                yield cursor
            connection.commit()
        except pymysql.Error as error:
            is_lost = self.is_lost
            self._undo()
            if is_lost and not is_away(error):
                raise pymysql.err.OperationalError(LOST, str(error)) from error
            raise
        except Exception:
            self._undo()
            raise
        except BaseException:
            # Whoever was interrupted may have left an answer unread, which the next one would take for its own.
            self.close()
            raise

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            if self._connection.open:
                self._connection.close()
            self._connection = None

    def hide(self, text: str) -> str:
        """A text without any secret of the options."""
        return hidden(text, self._secrets)

    def said(self, error: Exception) -> str:
        """What the server says, without its code and any secret."""
        return self.hide(str(error.args[-1] if error.args else error)).rstrip(".")

    def _connected(self) -> Any:
        if self._connection is None or not self._connection.open:
            self._connection = None
            connection = self._made()
            try:
                with connection.cursor() as cursor:
                    for command in BEGIN:
                        cursor.execute(command)
                    cursor.execute("SELECT @@max_allowed_packet")
                    self.packet = int(cursor.fetchone()[0])
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _made(self) -> Any:
        where = self.address
        connection = pymysql.Connection(
            host=where.host,
            port=where.port,
            database=where.database,
            user=where.user or getpass.getuser(),
            # The driver would take a text for Latin letters only.
            password=self._password.reveal().encode() if self._password else b"",
            charset="utf8mb4",
            program_name="headwater",
            defer_connect=True,
            **tls_of(dict(where.settings)),
        )
        try:
            way = socket.create_connection((where.host, where.port), CONNECT_SECONDS)
        except OSError as error:
            raise pymysql.err.OperationalError(2003, f"no connection came about ({error})") from error
        way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        way.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            way.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_MILLISECONDS)
        try:
            connection.connect(way)
        except RuntimeError as error:
            # Without TLS a password of MySQL 8 is sent in a way that needs a package of its own.
            raise SinkError(
                f"{self.shown} takes this password only over TLS",
                detail=f"{error}.",
                hint="Turn TLS on at the server, or let the user come with mysql_native_password.",
            ) from error
        return connection

    def _undo(self) -> None:
        connection = self._connection
        if connection is None:
            return
        try:
            connection.rollback()
        except pymysql.Error:
            # The server undoes what a lost connection began.
            self.close()


def code_of(error: Exception) -> int:
    """The number of an error, 0 if it has none."""
    first = error.args[0] if error.args else 0
    return first if isinstance(first, int) else 0


def is_away(error: Exception) -> bool:
    """True if the connection was lost or none comes about for now: whoever waits can go on."""
    return code_of(error) in AWAY or isinstance(error, pymysql.err.InterfaceError)


def can_try_again(error: Exception) -> bool:
    """True if the server stopped the transaction for the sake of another one."""
    return code_of(error) in AGAIN


def unreachable(session: Session, error: Exception, table: SinkTable) -> SinkError:
    """Why no connection came about."""
    where, said = session.address, session.said(error)
    kind = AwayError if is_away(error) else SinkError
    return kind(
        session.hide(f"cannot connect to MySQL at {where.host}:{where.port}, database '{where.database}'"),
        detail=f"{said}.",
        hint=connect_hint(said, MYSQL),
        place=table.place,
    )


_NOT_A_VALUE = "Cast the value in the query to what the column takes."
_READ_ONLY = "Connect to the server that takes writes."
_WRITE_HINTS = {
    1044: "Grant the user its rights on the database.",
    1048: "Make the column nullable, or replace NULL in the query with COALESCE.",
    1054: "The table was altered: restart the pipeline, or put the column back.",
    1062: "Another unique index of the table forbids the row: remove it, or make it the sink's key.",
    1071: "Declare fewer key columns of type STRING, or make the table with shorter ones.",
    1114: "Free space on the server's disk.",
    1142: "Grant the user INSERT, UPDATE, DELETE, SELECT on the table.",
    1146: "The table was dropped: create it again.",
    1264: "Widen the column's type.",
    1265: _NOT_A_VALUE,
    1290: _READ_ONLY,
    1292: "See which values the column's type holds; TIMESTAMP ends in 2038, DATETIME does not.",
    1366: "Give the column the character set utf8mb4, or cast the value in the query.",
    1406: "Widen the column, or shorten the value in the query.",
    1451: "Rows of another table refer to the row: remove the constraint from the sink table.",
    1452: "The tables it refers to must have the row first: remove the constraint from the sink table.",
    1665: "Let the server run with binlog_format = ROW.",
    1792: _READ_ONLY,
    1836: _READ_ONLY,
    3140: _NOT_A_VALUE,
    3819: "Change the table's CHECK constraint, or the query.",
    4025: "Change the table's CHECK constraint, or the query.",
}


def refused(session: Session, error: Exception, table: SinkTable) -> SinkError:
    """Why the server did not take the rows of a table."""
    code = code_of(error)
    return SinkError(
        f"MySQL refused the rows of sink table '{table.name}': {session.said(error)}",
        detail=f"Its code is {code}.",
        hint=_WRITE_HINTS.get(code, "Check the table and the log of the server."),
        place=table.place,
    )
