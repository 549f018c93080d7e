"""The options of `'connector' = 'mysql-cdc'`, named and meant as Flink does."""

from __future__ import annotations

import hashlib
import json
import re
import zoneinfo
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater.errors import OptionError
from headwater.options import Duration, Secret, option, revealed
from headwater.sources.base import SourceTable

INITIAL, EARLIEST, LATEST = "initial", "earliest-offset", "latest-offset"
SPECIFIC, TIMESTAMP, SNAPSHOT = "specific-offset", "timestamp", "snapshot"
REFUSE, ACCEPT = "refuse", "accept"

_OFFSET = re.compile(r"[+-]\d\d:\d\d")
_SERVER_ID = re.compile(r"(\d+)(?:-(\d+))?")

_IGNORED = (
    "snapshot.locking.mode",
    "snapshot.fetch.size",
    "decimal.handling.mode",
    "bigint.unsigned.handling.mode",
    "binary.handling.mode",
    "time.precision.mode",
    "include.schema.changes",
    "connect.timeout.ms",
    "connect.keep.alive",
    "poll.interval.ms",
    "max.batch.size",
    "max.queue.size",
    "tombstones.on.delete",
)
"""Options of Debezium that ask for how something is done which is done differently here."""

_INSTEAD = {
    ("snapshot.mode", "never"): "'scan.startup.mode' = 'latest-offset'",
    ("snapshot.mode", "no_data"): "'scan.startup.mode' = 'latest-offset'",
    ("snapshot.mode", "schema_only"): "'scan.startup.mode' = 'latest-offset'",
    ("snapshot.mode", "initial_only"): "'scan.startup.mode' = 'snapshot'",
}


@dataclass(frozen=True)
class MysqlOptions:
    """How a table of a MySQL or MariaDB server is found and read."""

    hostname: str = option("hostname", "the host the server runs on")
    username: str = option(
        "username", "the user to connect as; it needs SELECT, REPLICATION SLAVE, REPLICATION CLIENT"
    )
    password: Secret = option("password", "the password of the user")
    database: str = option("database-name", "the database, or a pattern that several match")
    table: str = option(
        "table-name", "the table, or a pattern: the rows of all tables that match are rows of this one"
    )
    port: int = option("port", "the port the server listens on", default=3306)
    server_id: str = option(
        "server-id",
        "the number under which the server knows this reader, or a range to take it from; without it one is"
        " made from the pipeline's name",
        default="",
    )
    zone: str = option(
        "server-time-zone",
        "the zone of the server's clock, as Europe/Berlin or +02:00: what a TIMESTAMP of MySQL shows, and what a"
        " DATETIME means; without it the server is asked",
        default="",
    )
    startup: str = option(
        "scan.startup.mode",
        "initial: all rows, then the changes; earliest-offset: all changes the server still has; latest-offset:"
        " only changes from now on; specific-offset, timestamp: changes from there on; snapshot: all rows, no"
        " changes",
        default=INITIAL,
        choices=(INITIAL, EARLIEST, LATEST, SPECIFIC, TIMESTAMP, SNAPSHOT),
    )
    start_file: str = option(
        "scan.startup.specific-offset.file", "for specific-offset: the file of the binary log", default=""
    )
    start_position: int = option(
        "scan.startup.specific-offset.pos", "for specific-offset: the place in that file", default=4
    )
    start_gtids: str = option(
        "scan.startup.specific-offset.gtid-set",
        "for specific-offset: the transactions that are not wanted any more",
        default="",
    )
    start_millis: int | None = option(
        "scan.startup.timestamp-millis",
        "for timestamp: transactions committed from this moment on, in milliseconds since 1970",
        default=None,
    )
    cascades: str = option(
        "foreign-key.cascades",
        "what to do with a table whose rows change or go with those of another (ON DELETE CASCADE and the like), which"
        " the log does not tell: refuse, or accept because it does not happen",
        default=REFUSE,
        choices=(REFUSE, ACCEPT),
    )
    incremental: bool = option(
        "scan.incremental.snapshot.enabled",
        "accepted: first rows are always read without a lock on the whole server",
        default=True,
    )
    chunk_size: int = option(
        "scan.incremental.snapshot.chunk.size",
        "accepted: first rows are read in one transaction, whose size does not matter",
        default=8096,
    )
    chunk_column: str = option(
        "scan.incremental.snapshot.chunk.key-column", "accepted, as the size of chunks is", default=""
    )
    fetch_size: int = option(
        "scan.snapshot.fetch.size", "accepted: rows are taken as they arrive", default=1024
    )
    connect_timeout: Duration = option(
        "connect.timeout", "how long to wait for the server to answer", default=Duration(10)
    )
    heartbeat: Duration = option(
        "heartbeat.interval",
        "how often the server says that it is still there when nothing happens",
        default=Duration(10),
    )
    jdbc: dict[str, str] = option(
        "jdbc.properties.", "sslMode and useSSL are understood; others are refused by name", prefix=True
    )
    debezium: dict[str, str] = option(
        "debezium.", "options of Debezium that have a meaning here; others are refused by name", prefix=True
    )

    def __post_init__(self) -> None:
        if not 0 < self.port < 65536:
            raise OptionError(
                f"option 'port' does not take the value '{self.port}'", detail="It takes 1 to 65535."
            )
        _check_pattern("database-name", self.database)
        _check_pattern("table-name", self.table)
        _check_server_id(self.server_id)
        _check_zone(self.zone)
        _check_start(self)
        for name in self.jdbc:
            _check_jdbc(name)
        for name, value in self.debezium.items():
            _check_debezium(name, value)


