"""Connections to the server, and its refusals in our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg2
import psycopg2.extras

from headwater.errors import SourceError
from headwater.options import Secret
from headwater.sources.base import Unreachable
from headwater.sources.postgres.options import PostgresOptions

# Values are read as text: whatever shapes that text is fixed here, equal for snapshot and stream.
TEXT_SETTINGS = (
    "DateStyle=ISO,YMD",
    "TimeZone=UTC",
    "IntervalStyle=postgres",
    "extra_float_digits=1",
    "bytea_output=hex",
)

# A half-open connection is noticed by both ends within a minute.
_ALIVE = {"keepalives": 1, "keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 3}
_SERVER_ALIVE = ("tcp_keepalives_idle=20", "tcp_keepalives_interval=10", "tcp_keepalives_count=3")

# The server must not ask for replies by itself: the answer would confirm more than is durable (stream.py).
_STREAM_SETTINGS = ("wal_sender_timeout=0",)


@dataclass(frozen=True)
class Address:
    """Where and as whom to connect."""

    host: str
    port: int
    database: str
    user: str
    password: Secret
    application: str

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.database}"


def address_of(options: PostgresOptions, application: str) -> Address:
    """Where the table of these options is."""
    return Address(
        options.hostname, options.port, options.database, options.username, options.password, application
    )


def connect(address: Address) -> Any:
    """A connection for queries, in autocommit."""
    opened = _open(address, (*TEXT_SETTINGS, *_SERVER_ALIVE, "statement_timeout=0"), None)
    opened.autocommit = True
    return opened


@contextmanager
def session(address: Address) -> Iterator[Any]:
    """A cursor on a connection of its own, closed at the end; what the server refuses is a SourceError."""
    opened = connect(address)
    try:
        yield opened.cursor()
    except psycopg2.Error as error:
        raise meaning(error) from error
    finally:
        opened.close()


def meaning(error: psycopg2.Error) -> SourceError:
    """What an error of the server, or the loss of its connection, is to us."""
    # An error without a code is not the server's: the connection itself broke.
    broken = error.pgcode is None or str(error.pgcode)[:2] in ("08", "57")
    if broken:
        return Unreachable(
            "the connection to postgres was lost",
            detail=" ".join(str(error).split()),
            hint="It is tried again until the server answers.",
        )
    return SourceError(
        "postgres refused a request",
        detail=f"{' '.join(str(error).split())} (code {error.pgcode})",
        hint="See the server's log for more.",
    )


def connect_replication(address: Address) -> Any:
    """A connection that speaks the replication protocol."""
    settings = (*TEXT_SETTINGS, *_SERVER_ALIVE, *_STREAM_SETTINGS)
    return _open(address, settings, psycopg2.extras.LogicalReplicationConnection)


def _open(address: Address, settings: tuple[str, ...], factory: type | None) -> Any:
    try:
        return psycopg2.connect(
            host=address.host,
            port=address.port,
            dbname=address.database,
            user=address.user,
            password=address.password.reveal(),
            # libpq takes 63 bytes and cuts the rest with a warning.
            application_name=address.application[:63],
            client_encoding="UTF8",
            connect_timeout=10,
            options=" ".join(f"-c {setting}" for setting in settings),
            connection_factory=factory,
            **_ALIVE,
        )
    except psycopg2.OperationalError as error:
        raise refusal(address, str(error)) from error


def refusal(address: Address, said: str) -> SourceError:
    """What the text of a failed connection means."""
    detail = " ".join(said.split())
    where = f"postgres at {address.host}:{address.port}"
    if "password authentication failed" in said or "no password supplied" in said:
        return SourceError(
            f"{where} does not accept the password of '{address.user}'",
            detail=detail,
            hint="Check the options 'username' and 'password'.",
        )
    if "database" in said and "does not exist" in said:
        return SourceError(
            f"{where} has no database '{address.database}'",
            detail=detail,
            hint="Check the option 'database-name'.",
        )
    if "role" in said and "does not exist" in said:
        return SourceError(
            f"{where} has no role '{address.user}'", detail=detail, hint="Check the option 'username'."
        )
    if "pg_hba.conf" in said:
        return SourceError(
            f"{where} does not let '{address.user}' in",
            detail=detail,
            hint="Add a line for this host, database and role to the server's pg_hba.conf.",
        )
    if "could not translate host name" in said:
        return Unreachable(
            f"the host '{address.host}' is not known", detail=detail, hint="Check the option 'hostname'."
        )
    return Unreachable(
        f"{where} does not answer",
        detail=detail,
        hint="Check the options 'hostname' and 'port', and that the server runs.",
    )


def quote(name: str) -> str:
    """An identifier as it stands in SQL, for messages and hints."""
    return '"' + name.replace('"', '""') + '"'
