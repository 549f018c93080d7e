"""One moment of a Postgres database: a transaction that sees nothing that comes later."""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg2
from psycopg2 import sql

from headwater.errors import Place, SourceError
from headwater.jdbc_url import Address
from headwater.options import Secret
from headwater.postgres_tls import checked
from headwater.sources.base import Unreachable
from headwater.sources.jdbc.server import (
    CONNECT_SECONDS,
    Chunk,
    Found,
    FoundColumn,
    not_connected,
)
from headwater.sources.postgres.catalog import ServerColumn, find_table
from headwater.sources.postgres.connect import TEXT_SETTINGS
from headwater.sources.postgres.copied import RowChunks, texts_of
from headwater.sources.postgres.types import family, spark_type

DEFAULT_SCHEMA = "public"

_TABLES = (
    "SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition"
    " AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'"
    " AND has_schema_privilege(n.oid, 'USAGE') ORDER BY 1"
)
_DATABASES = (
    "SELECT datname FROM pg_database"
    " WHERE datallowconn AND NOT datistemplate AND has_database_privilege(oid, 'CONNECT') ORDER BY 1"
)


class PostgresMoment:
    """A transaction that reads one database as of now."""

    def __init__(self, address: Address, password: Secret | None) -> None:
        self._address = address
        self._connection = connected(address, password)
        self._cursor = self._connection.cursor()
        with _told("the database"):
            self._cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def find(self, schema: str, table: str, place: Place | None) -> Found:
        """A table by name; without a schema the first of the search path that has it."""
        try:
            with _told(f"table '{table}'", place):
                at_server = find_table(self._cursor, schema or self._schema_of(table), table, place=place)
        except SourceError as problem:
            elsewhere = re.search("'schema-name' = '(.*)'", problem.hint)
            if elsewhere is not None:
                problem.hint = f"There is one in another schema: '{elsewhere[1]}.{table}'."
            raise
        columns = tuple(_column(column) for column in at_server.columns)
        return Found(at_server.schema, table, columns, at_server.primary_key, at_server.estimate)

    def read(self, found: Found, columns: Sequence[FoundColumn], take: Callable[[Chunk], None]) -> None:
        """All rows, at the speed of COPY."""
        command = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv)").format(
            sql.SQL(", ").join(sql.Identifier(column.name) for column in columns),
            sql.Identifier(found.schema, found.name),
        )

        def split(rows: list[bytes]) -> None:
            take(Chunk(texts_of(rows, len(columns)), rows))

        with _told(f"table '{found.shown}'"), RowChunks(split) as chunks:
            self._cursor.copy_expert(command, chunks)

    def tables(self) -> list[str]:
        """All tables and views, as `schema.table`; partitions belong to their table."""
        return self._names(_TABLES)

    def databases(self) -> list[str]:
        """The databases that the user may enter."""
        return self._names(_DATABASES)

    def close(self) -> None:
        """End the transaction; the server may clean up what it kept for it."""
        self._connection.close()

    def _names(self, query: str) -> list[str]:
        with _told("its catalog"):
            self._cursor.execute(query)
            return [str(name) for (name,) in self._cursor.fetchall()]

    def _schema_of(self, table: str) -> str:
        self._cursor.execute(
            "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.relname = %s AND n.nspname = ANY (current_schemas(false))"
            " ORDER BY array_position(current_schemas(false), n.nspname) LIMIT 1",
            (table,),
        )
        row = self._cursor.fetchone()
        return str(row[0]) if row else self._address.schema or DEFAULT_SCHEMA


def _column(column: ServerColumn) -> FoundColumn:
    kind = column.type
    shown = f"{kind.name}[]" if kind.is_array else kind.name
    return FoundColumn(column.name, spark_type(kind), (family(kind),), shown)


def connected(address: Address, password: Secret | None) -> Any:
    """A connection that commits each statement."""
    settings: dict[str, object] = {
        "application_name": "headwater",
        "connect_timeout": CONNECT_SECONDS,
        "keepalives_idle": 20,
    }
    tls = checked(dict(address.settings))
    try:
        made = psycopg2.connect(
            host=address.host,
            port=address.port,
            dbname=address.database,
            user=address.user or getpass.getuser(),
            password=password.reveal() if password else None,
            client_encoding="UTF8",
            options=" ".join(f"-c {setting}" for setting in TEXT_SETTINGS),
            **(settings | tls),
        )
    except psycopg2.OperationalError as error:
        raise not_connected(address, str(error), password) from error
    made.autocommit = True
    if address.schema:
        with made.cursor() as cursor:
            cursor.execute("SELECT set_config('search_path', quote_ident(%s), false)", [address.schema])
    return made


PASSING = ("57P01", "57P02", "57P03", "40001")
"""The server stops, crashed or starts, or a standby had to cancel the read: it works again later."""


@contextmanager
def _told(what: str, place: Place | None = None) -> Iterator[None]:
    """An error of the server in our words."""
    try:
        yield
    except psycopg2.Error as error:
        said = " ".join(str(error).split())
        if error.pgcode is None or str(error.pgcode)[:2] == "08" or error.pgcode in PASSING:
            raise Unreachable("the connection to Postgres was lost", detail=said, place=place) from error
        raise SourceError(
            f"Postgres does not let {what} be read: {error.diag.message_primary or said}",
            detail=f"Its code is {error.pgcode}.",
            hint="Grant SELECT on the table and USAGE on its schema to the user."
            if error.pgcode == "42501"
            else "See the server's log for more.",
            place=place,
        ) from error
