"""The options of `'connector' = 'postgres-cdc'`, named and meant as Flink does."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headwater.errors import OptionError
from headwater.options import Secret, option, revealed
from headwater.sources.base import SourceTable

INITIAL, LATEST, COMMITTED, SNAPSHOT = "initial", "latest-offset", "committed-offset", "snapshot"

OWN_PREFIX = "headwater"
"""The prefix of our own messages, which move the position of a database in which nothing happens."""

_SLOT = re.compile(r"[a-z0-9_]{1,63}")

_IGNORED = {
    # Debezium option: the values that ask for what happens here anyway (none listed: any)
    "plugin.name": ("pgoutput",),
    "snapshot.mode": ("initial",),
    "publication.autocreate.mode": ("filtered",),
    "slot.drop.on.stop": ("false",),
    "decimal.handling.mode": (),
    "heartbeat.interval.ms": (),
}

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
    table: str = option("table-name", "the table; it or messages.prefix is needed", default="")
    messages: str = option(
        "messages.prefix",
        "instead of a table: the prefixes of the application's messages (pg_logical_emit_message) that are its"
        " rows, separated by commas; * stands for any letters",
        default="",
    )
    port: int = option("port", "the port the server listens on", default=5432)
    schema: str = option("schema-name", "the schema the table stands in", default="public")
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
    debezium: dict[str, str] = option(
        "debezium.", "options of Debezium that have a meaning here; others are refused by name", prefix=True
    )

    def __post_init__(self) -> None:
        _check_what(self)
        for name, value in self.debezium.items():
            _check_debezium(name, value)
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


def _check_debezium(name: str, value: str) -> None:
    if name in ("slot.name", "publication.name"):
        return
    if (name, value) in _INSTEAD:
        raise OptionError(
            f"option 'debezium.{name}' = '{value}' is not used here",
            hint=f"Write {_INSTEAD[name, value]} instead.",
        )
    if name not in _IGNORED:
        known = ", ".join(f"debezium.{n}" for n in ("slot.name", "publication.name", *_IGNORED))
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
    return json.dumps([plain.schema, plain.table])


def slot_name(tables: Sequence[SourceTable], pipeline: str) -> str:
    """The one slot of all tables of a database: the one they name, or one made from the pipeline's name.

    >>> slot_name(tables, "claims")
    'headwater_claims_5ab1d9e0'
    """
    named = _only(tables, "slot.name", lambda o: o.slot or o.debezium.get("slot.name", ""))
    if named:
        return named
    options: PostgresOptions = tables[0].options
    mark = hashlib.sha256(f"{pipeline}\0{group(options)}".encode()).hexdigest()[:8]
    readable = re.sub("[^a-z0-9_]", "_", pipeline.lower())[: 63 - len("headwater__") - len(mark)]
    return f"headwater_{readable}_{mark}"


def publication_name(tables: Sequence[SourceTable], pipeline: str) -> str:
    """The one publication of all tables of a database; called like the slot unless they say otherwise."""
    named = _only(tables, "debezium.publication.name", lambda o: o.debezium.get("publication.name", ""))
    return named or slot_name(tables, pipeline)


def check_group(tables: Sequence[SourceTable]) -> None:
    """Tables that share a slot must agree on who reads it and from where."""
    _only(tables, "username", lambda o: o.username)
    passwords = {table.options.password.reveal() for table in tables}
    if len(passwords) > 1:
        raise OptionError(
            "tables of one database have different passwords",
            detail=f"They are {_names(tables)}; one connection reads them all.",
            hint="Give them the same 'password'.",
            place=tables[-1].place,
        )
    modes = {table.options.startup for table in tables}
    if len(modes) > 1 and modes & {COMMITTED, SNAPSHOT}:
        raise OptionError(
            "tables of one database start in different ways",
            detail=f"'scan.startup.mode' is {', '.join(sorted(modes))} among {_names(tables)}; they share one"
            " slot, so committed-offset and snapshot are for all of them or for none.",
            hint="Give them the same 'scan.startup.mode'.",
            place=tables[-1].place,
        )


def _only(tables: Sequence[SourceTable], name: str, value: Callable[[PostgresOptions], str]) -> str:
    """The value all tables agree on; a table that does not say goes with the others."""
    found = {value(table.options): table for table in tables if value(table.options)}
    if len(found) > 1:
        last = list(found.values())[-1]
        raise OptionError(
            f"tables of one database have different values of '{name}'",
            detail=", ".join(f"table '{table.name}' has '{text}'" for text, table in found.items())
            + "; they share one slot, so that one position is true for all of them.",
            hint=f"Give them the same '{name}', or none.",
            place=last.place,
        )
    return next(iter(found), "")


def _names(tables: Sequence[SourceTable]) -> str:
    return ", ".join(f"'{table.name}'" for table in tables)
