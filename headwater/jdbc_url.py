"""What a jdbc url says of a database; no Java is involved.

>>> str(read_url("jdbc:postgresql://shop:5433/orders?currentSchema=live", user="ann").place)
'shop:5433/orders'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from headwater.errors import OptionError, Place
from headwater.nearest import nearest
from headwater.options import Secret
from headwater.postgres_tls import check_words, complaint

POSTGRES, MYSQL = "postgresql", "mysql"
PORTS = {POSTGRES: 5432, MYSQL: 3306}
SHOWN = {POSTGRES: "Postgres", MYSQL: "MySQL"}
"""The databases that are understood, the ports they listen on, and how messages call them."""

ALSO = {MYSQL: ("mariadb",)}
"""Other names of them in a url."""

KEPT = {
    POSTGRES: {
        "ApplicationName": "application_name",
        "connectTimeout": "connect_timeout",
        "sslcert": "sslcert",
        "sslkey": "sslkey",
        "sslmode": "sslmode",
        "sslrootcert": "sslrootcert",
    },
    MYSQL: {"sslMode": "sslMode", "useSSL": "useSSL"},
}
"""Parameters of the url and what our own drivers call them."""

WITHOUT_EFFECT = {
    POSTGRES: ("prepareThreshold", "reWriteBatchedInserts", "stringtype", "tcpKeepAlive"),
    MYSQL: (
        "allowPublicKeyRetrieval",
        "characterEncoding",
        "connectTimeout",
        "connectionTimeZone",
        "requireSSL",
        "rewriteBatchedStatements",
        "serverTimezone",
        "socketTimeout",
        "tinyInt1isBit",
        "useCursorFetch",
        "useUnicode",
        "verifyServerCertificate",
        "zeroDateTimeBehavior",
    ),
}
"""Parameters that tune the Java driver and mean nothing to ours."""

LOOPBACK = ("127.0.0.1", "::1")


@dataclass(frozen=True)
class Address:
    """The database of a url: where it is, who comes, and how."""

    host: str
    port: int
    database: str
    schema: str
    user: str
    settings: tuple[tuple[str, str], ...]
    kind: str = POSTGRES

    @property
    def place(self) -> str:
        """The database itself, whoever comes: `localhost:5432/shop`."""
        host = "localhost" if self.host in LOOPBACK else self.host.lower()
        return f"{host}:{self.port}/{self.database}"


def read_url(
    url: str, *, user: str = "", kinds: Sequence[str] = (POSTGRES,), place: Place | None = None
) -> Address:
    """What a url says, or what is wrong with it; `user` wins over the one in the url."""
    plain = _plain(url)
    names = {name: kind for kind in kinds for name in (kind, *ALSO.get(kind, ()))}
    kind = next((kind for name, kind in names.items() if plain.startswith(f"jdbc:{name}://")), None)
    if kind is None:
        known = " or ".join(f"jdbc:{name}://" for name in names)
        raise _wrong(f"Only urls that start with {known} are understood.", url, kinds, place)
    try:
        parts = urlsplit(plain.removeprefix("jdbc:"))
        port = parts.port or PORTS[kind]
    except ValueError as wrong:
        is_port = str(wrong).startswith("Port")
        said = "A port is a number from 1 to 65535" if is_port else str(wrong)
        raise _wrong(f"{said}.", url, kinds, place) from None
    database = unquote(parts.path.removeprefix("/"))
    if not parts.hostname or not database or "/" in database or "@" in parts.netloc:
        raise _wrong("It names a host and one database, and no user.", url, kinds, place)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    settings = tuple(sorted(_settings(given, kind, place)))
    if kind == POSTGRES:
        check_words(dict(settings), place)
    schema = given.get("currentSchema", "") if kind == POSTGRES else ""
    return Address(
        parts.hostname, port, database, schema, _plain(user) or given.get("user", ""), settings, kind
    )


def with_database(base: str, database: str) -> str:
    """The url of one database: `with_database("jdbc:mysql://shop:3306/?useSSL=true", "orders")`."""
    server, question, parameters = base.partition("?")
    return f"{server.rstrip('/')}/{quote(database, safe='')}{question}{parameters}"


def connect_hint(said: str, kind: str = POSTGRES) -> str:
    """What to do about a connection that did not come about, from what the driver says."""
    if kind == POSTGRES and (about_tls := complaint(said)) is not None:
        return about_tls[1]
    return next((hint for seen, hint in _CONNECT_HINTS if re.search(seen, said)), _CHECK)


def tls_of(settings: dict[str, str]) -> dict[str, object]:
    """What the url says of TLS, for the driver; by default it is used if the server has it."""
    mode = settings.get("sslMode", {"false": "DISABLED"}.get(settings.get("useSSL", ""), "PREFERRED")).upper()
    match mode:
        case "DISABLED":
            return {"ssl_disabled": True}
        case "REQUIRED":
            return {"ssl": {"check_hostname": False, "verify_mode": False}}
        case "VERIFY_CA" | "VERIFY_IDENTITY":
            return {"ssl": {"check_hostname": mode == "VERIFY_IDENTITY", "verify_mode": True}}
    return {}


def _settings(given: dict[str, str], kind: str, place: Place | None) -> Iterator[tuple[str, str]]:
    kept, plain = KEPT[kind], (*WITHOUT_EFFECT[kind], "user")
    own = ("currentSchema", "ssl") if kind == POSTGRES else ()
    for name, value in given.items():
        if name in ("password", "sslpassword"):
            raise OptionError(
                "option 'url' must not hold a password",
                detail="A url is shown in plans and messages.",
                hint="Use the option 'password' = '${env:NAME}'."
                if name == "password"
                else "Use a key without a password, in a file that nobody else may read.",
                place=place,
            )
        if name == "ssl" and kind == POSTGRES:
            # As in the Java driver: who asks for TLS and says no more means all of it.
            yield "sslmode", "verify-full" if value.lower() in ("", "true") else "disable"
        elif name in kept:
            yield kept[name], value
        elif name not in (*plain, *own):
            known = [*kept, *plain, *own]
            near = nearest(name, known, cutoff=0.5)
            raise OptionError(
                f"option 'url' has a parameter that is not understood: {name}",
                detail=f"The parameters are {', '.join(sorted(known))}.",
                hint=f"Did you mean '{near}'?" if near else "Remove it.",
                place=place,
            )


def _wrong(detail: str, url: str, kinds: Sequence[str], place: Place | None) -> OptionError:
    # Parameters may hold a password that stands in the wrong place.
    shown = str(url).split("?")[0]
    return OptionError(
        f"option 'url' does not take the value '{shown if '@' not in shown else '***'}'",
        detail=detail,
        hint=f"Write 'url' = 'jdbc:{kinds[0]}://host:{PORTS[kinds[0]]}/database'.",
        place=place,
    )


def _plain(text: str) -> str:
    return text.reveal() if isinstance(text, Secret) else text


_CHECK = "Check the option 'url' and the network."

_CONNECT_HINTS = (
    ("password authentication failed|Access denied for user", "Check the options 'username' and 'password'."),
    ("no password supplied", "Add the option 'password'."),
    ('role ".*" does not exist', "Check the option 'username'."),
    ("permission denied for database", "Grant CONNECT on the database to the user."),
    ("starting up", "Try again when the server is up."),
    (
        'database ".*" does not exist|Unknown database',
        "Check the name after the last slash of the option 'url', or create the database.",
    ),
    ("translate host name|Name or service not known|getaddrinfo", "Check the host in the option 'url'."),
    ("Connection refused", "Start the server, or check host and port in the option 'url'."),
    ("timeout|timed out", "Check host and port in the option 'url', and that no firewall lies between."),
    ("SSL", "Check the parameter sslmode of the option 'url'."),
    (
        "too many clients|Too many connections",
        "Raise max_connections of the server, or close other sessions.",
    ),
)
