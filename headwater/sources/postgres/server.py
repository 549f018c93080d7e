"""What is made at the server for a pipeline: one slot and one publication."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg2 import sql

from headwater.errors import SourceError
from headwater.sources.base import Report
from headwater.sources.postgres.catalog import ServerTable
from headwater.sources.postgres.connect import Address, session
from headwater.sources.postgres.options import OWN_PREFIX

EMIT = "SELECT pg_logical_emit_message(true, %s, %s)"
"""A transaction that changes nothing: it moves the position of a database in which nothing happens."""


ACTIVE_SECONDS = 2.0
"""So long somebody else's slot is waited for."""

ACTIVE_SECONDS_OURS = 15.0
"""So long our own is, beyond the time after which the server gives up a reader that it does not hear of."""

SENT_AWAY_SECONDS = 10.0
"""So long somebody who is sent away may take to go."""

TOLD_SECONDS = 1.0
"""Whoever waits longer for a slot says for whom."""


@dataclass(frozen=True)
class Slot:
    """A replication slot as it stands; positions are numbers."""

    name: str
    plugin: str
    database: str
    confirmed: int | None
    active_pid: int | None
    lost: bool
    two_phase: bool = False
    """True if what is prepared is sent before anybody knows whether it will be committed."""


@dataclass(frozen=True)
class Publication:
    """A publication as it stands."""

    all_tables: bool
    tables: frozenset[tuple[str, str]]
    complete: bool
    """True if it publishes inserts, updates, deletes and truncates."""
    via_root: bool
    owned: bool
    filtered: frozenset[tuple[str, str]]
    """Tables of which it publishes only some rows or columns."""

    def has(self, table: ServerTable) -> bool:
        """True if changes of the table are published."""
        return (table.schema, table.name) in self.tables


def number(lsn: str) -> int:
    """A place in the server's log as a number: `number("0/16B3748")` is 23803720."""
    high, low = lsn.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def find_slot(cursor: Any, name: str) -> Slot | None:
    """The slot of that name, in whichever database."""
    cursor.execute(
        "SELECT slot_name, plugin, database, confirmed_flush_lsn::text, active_pid, wal_status = 'lost',"
        " two_phase FROM pg_replication_slots WHERE slot_name = %s",
        (name,),
    )
    row = cursor.fetchone()
    if row is None:
        return None
    slot, plugin, database, confirmed, active, lost, two_phase = row
    place = number(confirmed) if confirmed else None
    return Slot(slot, plugin, database, place, active, bool(lost), two_phase)


def patience(cursor: Any, *, is_ours: bool) -> float:
    """How many seconds to wait for a slot to become free.

    A machine that died said no goodbye: the server counts its connection as alive for `wal_sender_timeout`. So a slot
    that is ours, as the state or a capture that died knows it, is worth waiting for; another one is somebody else's.
    """
    if not is_ours:
        return ACTIVE_SECONDS
    cursor.execute("SELECT setting::int / 1000.0 FROM pg_settings WHERE name = 'wal_sender_timeout'")
    ((timeout,),) = cursor.fetchall()
    return float(timeout) + ACTIVE_SECONDS_OURS


def free_slot(cursor: Any, name: str, tell: Callable[[Report], None], *, is_ours: bool) -> Slot | None:
    """The slot once nobody reads it, or as it is if somebody does for too long.

    A capture that died with its machine may have left something on its way that is never acknowledged. The server then
    keeps its connection for a quarter of an hour. We say something every few seconds: who did not for so long is dead.
    """
    seconds = patience(cursor, is_ours=is_ours)
    slot = wait_inactive(cursor, name, seconds, tell)
    if slot is None or slot.active_pid is None or not is_ours:
        return slot
    cursor.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_replication WHERE pid = %s AND usename = current_user"
        " AND coalesce(reply_time, backend_start) < clock_timestamp() - make_interval(secs => %s)",
        (slot.active_pid, seconds),
    )
    if cursor.fetchone() is None:
        return slot
    tell(Report("waiting", f"whoever had replication slot '{name}' was silent for too long and is sent away"))
    return wait_inactive(cursor, name, SENT_AWAY_SECONDS, tell)


def wait_inactive(
    cursor: Any, name: str, seconds: float, tell: Callable[[Report], None] = lambda report: None
) -> Slot | None:
    """The slot once nobody reads it: the server may take a moment to notice that a reader died."""
    begun, told = time.monotonic(), False
    while True:
        slot = find_slot(cursor, name)
        waited = time.monotonic() - begun
        if slot is None or slot.active_pid is None:
            if told:
                tell(Report("waiting", f"replication slot '{name}' is free; going on"))
            return slot
        # Also if a machine that stood still has let the whole time pass at once.
        if waited > TOLD_SECONDS and not told:
            told = True
            by_whom = f"replication slot '{name}' is in use: {_reader(cursor, slot)}"
            tell(Report("waiting", f"{by_whom}; going on when it is free"))
        if waited > seconds:
            return slot
        time.sleep(0.1)


def active_error(cursor: Any, slot: Slot) -> SourceError:
    """Two want one slot."""
    return SourceError(
        f"replication slot '{slot.name}' is in use",
        detail=f"{_reader(cursor, slot)}.",
        hint="Two pipelines want one slot: stop the other one, or give this one a 'slot.name' of its own.",
    )


