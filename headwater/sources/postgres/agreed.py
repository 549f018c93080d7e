"""What the tables of one database agree on: they share one slot, one publication, one position."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from headwater.errors import OptionError
from headwater.options import size_text
from headwater.sources.base import SourceTable
from headwater.sources.postgres.options import (
    COMMITTED,
    DROP_SLOT,
    SNAPSHOT,
    PostgresOptions,
    group,
    heartbeat_of,
    tls_of,
)
from headwater.sources.postgres.tls import NAMES

T = TypeVar("T")


@dataclass(frozen=True)
class Care:
    """What is done so that a server does not suffer from being read."""

    heartbeat: float = 0.0
    """So many seconds without a commit, and we make one; 0: only when the server's log grows."""
    most: int | None = None
    """So many bytes of its log the server may keep for the slot."""
    drops: bool = False
    """True if the slot is given up when it keeps more; else that is only told."""


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
    care_of(tables)
    passwords = {table.options.password.reveal() for table in tables}
    if len(passwords) > 1:
        raise OptionError(
            "tables of one database have different passwords",
            detail=f"They are {_names(tables)}; one connection reads them all.",
            hint="Give them the same 'password'.",
            place=tables[-1].place,
        )
    if len({tls_of(table.options) for table in tables}) > 1:
        raise OptionError(
            "tables of one database want different connections",
            detail=f"They are {_names(tables)}; one connection reads them all.",
            hint=f"Give them the same {', '.join(NAMES)}, or none.",
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


def care_of(tables: Sequence[SourceTable]) -> Care:
    """How the one slot of all tables of a database is cared for."""
    heartbeat = _only(tables, "heartbeat.interval.ms", heartbeat_of, lambda seconds: f"{seconds:g} s")
    most = _only(tables, "wal.retained.max", lambda o: o.retained_max or 0, size_text)
    action = _only(tables, "wal.retained.action", lambda o: o.retained_action)
    if action == DROP_SLOT and not most:
        raise OptionError(
            "option 'wal.retained.action' = 'drop-slot' needs 'wal.retained.max'",
            detail="It says when the slot is given up.",
            hint="Add 'wal.retained.max' = '10gb', or as much as the server's disk can spare.",
            place=next((t.place for t in tables if t.options.retained_action == DROP_SLOT), None),
        )
    return Care(heartbeat or 0.0, most, action == DROP_SLOT)


def _only(
    tables: Sequence[SourceTable],
    name: str,
    value: Callable[[PostgresOptions], T],
    shown: Callable[[T], str] = str,
) -> T | None:
    """The value all tables agree on; a table that does not say goes with the others."""
    found = {value(table.options): table for table in tables if value(table.options)}
    if len(found) > 1:
        last = list(found.values())[-1]
        raise OptionError(
            f"tables of one database have different values of '{name}'",
            detail=", ".join(f"table '{table.name}' has '{shown(said)}'" for said, table in found.items())
            + "; they share one slot, so that one position is true for all of them.",
            hint=f"Give them the same '{name}', or none.",
            place=last.place,
        )
    return next(iter(found), None)


def _names(tables: Sequence[SourceTable]) -> str:
    return ", ".join(f"'{table.name}'" for table in tables)
