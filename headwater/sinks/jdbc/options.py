"""The options of connector 'jdbc', and the database that its url names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from headwater.errors import Place
from headwater.jdbc_url import MYSQL, POSTGRES, Address, read_url
from headwater.options import Secret, option

KINDS = (POSTGRES, MYSQL)


@dataclass(frozen=True)
class JdbcOptions:
    """The options of connector 'jdbc'."""

    url: str = option(
        "url", "the database: `jdbc:postgresql://host:port/database`, `jdbc:mysql://host:port/database`"
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
        "how often a batch is tried again after a deadlock; a server that is away is waited for",
        default=3,
    )
    create_table: bool = option("sink.create-table", "make the table if it is missing", default=False)
    parallelism: int = option(
        "sink.parallelism", "accepted and without effect: one session writes", default=1
    )
    connection: str = option(
        "connection.max-retry-timeout",
        "accepted and without effect: a server that goes away is waited for",
        default="60s",
    )
    scan: dict[str, str] = option(
        "scan.", "for reading the table; without effect where it is written", prefix=True
    )
    lookup: dict[str, str] = option(
        "lookup.", "for reading the table; without effect where it is written", prefix=True
    )


def address_of(options: JdbcOptions, place: Place | None = None) -> Address:
    """What a url says, or what is wrong with it."""
    return read_url(options.url, user=options.username, kinds=KINDS, place=place)


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


def hidden(text: str, secrets: Sequence[str]) -> str:
    """A text of a server on one line, without any secret of the options."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return " ".join(text.split())


def _plain(text: str) -> str:
    return text.reveal() if isinstance(text, Secret) else text
