"""The options of connector 'jdbc' where it is read, named and meant as Flink does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headwater.errors import OptionError, Place
from headwater.jdbc_url import MYSQL, POSTGRES, Address, read_url
from headwater.options import Duration, Secret, option, revealed
from headwater.sources.base import SourceTable

KINDS = (POSTGRES, MYSQL)

_STREAMED = "accepted and without effect: rows are streamed in one transaction"
_PARTITION = "accepted and without effect: one stream reads the table; all four are given, or none"
_LOOKED_UP = "accepted and without effect: the table is read whole, and joins look rows up in what was read"


@dataclass(frozen=True)
class JdbcSourceOptions:
    """How a table of a database is found and read."""

    url: str = option(
        "url", "the database: `jdbc:postgresql://host:port/database` or `jdbc:mysql://host:port/database`"
    )
    table_name: str = option("table-name", "the table or view in it, as `table` or `schema.table`")
    username: str = option("username", "who reads; by default the user of this process", default="")
    password: Secret | None = option("password", "the user's password", default=None)
    driver: str = option("driver", "accepted and without effect: no Java driver is involved", default="")
    retry_timeout: Duration = option(
        "connection.max-retry-timeout",
        "accepted and without effect: a connection is tried for ten seconds",
        default=Duration(60),
    )
    refresh: Duration | None = option(
        "scan.refresh-interval",
        "how often the table is read again, and what changed in it delivered; by default never",
        default=None,
    )
    fetch_size: int = option("scan.fetch-size", _STREAMED, default=0)
    auto_commit: bool = option("scan.auto-commit", _STREAMED, default=True)
    parallelism: int = option("scan.parallelism", _STREAMED, default=1)
    partition_column: str = option("scan.partition.column", _PARTITION, default="")
    partition_num: int | None = option("scan.partition.num", _PARTITION, default=None)
    partition_lower: int | None = option("scan.partition.lower-bound", _PARTITION, default=None)
    partition_upper: int | None = option("scan.partition.upper-bound", _PARTITION, default=None)
    cache: str = option("lookup.cache", _LOOKED_UP, default="NONE", choices=("NONE", "PARTIAL"))
    cache_rows: int = option("lookup.cache.max-rows", _LOOKED_UP, default=0)
    cache_life: Duration | None = option("lookup.cache.ttl", _LOOKED_UP, default=None)
    cache_missing: bool = option("lookup.cache.caching-missing-key", _LOOKED_UP, default=True)
    partial: dict[str, str] = option("lookup.partial-cache.", _LOOKED_UP, prefix=True)
    lookup_retries: int = option("lookup.max-retries", _LOOKED_UP, default=3)
    sink: dict[str, str] = option(
        "sink.", "for writing the table; without effect where it is read", prefix=True
    )

    def __post_init__(self) -> None:
        if self.refresh is not None and self.refresh <= 0:
            raise OptionError(
                "option 'scan.refresh-interval' must be above zero",
                hint="Leave it out to read the table once.",
            )
        parts = {
            "column": self.partition_column or None,
            "num": self.partition_num,
            "lower-bound": self.partition_lower,
            "upper-bound": self.partition_upper,
        }
        missing = [name for name, value in parts.items() if value is None]
        if missing and len(missing) < len(parts):
            raise OptionError(
                f"option 'scan.partition.{missing[0]}' is missing",
                detail="The four options 'scan.partition.*' belong together.",
                hint="Add it, or leave all four out: they have no effect here.",
            )


def address_of(options: JdbcSourceOptions, place: Place | None = None) -> Address:
    """What a url says, or what is wrong with it."""
    return read_url(options.url, user=options.username, kinds=KINDS, place=place)


def group_of(options: JdbcSourceOptions) -> str:
    """Tables of one database are read in one transaction and share a position."""
    where = address_of(options)
    place = f"{where.kind} {where.place}"
    if isinstance(options.url, Secret):
        return f"{where.kind} {hashlib.sha256(place.encode()).hexdigest()[:12]}"
    return place


def origin_of(options: JdbcSourceOptions) -> str:
    """The table at the server, and whether it is read again: a table that begins to be needs its first read anew."""
    plain = revealed(options)
    return json.dumps([address_of(plain).schema, plain.table_name, plain.refresh is not None])


def only_inserts(options: JdbcSourceOptions) -> bool:
    """True if the table is read once."""
    return options.refresh is None


def check_group(tables: Sequence[SourceTable]) -> None:
    """One transaction reads all tables of a database, so one user comes, in one way."""
    first = tables[0]
    for table in tables[1:]:
        one, other = (replace(address_of(t.options, t.place), host="", schema="") for t in (first, table))
        passwords = {t.options.password.reveal() if t.options.password else None for t in (first, table)}
        if one != other or len(passwords) > 1:
            raise OptionError(
                f"tables '{first.name}' and '{table.name}' come to one database in two ways",
                detail="All tables of a database are read in one transaction, so their username, password and the"
                " parameters of their url must be equal.",
                hint="Give both the same.",
                place=table.place,
            )
