"""Whether the log and the slot still fit together; if not, the reason, never a gap in silence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from headwater.errors import SourceError
from headwater.log.positions import Position
from headwater.log.shards import declared_name
from headwater.log.store import LogWriter
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureConfig
from headwater.sources.postgres.options import COMMITTED
from headwater.sources.postgres.server import Slot, active_error, number

ANEW = "Remove the state and the slot with 'headwater drop', then start anew: the tables are read again."

GIVEN_UP = "gave up the slot"
"""Under this the manifest remembers why the slot is gone, if it was us who dropped it."""


def check_slot(config: CaptureConfig, log: LogWriter, slot: Slot | None, *, cursor: Any) -> None:
    """The slot is there, is free, and has not moved past what is durable with us."""
    durable = durable_position(log)
    _check_same_server(log, durable, cursor)
    used = log.manifest.recall("slot")
    if durable is not None and used is not None and used != config.slot:
        raise SourceError(
            f"the state was built with slot '{used}', not '{config.slot}'",
            detail="Only the slot itself knows what was read of it.",
            hint=f"Set 'slot.name' = '{used}', or start anew. {ANEW}",
        )
    if slot is None:
        _check_absent(config, durable, log.manifest.recall(GIVEN_UP))
        return
    _check_kind(config, slot)
    if slot.active_pid is not None:
        raise active_error(cursor, slot)
    if slot.lost:
        raise SourceError(
            f"replication slot '{slot.name}' is lost",
            detail="The server has removed the log it needs (max_slot_wal_keep_size).",
            hint=f"{ANEW} Then raise max_slot_wal_keep_size.",
        )
    if durable is not None and slot.confirmed is not None and slot.confirmed > durable:
        raise SourceError(
            f"replication slot '{slot.name}' is ahead of the state",
            detail=f"The slot stands at {_lsn(slot.confirmed)}, the state at {_lsn(durable)}: the server will"
            " not send what lies between.",
            hint=ANEW,
        )


def _check_kind(config: CaptureConfig, slot: Slot) -> None:
    """The slot tells what we read, and only what is committed."""
    if slot.plugin != "pgoutput" or slot.database != config.address.database:
        raise SourceError(
            f"replication slot '{slot.name}' is of another kind",
            detail=f"It is for plugin '{slot.plugin}' and database '{slot.database}'.",
            hint="Give this pipeline another 'slot.name'.",
        )
    if slot.two_phase:
        raise SourceError(
            f"replication slot '{slot.name}' tells of prepared transactions before they are committed",
            detail="It was made with two_phase. A view must not show what may still be rolled back, and the server does"
            " not tell again at the commit what was in the transaction.",
            hint="Give this pipeline another 'slot.name', or make the slot anew without two_phase.",
        )


def check_known(known: Sequence[Pair], log: LogWriter, missing: Sequence[Pair]) -> None:
    """The tables whose rows we have are the same tables still, and their changes were published all the time."""
    check_letters(known, log)
    logged = log.manifest.tables()
    for pair in known:
        name = f"{pair.found.schema}.{pair.found.name}"
        if json.loads(logged[pair.declared.name].origin)[2] != pair.found.oid:
            raise SourceError(
                f"table '{name}' was dropped and made again",
                detail="The rows in the state are those of the table that is gone.",
                hint=ANEW,
                place=pair.declared.place,
            )
        if pair in missing:
            raise SourceError(
                f"table '{name}' is no longer published",
                detail="It was taken out of the publication, or that was dropped; changes made since are lost.",
                hint=ANEW,
                place=pair.declared.place,
            )


def check_letters(known: Sequence[Pair], log: LogWriter) -> None:
    """A table that was read without rows that do not fit cannot go on as one that has all rows."""
    for pair in known:
        if not pair.declared.parks and log.has_letters(pair.declared.name):
            raise SourceError(
                f"rows of table '{pair.declared.shown}' were put aside, and 'errors' is 'stop' now",
                detail="The table has only the rows that fit; the others are in headwater.dead_letters, and are not told"
                " again.",
                hint="Set 'errors' = 'dead-letter' again, or let the table be read again (headwater resnapshot"
                f" {declared_name(pair.declared.name)}).",
                place=pair.declared.place,
            )


def durable_position(log: LogWriter) -> int | None:
    """What is durable with us, after which the stream has news; None if no table is in the log yet."""
    if log.last is not None:
        return log.last
    starts = [t.snapshot for t in log.manifest.tables().values() if t.snapshot is not None]
    start = log.manifest.number("start")
    found = [*starts, *([] if start is None else [start])]
    return min(found) if found else None


def _check_same_server(log: LogWriter, durable: int | None, cursor: Any) -> None:
    if durable is None:
        return
    cursor.execute(
        "SELECT system_identifier::text, pg_current_wal_insert_lsn()::text FROM pg_control_system()"
    )
    system, position = cursor.fetchone()
    known = log.manifest.recall("system")
    if known is not None and known != system:
        raise SourceError(
            "this is not the server the state was built from",
            detail=f"Its system identifier is {system}, the state's is {known}.",
            hint=f"Check 'hostname' and 'port'. If the server was set up again: {ANEW}",
        )
    if number(position) < durable:
        raise SourceError(
            "the server is behind the state",
            detail=f"The server stands at {position}, the state at {_lsn(durable)}: it was restored to an"
            " older moment.",
            hint=ANEW,
        )


def _check_absent(config: CaptureConfig, durable: int | None, given_up: str | None) -> None:
    if durable is not None:
        why = f" It was dropped by the limit on what the server keeps: {given_up}" if given_up else ""
        raise SourceError(
            f"replication slot '{config.slot}' is gone",
            detail=f"The state stands at {_lsn(durable)}; what was committed since cannot be read any more.{why}",
            hint=ANEW,
        )
    if config.startup == COMMITTED:
        raise SourceError(
            f"there is no replication slot '{config.slot}' to go on from",
            detail="'scan.startup.mode' = 'committed-offset' starts where a slot stands.",
            hint=f"SELECT pg_create_logical_replication_slot('{config.slot}', 'pgoutput');",
        )


def _lsn(value: int | None) -> str:
    return "nothing" if value is None else str(Position(value, "lsn"))
