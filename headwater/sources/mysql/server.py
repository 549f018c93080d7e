"""What is asked of the server: who it is, where its log stands, what it keeps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pymysql

from headwater.errors import SourceError
from headwater.sources.mysql.places import FIRST, Gtids, Place

OUR_ZONE = "+00:00"
"""The zone of all our sessions, whatever the server's clock shows."""
_NO_SUCH_STATEMENT = 1064
_NEXT = re.compile(r"'([0-9a-f-]{36}(?::[a-z_][a-z0-9_]*)?):(\d+)'")
"""A transaction's name in what the server shows of its beginning."""


@dataclass(frozen=True)
class ServerFacts:
    """What does not change while we read."""

    uuid: str
    """What tells it from other servers."""
    version: str
    is_maria: bool
    has_gtids: bool
    folds_names: bool = False
    """True if names of tables are kept in small letters, however statements write them."""


def facts_of(cursor: Any) -> ServerFacts:
    """Who the server is."""
    cursor.execute("SELECT version()")
    version = str(cursor.fetchone()[0])
    is_maria = "mariadb" in version.lower()
    cursor.execute("SELECT @@global.lower_case_table_names")
    folds = cursor.fetchone()[0] == "1"
    if is_maria:
        # A server of MariaDB has no name of its own but its number and where its data lies.
        cursor.execute("SELECT concat_ws('/', @@global.server_id, @@global.hostname, @@global.datadir)")
        return ServerFacts(
            str(cursor.fetchone()[0]), version, is_maria=True, has_gtids=True, folds_names=folds
        )
    cursor.execute("SELECT @@global.server_uuid, @@global.gtid_mode")
    uuid, mode = cursor.fetchone()
    return ServerFacts(str(uuid), version, is_maria=False, has_gtids=mode == "ON", folds_names=folds)


def account(cursor: Any) -> str:
    """Who is asking, as GRANT takes it."""
    cursor.execute("SELECT current_user()")
    name, _, host = str(cursor.fetchone()[0]).rpartition("@")
    return f"'{name}'@'{host}'"


def variables(cursor: Any, *names: str) -> dict[str, str]:
    """The global variables of these names, as far as the server has them."""
    cursor.execute("SHOW GLOBAL VARIABLES WHERE variable_name IN %s", (names,))
    return {str(name).lower(): str(value) for name, value in cursor.fetchall()}


def end_of_log(cursor: Any) -> tuple[Place, str]:
    """Where the log ends now, and which transactions were executed (MySQL says so)."""
    try:
        cursor.execute("SHOW BINARY LOG STATUS")
    except pymysql.ProgrammingError as error:
        if error.args[0] != _NO_SUCH_STATEMENT:
            raise
        cursor.execute("SHOW MASTER STATUS")
    row = cursor.fetchone()
    if row is None:
        raise SourceError(
            "the server writes no binary log",
            detail="Without one nobody is told what changes.",
            hint="Start it with --log-bin (in MySQL 8 it is the default) and binlog_format = ROW.",
        )
    executed = re.sub(r"\s", "", str(row[4])) if len(row) > 4 and row[4] else ""
    return Place(str(row[0]), int(row[1])), executed


def files_of(cursor: Any) -> dict[str, int]:
    """The files of the log that the server still has, and how long they are."""
    cursor.execute("SHOW BINARY LOGS")
    return {str(row[0]): int(row[1]) for row in cursor.fetchall()}


def gtids_at(cursor: Any, facts: ServerFacts, place: Place, executed: str) -> Gtids:
    """The transactions that stand before a place."""
    if not facts.is_maria:
        return Gtids(executed) if executed else _gtids_before(cursor, place)
    cursor.execute("SELECT binlog_gtid_pos(%s, %s)", (place.file, place.at))
    return Gtids(str(cursor.fetchone()[0] or ""), maria=True)


def _gtids_before(cursor: Any, place: Place) -> Gtids:
    """A file begins with the transactions before it; those in it up to the place are counted up."""
    cursor.execute(f"SHOW BINLOG EVENTS IN %s{' LIMIT 3' if place.at <= FIRST else ''}", (place.file,))
    seen = Gtids()
    for _, at, kind, _, _, said in cursor.fetchall():
        if kind == "Previous_gtids":
            seen = Gtids(said)
        elif str(kind).startswith("Gtid") and int(at) < place.at and (name := _NEXT.search(said)):
            seen.add(name[1], int(name[2]))
    return seen


def purged(cursor: Any, facts: ServerFacts) -> Gtids:
    """The transactions that the server has executed and no longer has in its log; MariaDB does not say."""
    if facts.is_maria:
        return Gtids(maria=True)
    cursor.execute("SELECT @@global.gtid_purged")
    return Gtids(str(cursor.fetchone()[0] or ""))


def zone_of(cursor: Any) -> str:
    """The zone of the server's clock."""
    cursor.execute("SELECT @@global.time_zone, @@global.system_time_zone")
    zone, system = map(str, cursor.fetchone())
    found = system if zone == "SYSTEM" else zone
    return "UTC" if found in ("", "GMT", "UTC", "Z", "+00:00") else found


def moments_at(cursor: Any, times: Sequence[datetime]) -> list[datetime]:
    """The moments at which the server's clock shows these times."""
    cursor.execute("SET time_zone = @@global.time_zone")
    asked = ", ".join(["UNIX_TIMESTAMP(%s)"] * len(times))
    cursor.execute(f"SELECT {asked}", [f"{time:%Y-%m-%d %H:%M:%S}" for time in times])
    seconds = cursor.fetchone()
    cursor.execute(f"SET time_zone = '{OUR_ZONE}'")
    return [datetime.fromtimestamp(int(Decimal(value)), UTC) for value in seconds]