def _check_pattern(name: str, value: str) -> None:
    try:
        re.compile(value.reveal() if isinstance(value, Secret) else value)
    except re.error as error:
        raise OptionError(
            f"option '{name}' does not take the value '{value}'",
            detail=f"It is a regular expression, and this is none: {error}.",
            hint="Write a backslash before signs that mean themselves.",
        ) from None


def _check_server_id(text: str) -> None:
    found = _SERVER_ID.fullmatch(text)
    if text and (found is None or not all(0 < int(part) < 2**32 for part in found.groups() if part)):
        raise OptionError(
            f"option 'server-id' does not take the value '{text}'",
            detail="It is a number from 1 to 4294967295 that no replica of the server has, or a range as 5400-5408.",
        )


def _check_zone(text: str) -> None:
    if not text or _OFFSET.fullmatch(text):
        return
    try:
        zoneinfo.ZoneInfo(text)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise OptionError(
            f"option 'server-time-zone' does not take the value '{text}'",
            detail="No zone has this name.",
            hint="Write it as 'Europe/Berlin', 'UTC' or '+02:00'.",
        ) from None


def _check_start(options: MysqlOptions) -> None:
    if options.startup == SPECIFIC and not (options.start_file or options.start_gtids):
        raise OptionError(
            "'scan.startup.mode' = 'specific-offset' needs to know where",
            hint="Add 'scan.startup.specific-offset.file' and '.pos', or '.gtid-set'.",
        )
    if options.startup == TIMESTAMP and options.start_millis is None:
        raise OptionError(
            "'scan.startup.mode' = 'timestamp' needs to know when",
            hint=f"Add 'scan.startup.timestamp-millis' = '{int(datetime.now().timestamp()) * 1000}'.",
        )


def _check_jdbc(name: str) -> None:
    if name not in ("sslMode", "useSSL", "serverTimezone"):
        raise OptionError(
            f"option 'jdbc.properties.{name}' has no meaning here",
            detail="The server is read without Java. sslMode, useSSL and serverTimezone are understood.",
            hint="Remove it.",
        )


def _check_debezium(name: str, value: str) -> None:
    if (name, value) in _INSTEAD:
        raise OptionError(
            f"option 'debezium.{name}' = '{value}' is not used here",
            hint=f"Write {_INSTEAD[name, value]} instead.",
        )
    if name not in _IGNORED and (name, value) != ("snapshot.mode", "initial"):
        raise OptionError(
            f"option 'debezium.{name}' has no meaning here",
            detail="Headwater reads the binary log itself, without Debezium.",
            hint="Remove it.",
        )


def group(options: MysqlOptions) -> str:
    """Tables of one server share one reader and one position."""
    plain = revealed(options)
    where = f"{plain.hostname}:{plain.port}"
    if isinstance(options.hostname, Secret):
        return hashlib.sha256(where.encode()).hexdigest()[:12]
    return where


def origin(options: MysqlOptions) -> str:
    """The tables at the server, and the zone in which their times are read."""
    plain = revealed(options)
    return json.dumps([plain.database, plain.table, plain.zone])


def server_id(tables: Sequence[SourceTable], pipeline: str) -> int:
    """The number under which the server knows this reader: the one the tables name, or one made of a name."""
    named = only(tables, "server-id", lambda options: options.server_id)
    if named:
        return int(named.partition("-")[0])
    mark = hashlib.sha256(f"{pipeline}\0{group(tables[0].options)}".encode()).digest()
    # Numbers that people give by hand are small.
    return 2**31 + int.from_bytes(mark[:4], "big") % 2**30


def check_group(tables: Sequence[SourceTable]) -> None:
    """Tables that share a reader must agree on who reads and from where."""
    only(tables, "username", lambda options: options.username)
    only(tables, "server-id", lambda options: options.server_id)
    if len({table.options.password.reveal() for table in tables}) > 1:
        raise OptionError(
            "tables of one server have different passwords",
            detail=f"They are {', '.join(repr(table.name) for table in tables)}; one connection reads them all.",
            hint="Give them the same 'password'.",
            place=tables[-1].place,
        )
    starts = {_start(table.options) for table in tables}
    if len(starts) > 1 and {mode for mode, *_ in starts} - {INITIAL, LATEST}:
        raise OptionError(
            "tables of one server start in different ways",
            detail="They share one reader; only initial and latest-offset can stand side by side.",
            hint="Give them the same 'scan.startup.mode'.",
            place=tables[-1].place,
        )


def _start(options: MysqlOptions) -> tuple[object, ...]:
    return (
        options.startup,
        options.start_file,
        options.start_position,
        options.start_gtids,
        options.start_millis,
    )


def only(tables: Sequence[SourceTable], name: str, value: Callable[[MysqlOptions], str]) -> str:
    """The value all tables agree on; a table that does not say goes with the others."""
    found = {value(table.options): table for table in tables if value(table.options)}
    if len(found) > 1:
        raise OptionError(
            f"tables of one server have different values of '{name}'",
            detail=", ".join(f"table '{table.name}' has '{text}'" for text, table in found.items())
            + "; they share one reader, so that one position is true for all of them.",
            hint=f"Give them the same '{name}', or none.",
            place=list(found.values())[-1].place,
        )
    return next(iter(found), "")
