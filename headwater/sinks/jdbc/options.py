"""The options of connector 'jdbc', and the database that its url names."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from headwater.errors import OptionError, Place
from headwater.options import Secret, option

PREFIX = "jdbc:postgresql://"

LIBPQ = {
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
}
"""Parameters of the url and what libpq calls them."""

WITHOUT_EFFECT = ("prepareThreshold", "reWriteBatchedInserts", "stringtype", "tcpKeepAlive")
"""Parameters that tune the Java driver and mean nothing to ours."""

LOOPBACK = ("127.0.0.1", "::1")


@dataclass(frozen=True)
class JdbcOptions:
    """The options of connector 'jdbc'."""

    url: str = option(
        "url", "the database: `jdbc:postgresql://host:port/database`, with `?currentSchema=` and the like"
    )
    table_name: str = option("table-name", "the table in it, as `table` or `schema.table`")
    username: str = option("username", "who writes; by default the user of this process", default="")
    password: Secret | None = option("password", "the user's password", default=None)
    driver: str = option("driver", "accepted and without effect: no Java driver is involved", default="")
    max_rows: int = option(
        "sink.buffer-flush.max-rows",
        "accepted and without effect: a batch is always written whole",
        default=100,
    )
    interval: str = option(
        "sink.buffer-flush.interval",
        "accepted and without effect: a batch is written when it is done",
        default="1s",
    )
    max_retries: int = option(
        "sink.max-retries",
        "how often a batch is tried again after a deadlock or a lost connection",
        default=3,
    )
    create_table: bool = option("sink.create-table", "make the table if it is missing", default=False)


@dataclass(frozen=True)
class Address:
    """The database of a url: where it is, who comes, and how."""

    host: str
    port: int
    database: str
    schema: str
    user: str
    settings: tuple[tuple[str, str], ...]

    @property
    def place(self) -> str:
        """The database itself, whoever comes: `localhost:5432/shop`."""
        host = "localhost" if self.host in LOOPBACK else self.host.lower()
        return f"{host}:{self.port}/{self.database}"


def address_of(options: JdbcOptions, place: Place | None = None) -> Address:
    """What a url says, or what is wrong with it."""
    url = _plain(options.url)
    if not url.startswith(PREFIX):
        raise _wrong_url(f"Only urls that start with {PREFIX} are understood.", options, place)
    try:
        parts = urlsplit(url.removeprefix("jdbc:"))
        port = parts.port or 5432
    except ValueError as wrong:
        raise _wrong_url(f"{wrong}.", options, place) from None
    database = unquote(parts.path.removeprefix("/"))
    if not parts.hostname or not database or "/" in database or "@" in parts.netloc:
        raise _wrong_url("It names a host and one database, and no user.", options, place)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    settings = tuple(sorted(_settings(given, place)))
    user = _plain(options.username) or given.get("user", "")
    return Address(parts.hostname, port, database, given.get("currentSchema", ""), user, settings)


def group_of(options: JdbcOptions) -> str:
    """All tables of one database are one group, so that a batch is one transaction there."""
    where = address_of(options).place
    if isinstance(options.url, Secret):
        return f"jdbc-{hashlib.sha256(where.encode()).hexdigest()[:12]}"
    return f"jdbc-{where}"


def secrets_of(options: JdbcOptions) -> tuple[str, ...]:
    """All texts of the options that no message may show, the longest first."""
    found = {_plain(v) for v in vars(options).values() if isinstance(v, Secret)}
    if isinstance(options.url, Secret):
        address = address_of(options)
        found |= {address.host, address.database, address.schema, address.user}
    # Whoever uses a public name as the password still wants to read that name.
    public = {"", *(v for v in (options.username, options.table_name) if not isinstance(v, Secret))}
    if not isinstance(options.url, Secret):
        public |= {address_of(options).database, address_of(options).user}
    return tuple(sorted(found - public, key=len, reverse=True))


def _settings(given: dict[str, str], place: Place | None) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        if name == "password":
            raise OptionError(
                "option 'url' must not hold a password",
                detail="A url is shown in plans and messages.",
                hint="Use the option 'password' = '${env:NAME}'.",
                place=place,
            )
        if name == "ssl":
            yield "sslmode", "require" if value.lower() in ("", "true") else "disable"
        elif name in LIBPQ:
            yield LIBPQ[name], value
        elif name not in (*WITHOUT_EFFECT, "user", "currentSchema"):
            known = [*LIBPQ, *WITHOUT_EFFECT, "currentSchema", "ssl", "user"]
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            raise OptionError(
                f"option 'url' has a parameter that is not understood: {name}",
                detail=f"The parameters are {', '.join(sorted(known))}.",
                hint=f"Did you mean '{near[0]}'?" if near else "Remove it.",
                place=place,
            )


def _wrong_url(detail: str, options: JdbcOptions, place: Place | None) -> OptionError:
    # Parameters may hold a password that stands in the wrong place.
    shown = str(options.url).split("?")[0]
    return OptionError(
        f"option 'url' does not take the value '{shown if '@' not in shown else '***'}'",
        detail=detail,
        hint="Write 'url' = 'jdbc:postgresql://host:5432/database'.",
        place=place,
    )


def _plain(text: str) -> str:
    return text.reveal() if isinstance(text, Secret) else text
