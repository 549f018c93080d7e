"""What must hold before anything is read; each check is one error with a hint."""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

from headwater.errors import SourceError
from headwater.log.text_values import can_read
from headwater.nearest import nearest_hint
from headwater.sources.mysql.catalog import ServerTable
from headwater.sources.mysql.config import CaptureTable
from headwater.sources.mysql.options import REFUSE, SNAPSHOT
from headwater.sources.mysql.server import account, moments_at, variables
from headwater.sources.mysql.types import family, spark_type, unread

METADATA = {"database_name": "string", "table_name": "string"}
"""What METADATA columns can be taken from, and the type of each."""

_WANTED = {
    "binlog_format": ("ROW", "SET GLOBAL binlog_format = 'ROW'; sessions that are open keep their own."),
    "binlog_row_image": (
        "FULL",
        "SET GLOBAL binlog_row_image = 'FULL'; sessions that are open keep their own.",
    ),
    "binlog_row_value_options": ("", "SET GLOBAL binlog_row_value_options = '';"),
}


@dataclass(frozen=True)
class Pair:
    """A declared table and one of the tables of the server whose rows it has."""

    declared: CaptureTable
    found: ServerTable
    zone: str
    doubt: str = ""
    """Why the zone cannot be that of the server's clock."""


def check_server(cursor: Any) -> None:
    """The server writes a log we can read, and the user may read it."""
    found = variables(cursor, "log_bin", *_WANTED)
    if found.get("log_bin", "ON").upper() not in ("ON", "1"):
        raise SourceError(
            "the server writes no binary log",
            detail="Its log_bin is off: nobody is told what changes.",
            hint="Start it with --log-bin (in MySQL 8 it is the default) and binlog_format = ROW.",
        )
    for name, (wanted, hint) in _WANTED.items():
        value = found.get(name, wanted)
        if value.upper() != wanted:
            raise SourceError(
                f"the binary log of the server is written with {name} = '{value}'",
                detail=f"What changes can only be followed with '{wanted}'.",
                hint=hint,
            )
    _check_grants(cursor)


def _check_grants(cursor: Any) -> None:
    cursor.execute("SHOW GRANTS")
    said = " ".join(str(row[0]).upper() for row in cursor.fetchall() if "ON *.*" in str(row[0]).upper())
    # MariaDB has other names for the same from 10.5 on.
    slave = ("REPLICATION SLAVE", "REPLICATION REPLICA", "ALL PRIVILEGES")
    client = ("REPLICATION CLIENT", "BINLOG MONITOR", "ALL PRIVILEGES", "SUPER")
    if any(word in said for word in slave) and any(word in said for word in client):
        return
    # What comes through a role is not shown; then the server itself decides.
    user = account(cursor)
    if "`@`" in said and "GRANT `" in said:
        return
    raise SourceError(
        f"user {user} may not read the binary log",
        detail="It lacks REPLICATION SLAVE or REPLICATION CLIENT.",
        hint=f"GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {user};",
    )


def check_table(pair: Pair) -> None:
    """The table can be read as declared."""
    found, declared = pair.found, pair.declared
    if found.is_view:
        raise SourceError(
            f"'{found.shown}' is a view",
            detail="The log has only the changes of tables.",
            hint="Declare the tables it reads, and make it a view in Headwater.",
            place=declared.place,
        )
    if found.cascades and declared.cascades == REFUSE and declared.startup != SNAPSHOT:
        raise SourceError(
            f"not every change of table '{found.shown}' is in the binary log",
            detail=f"It has {'; '.join(found.cascades)}: InnoDB changes such rows without telling the log.",
            hint="Make the foreign key RESTRICT and let the application change these rows, or, if nobody changes or"
            " deletes the rows it refers to, set 'foreign-key.cascades' = 'accept'.",
            place=declared.place,
        )
    for column in declared.schema:
        if column.name in declared.metadata:
            continue
        _check_column(pair, column.name, column.type)


def _check_column(pair: Pair, name: str, kind: str) -> None:
    found, declared = pair.found, pair.declared
    column = found.column(name)
    if column is None:
        names = [c.name for c in found.columns]
        raise SourceError(
            f"table '{found.shown}' has no column '{name}'",
            detail=f"Its columns are {', '.join(names)}.",
            hint=nearest_hint(name, names, "columns"),
            place=declared.place,
        )
    why = unread(column)
    if why is not None:
        raise SourceError(
            f"column '{column.name}' of table '{found.shown}' is {column.shown}, which cannot be read",
            detail=why,
            hint="Leave the column out.",
            place=declared.place,
        )
    if not can_read(family(column, "UTC"), kind):
        natural = spark_type(column)
        raise SourceError(
            f"column '{column.name}' of table '{found.shown}' cannot be read as {kind}",
            detail=f"At the server it is {column.shown}.",
            hint=f"Declare it as {natural.upper()}"
            + ("." if natural == "string" else " or STRING, and cast it in a view."),
            place=declared.place,
        )
    # A moment is the same everywhere, and what a clock showed needs no zone to be repeated.
    if (column.kind == "timestamp" and kind != "timestamp") or (
        column.kind == "datetime" and kind == "timestamp"
    ):
        _check_clock(pair, column.name)


def _check_clock(pair: Pair, column: str) -> None:
    depends = f"Column '{column}' of table '{pair.found.shown}' is a time that depends on it."
    if _zone(pair.zone) is None:
        raise SourceError(
            f"the zone '{pair.zone}' of the server's clock is not known here",
            detail=depends,
            hint="Set 'server-time-zone' to a name as 'Europe/Berlin' or an offset as '+02:00'.",
            place=pair.declared.place,
        )
    if pair.doubt:
        raise SourceError(
            "the zone of the server's clock is not what the server calls it",
            detail=f"{pair.doubt} {depends}",
            hint="Set 'server-time-zone' to the name of the zone, as 'server-time-zone' = 'Europe/London'.",
            place=pair.declared.place,
        )


def doubt_about(cursor: Any, zone: str) -> str:
    """Why a zone is not that of the server's clock; nothing if it is, over the whole of last year.

    Of its machine's zone a server knows only the season's name: GMT in a winter of London, EST in one of New York.
    """
    known = _zone(zone)
    if known is None:
        return ""
    year = datetime.now(UTC).year - 1
    times = [datetime(year, month, day, 12) for month in range(1, 13) for day in (1, 11, 21)]
    for time, moment in zip(times, moments_at(cursor, times), strict=True):
        ours = time.replace(tzinfo=known).astimezone(UTC)
        if ours != moment:
            return (
                f"It says '{zone}', but when its clock shows {time:%Y-%m-%d %H:%M} it is {moment:%H:%M} in UTC,"
                f" and not {ours:%H:%M}."
            )
    return ""


def _zone(name: str) -> tzinfo | None:
    """The zone of a name or an offset; None if there is none."""
    try:
        if name[:1] not in ("+", "-"):
            return zoneinfo.ZoneInfo(name)
        hours, _, minutes = name[1:].partition(":")
        size = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(-size if name.startswith("-") else size)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return None
