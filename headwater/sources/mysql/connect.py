"""Connections to the server, and its refusals in our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pymysql
import pymysql.converters

from headwater.errors import SourceError
from headwater.options import Secret
from headwater.sources.base import Lost, Unreachable
from headwater.sources.jdbc.mysql import tls_of
from headwater.sources.mysql.options import MysqlOptions
from headwater.sources.mysql.server import OUR_ZONE

_LOST = (1040, 1053, 1077, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 2002, 2003, 2006, 2013, 2055, 4031)
"""The server is gone, goes, comes, or has no room: it may answer later."""

# Values are read as text: whatever shapes that text is fixed here, equal for snapshot and stream.
_SETTINGS = f"SET time_zone = '{OUR_ZONE}', sql_mode = '', net_write_timeout = 600, wait_timeout = 86400"


@dataclass(frozen=True)
class Address:
    """Where and as whom to connect."""

    host: str
    port: int
    user: str
    password: Secret
    timeout: float = 10.0
    tls: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def address_of(options: MysqlOptions) -> Address:
    """Where the table of these options is."""
    return Address(
        options.hostname,
        options.port,
        options.username,
        options.password,
        float(options.connect_timeout),
        {name: value for name, value in options.jdbc.items() if name in ("sslMode", "useSSL")},
    )


def connect(address: Address) -> Any:
    """A connection whose values are text, each statement for itself."""
    try:
        opened = pymysql.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            # The driver would take a text for Latin letters only.
            password=address.password.reveal().encode(),
            charset="utf8mb4",
            connect_timeout=max(1, int(address.timeout)),
            program_name="headwater",
            autocommit=True,
            # Only what is sent is converted: what comes stays as the server wrote it.
            conv=pymysql.converters.encoders,
            **tls_of(address.tls),
        )
        with opened.cursor() as cursor:
            cursor.execute(_SETTINGS)
    except (pymysql.Error, OSError) as error:
        raise refusal(address, error) from error
    except RuntimeError as error:
        # Without TLS a password of MySQL 8 is sent in a way that needs a package of its own.
        raise SourceError(
            f"MySQL at {address} takes this password only over TLS",
            detail=f"{error}.",
            hint="Turn TLS on at the server, or let the user come with mysql_native_password.",
        ) from error
    return opened


@contextmanager
def session(address: Address) -> Iterator[Any]:
    """A cursor on a connection of its own, closed at the end; what the server refuses is a SourceError."""
    opened = connect(address)
    try:
        yield opened.cursor()
    except pymysql.Error as error:
        raise meaning(error) from error
    finally:
        opened.close()


def meaning(error: BaseException) -> SourceError:
    """What an error of the server, or the loss of its connection, is to us."""
    code, said = _parts(error)
    if is_lost(error):
        return Lost(
            "the connection to MySQL was lost",
            detail=f"{said}.",
            hint="It is tried again until the server answers.",
        )
    if code in (1044, 1142, 1143, 1227, 1370):
        return SourceError(
            "MySQL does not let the user do that", detail=f"{said}.", hint="Grant the user what is missing."
        )
    return SourceError(
        "MySQL refused a request", detail=f"{said} (code {code}).", hint="See the server's log for more."
    )


def is_lost(error: BaseException) -> bool:
    """True if the server may answer later."""
    code, _ = _parts(error)
    return code in _LOST or isinstance(error, pymysql.err.InterfaceError | OSError)


def refusal(address: Address, error: BaseException) -> SourceError:
    """What a failed connection means."""
    code, said = _parts(error)
    where = f"MySQL at {address}"
    if code in (1045, 1698):
        return SourceError(
            f"{where} does not accept the password of '{address.user}'",
            detail=f"{said}.",
            hint="Check the options 'username' and 'password', and from where the user may come.",
        )
    if code in (1130, 1129):
        return SourceError(
            f"{where} does not let this host in",
            detail=f"{said}.",
            hint=f"CREATE USER '{address.user}'@'%' ... makes one who may come from anywhere.",
        )
    if "Name or service not known" in said or "getaddrinfo" in said or "name resolution" in said:
        return Unreachable(
            f"the host '{address.host}' is not known", detail=f"{said}.", hint="Check the option 'hostname'."
        )
    if is_lost(error):
        return Unreachable(
            f"{where} does not answer",
            detail=f"{said}.",
            hint="Check the options 'hostname' and 'port', and that the server runs.",
        )
    return SourceError(f"{where} refuses the connection", detail=f"{said} (code {code}).")


def _parts(error: BaseException) -> tuple[int, str]:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    return code, str(error.args[-1] if error.args else error).rstrip(".")
