"""Connections to the server, and its refusals in our words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg2
import psycopg2.extras

from headwater.errors import SourceError
from headwater.options import Secret
from headwater.postgres_tls import checked, complaint
from headwater.sources.base import Lost, Unreachable
from headwater.sources.postgres.options import PostgresOptions, tls_of
from headwater.sources.postgres.tls import Tls

# Values are read as text: whatever shapes that text is fixed here, equal for snapshot and stream.
TEXT_SETTINGS = (
    "DateStyle=ISO,YMD",
    "TimeZone=UTC",
    "IntervalStyle=postgres",
    "extra_float_digits=1",
    "bytea_output=hex",
)

_REPORTED = {"TimeZone": "UTC", "DateStyle": "ISO, YMD"}
"""Of these what the environment says (PGTZ, PGDATESTYLE) is sent too, and heard after what is asked for here."""

# A half-open connection is noticed by both ends within a minute; by us also when something is on its way that is never
# acknowledged, as then nobody asks whether the other end lives. The server must not do that: while we commit a large
# transaction we read nothing, and it would hang up.
_ALIVE = {
    "keepalives": 1,
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 50_000,
}
_SERVER_ALIVE = ("tcp_keepalives_idle=20", "tcp_keepalives_interval=10", "tcp_keepalives_count=3")

# First rows may take long, and whoever holds their moment has nothing to say meanwhile.
_PATIENT = ("statement_timeout=0", "idle_in_transaction_session_timeout=0")

TRANSACTION_TIMEOUT_SINCE = 170_000
"""From this version of the server on a transaction can also be limited as such."""

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
    tls: Tls = Tls()

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.database}"


def address_of(options: PostgresOptions, application: str) -> Address:
    """Where the table of these options is."""
    return Address(
        options.hostname,
        options.port,
        options.database,
        options.username,
        options.password,
        application,
        tls_of(options),
    )


def connect(address: Address) -> Any:
    """A connection for queries, in autocommit."""
    opened = _open(address, (*TEXT_SETTINGS, *_SERVER_ALIVE, *_PATIENT), None)
    opened.autocommit = True
    return _insisted(opened)


def _insisted(opened: Any) -> Any:
    """A connection that shows values as we read them, whatever our environment prefers."""
    for name, value in _REPORTED.items():
        if opened.get_parameter_status(name) != value:
            opened.cursor().execute(f"SET {name} = '{value}'")
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
        return Lost(
            "the connection to postgres was lost",
            detail=" ".join(str(error).split()),
            hint="It is tried again until the server answers.",
        )
    if str(error.pgcode)[:2] == "53":
        return Lost(
            "postgres has no room for a request",
            detail=f"{' '.join(str(error).split())} (code {error.pgcode})",
            hint="Its disk or memory is full, or it has no connection left. It is tried again until it has.",
        )
    return SourceError(
        "postgres refused a request",
        detail=f"{' '.join(str(error).split())} (code {error.pgcode})",
        hint="See the server's log for more.",
    )


def connect_replication(address: Address) -> Any:
    """A connection that speaks the replication protocol."""
    settings = (*TEXT_SETTINGS, *_SERVER_ALIVE, *_PATIENT, *_STREAM_SETTINGS)
    opened = _open(address, settings, psycopg2.extras.LogicalReplicationConnection)
    if opened.server_version >= TRANSACTION_TIMEOUT_SINCE:
        opened.cursor().execute("SET transaction_timeout = 0")
    return _insisted(opened)


def _open(address: Address, settings: tuple[str, ...], factory: type | None) -> Any:
    tls = checked(address.tls.settings())
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
            **tls,
        )
    except psycopg2.OperationalError as error:
        raise refusal(address, str(error)) from error


_SILENT = "{where} does not answer", "Check the options 'hostname' and 'port', and that the server runs."

_PASSWORD = (
    "password authentication failed|no password supplied",
    SourceError,
    "{where} does not accept the password of '{user}'",
    "Check the options 'username' and 'password'.",
)

_REFUSALS = (
    (
        "database .*does not exist",
        SourceError,
        "{where} has no database '{database}'",
        "Check the option 'database-name'.",
    ),
    ("role .*does not exist", SourceError, "{where} has no role '{user}'", "Check the option 'username'."),
    (
        r"pg_hba\.conf(?s:(?!SSL encryption).)*no encryption",
        SourceError,
        "{where} does not let '{user}' in without TLS",
        "Set 'sslmode' to 'require' or more; or add a line for this host, database and role to the server's"
        " pg_hba.conf.",
    ),
    (
        r"pg_hba\.conf",
        SourceError,
        "{where} does not let '{user}' in",
        "Add a line for this host, database and role to the server's pg_hba.conf.",
    ),
    (
        "could not translate host name",
        Unreachable,
        "the host '{host}' is not known",
        "Check the option 'hostname'.",
    ),
    ("server closed the connection", Lost, *_SILENT),
    ("", Unreachable, *_SILENT),
)

_CUT = ("SSL SYSCALL error|SSL connection has been closed|unexpected eof", Lost, *_SILENT)
"""The line broke while the two sides agreed on TLS; what was said when the library then came without it means nothing."""


def refusal(address: Address, said: str) -> SourceError:
    """What the text of a failed connection means: the first that fits."""
    tls = [("", SourceError, "{where} " + what, hint) for what, hint in [complaint(said) or ("", "")] if what]
    kind, message, hint = next(
        (kind, message, hint)
        for seen, kind, message, hint in (_CUT, _PASSWORD, *tls, *_REFUSALS)
        if re.search(seen, said)
    )
    where = f"postgres at {address.host}:{address.port}"
    shown = message.format(where=where, user=address.user, database=address.database, host=address.host)
    return kind(shown, detail=" ".join(said.split()), hint=hint)


def quote(name: str) -> str:
    """An identifier as it stands in SQL, for messages and hints."""
    return '"' + name.replace('"', '""') + '"'
