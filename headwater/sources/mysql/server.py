"""What is asked of the server: who it is, where its log stands, what it keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pymysql

from headwater.errors import SourceError
from headwater.sources.mysql.places import Gtids, Place

_NO_SUCH_STATEMENT = 1064


@dataclass(frozen=True)
class ServerFacts:
    """What does not change while we read."""

    uuid: str
    """What tells it from other servers."""
    version: str
    is_maria: bool
    has_gtids: bool


def facts_of(cursor: Any) -> ServerFacts:
    """Who the server is."""
    cursor.execute("SELECT version()")
    version = str(cursor.fetchone()[0])
    is_maria = "mariadb" in version.lower()
    if is_maria:
        # A server of MariaDB has no name of its own but its number and where its data lies.
        cursor.execute("SELECT concat_ws('/', @@global.server_id, @@global.hostname, @@global.datadir)")
        return ServerFacts(str(cursor.fetchone()[0]), version, is_maria=True, has_gtids=True)
    cursor.execute("SELECT @@global.server_uuid, @@global.gtid_mode")
    uuid, mode = cursor.fetchone()
    return ServerFacts(str(uuid), version, is_maria=False, has_gtids=mode == "ON")


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
        return Gtids(executed)
    cursor.execute("SELECT binlog_gtid_pos(%s, %s)", (place.file, place.at))
    return Gtids(str(cursor.fetchone()[0] or ""), maria=True)


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
