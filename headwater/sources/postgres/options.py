"""The options of `'connector' = 'postgres-cdc'`, named and meant as Flink does."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

from headwater.errors import OptionError
from headwater.options import Duration, Secret, Size, option, revealed
from headwater.postgres_tls import MODES
from headwater.sources.dead_letters import DEAD_LETTER, STOP, parks
from headwater.sources.postgres.patterns import check_pattern, literal
from headwater.sources.postgres.tls import NAMES, THEIRS, Tls, with_debezium

INITIAL, LATEST, COMMITTED, SNAPSHOT = "initial", "latest-offset", "committed-offset", "snapshot"

OWN_PREFIX = "headwater"
"""The prefix of our own messages, which move the position of a database in which nothing happens."""

WARN, DROP_SLOT = "warn", "drop-slot"

_HEARTBEAT = "heartbeat.interval.ms"

_SLOT = re.compile(r"[a-z0-9_]{1,63}")

_IGNORED = {
    # Debezium option: the values that ask for what happens here anyway (none listed: any)
    "plugin.name": ("pgoutput",),
    "snapshot.mode": ("initial",),
    "publication.autocreate.mode": ("filtered",),
    "slot.drop.on.stop": ("false",),
    "decimal.handling.mode": (),
}

_MEANT = ("slot.name", "publication.name", _HEARTBEAT, *(THEIRS + name for name in NAMES))
"""Options of Debezium that do something here."""

_INSTEAD = {
    ("snapshot.mode", "never"): "'scan.startup.mode' = 'latest-offset'",
    ("snapshot.mode", "no_data"): "'scan.startup.mode' = 'latest-offset'",
    ("snapshot.mode", "initial_only"): "'scan.startup.mode' = 'snapshot'",
}


@dataclass(frozen=True)
class PostgresOptions:
    """How a table of a Postgres database is found and read."""

    hostname: str = option("hostname", "the host the server runs on")
    username: str = option("username", "the role to connect as; it needs REPLICATION and SELECT")
    password: Secret = option("password", "the password of the role")
    database: str = option("database-name", "the database")
    table: str = option(
        "table-name",
        "the table, or a pattern: the rows of all tables that match are rows of this one; it or messages.prefix is"
        " needed",
        default="",
    )
    messages: str = option(
        "messages.prefix",
        "instead of a table: the prefixes of the application's messages (pg_logical_emit_message) that are its"
        " rows, separated by commas; * stands for any letters",
        default="",
    )
    port: int = option("port", "the port the server listens on", default=5432)
    schema: str = option("schema-name", "the schema the table stands in, or a pattern", default="public")
    slot: str = option(
        "slot.name",
        "the replication slot; without it a stable name is made from the pipeline's name and the database",
        default="",
    )
    plugin: str = option(
        "decoding.plugin.name",
        "how the server writes its log; only pgoutput, which every Postgres has",
        default="pgoutput",
        choices=("pgoutput",),
    )
    startup: str = option(
        "scan.startup.mode",
        "initial: all rows, then the changes; latest-offset: only changes from now on; committed-offset: from"
        " where the slot stands; snapshot: all rows, no changes",
        default=INITIAL,
        choices=(INITIAL, LATEST, COMMITTED, SNAPSHOT),
    )
    errors: str = option(
        "errors",
        "what a row does of which a value does not fit its declared type: `stop`, or go to table headwater.dead_letters",
        default=STOP,
        choices=(STOP, DEAD_LETTER),
    )
    heartbeat: Duration | None = option(
        "heartbeat.interval.ms",
        "how often a message of our own moves the position of a database in which nothing else happens; without it,"
        " or with 0, only when the server's log has grown by a megabyte",
        default=None,
    )
    retained_max: Size | None = option(
        "wal.retained.max",
        "how much of its log the server may keep for the slot, as 10gb; without it there is no limit",
        default=None,
    )
    retained_action: str = option(
        "wal.retained.action",
        "what to do when it keeps more: warn, which is the default, or drop-slot: give up the slot, so that the"
        " server lives, and stop",
        default="",
        choices=(WARN, DROP_SLOT),
    )
    sslmode: str = option(
        "sslmode",
        "disable, allow, prefer, require, verify-ca or verify-full: whether the connection is encrypted, and how the"
        " server is checked; without it it is encrypted if the server can (prefer)",
        default="",
        choices=MODES,
    )
    sslrootcert: str = option(
        "sslrootcert",
        "a PEM file of the authorities that may have signed the server's certificate",
        default="",
    )
    sslcert: str = option("sslcert", "a PEM file with the certificate that the server is shown", default="")
    sslkey: str = option("sslkey", "the file with its private key, readable by nobody else", default="")
    sslpassword: Secret = option("sslpassword", "the password of that file", default=Secret())
    debezium: dict[str, str] = option(
        "debezium.", "options of Debezium that have a meaning here; others are refused by name", prefix=True
    )

    def __post_init__(self) -> None:
        _check_what(self)
        check_pattern("schema-name", self.schema)
        check_pattern("table-name", self.table)
        for name, value in self.debezium.items():
            _check_debezium(name, value)
        heartbeat_of(self)
        tls_of(self)
        if not 0 < self.port < 65536:
            raise OptionError(
                f"option 'port' does not take the value '{self.port}'", detail="It takes 1 to 65535."
            )
        given = self.slot or self.debezium.get("slot.name", "")
        if given and not _SLOT.fullmatch(given):
            raise OptionError(
                f"option 'slot.name' does not take the value '{given}'",
                detail="A slot's name has 1 to 63 lower-case letters, digits and underscores.",
                hint=""
                if isinstance(given, Secret)
                else f"Use '{re.sub('[^a-z0-9_]', '_', given.lower())[:63]}'.",
            )


def _check_what(options: PostgresOptions) -> None:
    """It reads a table or messages."""
    prefixes = prefixes_of(options)
    if not options.table and not options.messages:
        raise OptionError(
            "connector 'postgres-cdc' needs option 'table-name'",
            hint="Add 'table-name' = '...' to the WITH clause, or 'messages.prefix' = '...' for the messages of"
            " pg_logical_emit_message.",
        )
    if not options.messages:
        return
    if options.table:
        raise OptionError(
            "option 'messages.prefix' cannot stand beside 'table-name'",
            detail="A table reads the rows of one table or the application's messages.",
            hint="Declare two tables: they share one slot and one position.",
        )
    if not prefixes or OWN_PREFIX in prefixes:
        raise OptionError(
            "option 'messages.prefix' does not take this value",
            detail="It names at least one prefix."
            if not prefixes
            else f"Messages of prefix '{OWN_PREFIX}' are Headwater's own; no table reads them.",
            hint="Use the first argument after 'transactional' of your pg_logical_emit_message.",
        )
    if parks(options):
        raise OptionError(
            "option 'errors' = 'dead-letter' has no meaning for messages",
            detail="All of a message fits but for content that is no UTF-8, and that is BYTES.",
            hint="Remove 'errors', and declare content as BYTES.",
        )
    if options.startup == SNAPSHOT:
        raise OptionError(
            "option 'scan.startup.mode' = 'snapshot' has no meaning for messages",
            detail="A message stands in the log only: there are no first rows.",
            hint="Remove 'scan.startup.mode'.",
        )


def prefixes_of(options: PostgresOptions) -> tuple[str, ...]:
    """The prefixes of a table of messages; none for other tables.

    >>> prefixes_of(options)        # 'messages.prefix' = 'orders, audit*'
    ('orders', 'audit*')
    """
    plain = options.messages.reveal() if isinstance(options.messages, Secret) else options.messages
    return tuple(part.strip() for part in plain.split(",") if part.strip())


def heartbeat_of(options: PostgresOptions) -> float:
    """How many seconds pass between messages of our own; 0 if that is not said."""
    own, given = options.heartbeat, options.debezium.get(_HEARTBEAT)
    try:
        theirs = None if given is None else Duration.of(given)
    except ValueError:
        raise OptionError(
            f"option 'debezium.{_HEARTBEAT}' does not take the value '{given}'",
            detail="It takes a number of milliseconds.",
        ) from None
    if own is not None and theirs is not None and own != theirs:
        raise OptionError(
            f"options '{_HEARTBEAT}' and 'debezium.{_HEARTBEAT}' contradict each other",
            detail=f"They are {own:g} and {theirs:g} seconds.",
            hint=f"Keep '{_HEARTBEAT}'.",
        )
    return float(own or theirs or 0.0)


def tls_of(options: PostgresOptions) -> Tls:
    """How the connections of a table are encrypted."""
    own = Tls(options.sslmode, options.sslrootcert, options.sslcert, options.sslkey, options.sslpassword)
    return with_debezium(own, options.debezium)


def _check_debezium(name: str, value: str) -> None:
    if name in _MEANT:
        return
    if (name, value) in _INSTEAD:
        raise OptionError(
            f"option 'debezium.{name}' = '{value}' is not used here",
            hint=f"Write {_INSTEAD[name, value]} instead.",
        )
    if name not in _IGNORED:
        known = ", ".join(f"debezium.{n}" for n in (*_MEANT, *_IGNORED))
        raise OptionError(
            f"option 'debezium.{name}' has no meaning here",
            detail=f"Headwater reads the log itself, without Debezium. It understands {known}.",
            hint="Remove it.",
        )
    if _IGNORED[name] and value not in _IGNORED[name]:
        raise OptionError(
            f"option 'debezium.{name}' does not take the value '{value}' here",
            detail=f"It takes {', '.join(_IGNORED[name])}.",
            hint="Remove it.",
        )


def group(options: PostgresOptions) -> str:
    """Tables of one database share one slot, one publication and one position."""
    plain = revealed(options)
    where = f"{plain.hostname}:{plain.port}/{plain.database}"
    if any(isinstance(part, Secret) for part in (options.hostname, options.database)):
        return hashlib.sha256(where.encode()).hexdigest()[:12]
    return where


def origin(options: PostgresOptions) -> str:
    """The table at the server, or the messages; who reads it, and how, changes nothing of its rows."""
    plain = revealed(options)
    if plain.messages:
        return json.dumps([None, *prefixes_of(plain)])
    # A name that is a pattern now may have been read as a name before.
    return json.dumps([plain.schema, plain.table, *(["pattern"] if is_pattern(plain) else [])])


def is_pattern(options: PostgresOptions) -> bool:
    """True if several tables may be meant."""
    return literal(options.schema) is None or literal(options.table) is None
