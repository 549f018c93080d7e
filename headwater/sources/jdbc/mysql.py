"""One moment of a MySQL or MariaDB database: a transaction that sees nothing that comes later."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pymysql
import pymysql.converters
import pymysql.cursors
from sqlglot import exp

from headwater.errors import Place, SourceError
from headwater.jdbc_url import Address
from headwater.jdbc_url import tls_of as tls_of
from headwater.nearest import nearest_hint
from headwater.options import Secret
from headwater.sources.base import Unreachable
from headwater.sources.jdbc.mysql_types import array_of, column_of
from headwater.sources.jdbc.server import (
    CONNECT_SECONDS,
    Chunk,
    Found,
    FoundColumn,
    not_connected,
)

CHUNK_BYTES = 2_000_000
SYSTEM = ("information_schema", "mysql", "performance_schema", "sys")

_LOST = (2003, 2006, 2013, 1053, 1040)
"""The server is gone, goes, or has no room: it may answer later."""

_BEGIN = (
    # Values are read as text: whatever shapes that text is fixed here.
    "SET time_zone = '+00:00', sql_mode = '', net_write_timeout = 600",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
_COLUMNS = (
    "SELECT column_name, lower(data_type), lower(column_type), coalesce(numeric_precision, 0),"
    " coalesce(numeric_scale, 0) FROM information_schema.columns"
    " WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"
)
_KEY = (
    "SELECT column_name FROM information_schema.key_column_usage WHERE table_schema = %s AND table_name = %s"
    " AND constraint_name = 'PRIMARY' ORDER BY ordinal_position"
)
_ROWS = "SELECT table_rows FROM information_schema.tables WHERE table_schema = %s AND table_name = %s"
_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY 1"
_DATABASES = "SELECT schema_name FROM information_schema.schemata ORDER BY 1"


class MysqlMoment:
    """A transaction that reads one database as of now."""

    def __init__(self, address: Address, password: Secret | None) -> None:
        self._address = address
        # Only what is sent is converted: what comes stays text.
        self._connection = connected(address, password, conv=pymysql.converters.encoders)
        with _told("the database"), self._connection.cursor() as cursor:
            for command in _BEGIN:
                cursor.execute(command)

    def find(self, schema: str, table: str, place: Place | None) -> Found:
        """A table by name; a schema is a database here."""
        name = (schema or self._address.database, table)
        with _told(f"table '{table}'", place):
            columns = tuple(
                column_of(column, kind, full, precision=int(precision), scale=int(scale))
                for column, kind, full, precision, scale in self._rows(_COLUMNS, *name)
            )
            if not columns:
                raise self._missing(*name, place)
            key = tuple(column for (column,) in self._rows(_KEY, *name))
            ((estimate,),) = self._rows(_ROWS, *name)
        return Found(name[0], table, columns, key, None if estimate is None else int(estimate))

    def read(self, found: Found, columns: Sequence[FoundColumn], take: Callable[[Chunk], None]) -> None:
        """All rows, one after the other as they arrive."""
        table = exp.table_(found.name, db=found.schema, quoted=True)
        query = exp.select(*(_selected(column) for column in columns)).from_(table)
        cursor = self._connection.cursor(pymysql.cursors.SSCursor)
        try:
            with _told(f"table '{found.shown}'"):
                cursor.execute(query.sql(dialect="mysql"))
                for rows in _chunks(cursor):
                    arrays = [
                        array_of(list(values), column, wants_truth=column.families == ("bool",))
                        for values, column in zip(zip(*rows, strict=True), columns, strict=True)
                    ]
                    take(Chunk(arrays, [repr(row).encode() for row in rows]))
        except BaseException:
            # A cursor that is closed reads on to the end; this one is to let go at once.
            cursor.connection = None
            raise
        cursor.close()

    def tables(self) -> list[str]:
        """All tables and views."""
        with _told("its catalog"):
            return [name for (name,) in self._rows(_TABLES, self._address.database)]

    def databases(self) -> list[str]:
        """The databases that the user may see, without the server's own."""
        with _told("its catalog"):
            return [name for (name,) in self._rows(_DATABASES) if name not in SYSTEM]

    def close(self) -> None:
        """End the transaction."""
        self._connection.close()

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(query, values)
            return [tuple(row) for row in cursor.fetchall()]

    def _missing(self, database: str, table: str, place: Place | None) -> SourceError:
        known = [name for (name,) in self._rows(_TABLES, database)]
        return SourceError(
            f"the database '{database}' has no table '{table}'",
            detail=f"It has {len(known)} tables.",
            hint=nearest_hint(table, known, "tables"),
            place=place,
        )


def _selected(column: FoundColumn) -> exp.Expr:
    wanted: exp.Expr = exp.column(column.name, quoted=True)
    # Of a FLOAT the server writes six digits; of what is computed from it, all there are.
    return exp.Add(this=wanted, expression=exp.Literal.number("0e0")) if column.type == "float" else wanted


def _chunks(cursor: Any) -> Iterator[list[tuple[Any, ...]]]:
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in cursor:
        rows.append(row)
        size += sum(len(value) for value in row if value is not None)
        if size >= CHUNK_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def connected(address: Address, password: Secret | None, **more: Any) -> Any:
    """A connection; `more` is for the driver."""
    try:
        return pymysql.connect(
            host=address.host,
            port=address.port,
            database=address.database,
            user=address.user or getpass.getuser(),
            # The driver would take a text for Latin letters only.
            password=password.reveal().encode() if password else b"",
            charset="utf8mb4",
            connect_timeout=CONNECT_SECONDS,
            program_name="headwater",
            **tls_of(dict(address.settings)),
            **more,
        )
    except (pymysql.Error, OSError) as error:
        raise not_connected(address, str(error.args[-1]), password) from error
    except RuntimeError as error:
        # Without TLS a password of MySQL 8 is sent in a way that needs a package of its own.
        raise SourceError(
            f"MySQL at {address.host}:{address.port} takes this password only over TLS",
            detail=f"{error}.",
            hint="Turn TLS on at the server, or let the user come with mysql_native_password.",
        ) from error


@contextmanager
def _told(what: str, place: Place | None = None) -> Iterator[None]:
    """An error of the server in our words."""
    try:
        yield
    except pymysql.Error as error:
        code, said = (*error.args, "", "")[:2]
        if code in _LOST or isinstance(error, pymysql.err.InterfaceError):
            raise Unreachable("the connection to MySQL was lost", detail=f"{said}.", place=place) from error
        raise SourceError(
            f"MySQL does not let {what} be read: {said}",
            detail=f"Its code is {code}.",
            hint="Grant SELECT on the table to the user."
            if code in (1142, 1143)
            else "See the server's log.",
            place=place,
        ) from error