def _reader(cursor: Any, slot: Slot) -> str:
    """Who reads a slot: `'headwater shop' of role 'reader' from 10.0.0.7 reads it (server process 4711)`."""
    cursor.execute(
        # What a role may not see of the others' connections is NULL; a socket of the machine has the port -1.
        "SELECT coalesce(application_name, ''), coalesce(usename, 'unknown'), CASE"
        " WHEN client_addr IS NOT NULL THEN host(client_addr)"
        " WHEN client_port = -1 THEN 'the same machine' ELSE 'an address that is not shown' END"
        " FROM pg_stat_activity WHERE pid = %s",
        (slot.active_pid,),
    )
    who, role, where = cursor.fetchone() or ("", "unknown", "an address that is not known")
    named = f"'{who}'" if who else "a program without a name"
    return f"{named} of role '{role}' from {where} reads it (server process {slot.active_pid})"


def create_slot(replication: Any, name: str, *, temporary: bool) -> tuple[int, str]:
    """Make a slot; the position it starts at and the name of the snapshot of exactly that moment.

    The snapshot lives as long as nothing else is asked on this connection.
    """
    command = sql.SQL("CREATE_REPLICATION_SLOT {name} {temporary} LOGICAL pgoutput EXPORT_SNAPSHOT").format(
        name=sql.Identifier(name), temporary=sql.SQL("TEMPORARY" if temporary else "")
    )
    with replication.cursor() as cursor:
        cursor.execute(command)
        _, position, snapshot, _ = cursor.fetchone()
    return number(position), snapshot


def drop_slot(cursor: Any, name: str) -> None:
    """Drop a slot; whoever still reads it is sent away first."""
    cursor.execute(
        "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
        " WHERE slot_name = %s AND active_pid IS NOT NULL",
        (name,),
    )
    slot = wait_inactive(cursor, name, SENT_AWAY_SECONDS)
    if slot is None:
        return
    if slot.active_pid is not None:
        raise active_error(cursor, slot)
    cursor.execute("SELECT pg_drop_replication_slot(%s)", (name,))


def find_publication(cursor: Any, name: str) -> Publication | None:
    """The publication of that name in this database."""
    cursor.execute(
        "SELECT puballtables, pubinsert AND pubupdate AND pubdelete AND pubtruncate, pubviaroot,"
        " pg_has_role(pubowner, 'MEMBER') FROM pg_publication WHERE pubname = %s",
        (name,),
    )
    row = cursor.fetchone()
    if row is None:
        return None
    everything, complete, via_root, owned = row
    cursor.execute(
        # Row filters and column lists exist from Postgres 15 on; as JSON they may also be absent.
        "SELECT p.schemaname, p.tablename, EXISTS (SELECT FROM pg_publication_rel r"
        " JOIN pg_publication b ON b.oid = r.prpubid WHERE b.pubname = p.pubname"
        " AND r.prrelid = format('%%I.%%I', p.schemaname, p.tablename)::regclass"
        " AND coalesce(to_jsonb(r) ->> 'prqual', to_jsonb(r) ->> 'prattrs') IS NOT NULL)"
        " FROM pg_publication_tables p WHERE p.pubname = %s",
        (name,),
    )
    rows = cursor.fetchall()
    return Publication(
        everything,
        frozenset((schema, table) for schema, table, _ in rows),
        complete,
        via_root,
        owned,
        frozenset((schema, table) for schema, table, some in rows if some),
    )


def create_publication(cursor: Any, name: str, tables: Sequence[ServerTable]) -> None:
    """Publish tables; partitions under the name of their table. Messages need an empty publication."""
    listed = sql.SQL("FOR TABLE {}").format(_listed(tables)) if tables else sql.SQL("")
    cursor.execute(
        sql.SQL("CREATE PUBLICATION {} {} WITH (publish_via_partition_root = true)").format(
            sql.Identifier(name), listed
        )
    )


def extend_publication(cursor: Any, name: str, tables: Sequence[ServerTable]) -> None:
    """Publish further tables."""
    cursor.execute(sql.SQL("ALTER PUBLICATION {} ADD TABLE {}").format(sql.Identifier(name), _listed(tables)))


def shrink_publication(cursor: Any, name: str, tables: Sequence[ServerTable]) -> None:
    """No longer publish tables."""
    cursor.execute(
        sql.SQL("ALTER PUBLICATION {} DROP TABLE {}").format(sql.Identifier(name), _listed(tables))
    )


def drop_publication(cursor: Any, name: str) -> None:
    """Drop a publication; harmless when there is none."""
    cursor.execute(sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(name)))


def emit(address: Address, content: str = "") -> int:
    """Commit a transaction that changes nothing; a position before its end."""
    with session(address) as cursor:
        cursor.execute("SET synchronous_commit = local")
        cursor.execute(EMIT, (OWN_PREFIX, content))
        return number(cursor.fetchone()[0])


def relation(table: ServerTable) -> sql.Composable:
    """A table's name in SQL; ONLY keeps the children of an inheritance out, partitions belong to it."""
    name = sql.Identifier(table.schema, table.name)
    return name if table.kind == "p" else sql.SQL("ONLY {}").format(name)


def _listed(tables: Sequence[ServerTable]) -> sql.Composable:
    distinct = {table.oid: table for table in tables}
    return sql.SQL(", ").join(relation(table) for table in distinct.values())
