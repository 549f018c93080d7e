"""Whether a server that took the place of another one knows all that was read of that.

A standby that is promoted begins a timeline of its own, at the place in the log up to which it had received it. If its
primary told us more than it told the standby, we know of commits that never were: its log goes on differently there.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from headwater.errors import SourceError
from headwater.log.positions import Position
from headwater.log.store import LogWriter
from headwater.sources.postgres.connect import Address, connect_replication
from headwater.sources.postgres.resume import ANEW, durable_position
from headwater.sources.postgres.server import number

TIMELINE = "timeline"
"""Under this the manifest remembers on which one the state was built."""


def check_timeline(address: Address, log: LogWriter, cursor: Any) -> None:
    """All that is durable with us happened at this server too; which timeline it is on is remembered."""
    now, known, durable = _timeline(cursor), log.manifest.number(TIMELINE), durable_position(log)
    if known is not None and now != known and durable is not None:
        branched = _branched(address, now, of=known)
        if branched is None or branched < durable:
            lost = "it does not descend from it" if branched is None else f"it left it at {_lsn(branched)}"
            raise SourceError(
                "the server has gone another way than the state",
                detail=f"The state was read on timeline {known} up to {_lsn(durable)}; the server is on timeline {now},"
                f" and {lost}: what was committed in between is not in it.",
                hint=f"{ANEW} With synchronized_standby_slots on the primary this cannot happen.",
            )
    log.manifest.remember(TIMELINE, str(now))


def _timeline(cursor: Any) -> int:
    # The control file would say it only from the next checkpoint on.
    cursor.execute("SELECT pg_walfile_name(pg_current_wal_insert_lsn())")
    return int(cursor.fetchone()[0][:8], 16)


def _branched(address: Address, timeline: int, *, of: int) -> int | None:
    """Where a timeline left one that came before it; None if it never was on that."""
    with closing(connect_replication(address)) as replication, replication.cursor() as cursor:
        cursor.execute(f"TIMELINE_HISTORY {timeline:d}")
        _, content = cursor.fetchone()
    lines = [line.split("\t") for line in _text(content).splitlines() if line[:1].isdigit()]
    return next((number(place) for parent, place, *_ in lines if int(parent) == of), None)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else bytes(content).decode()


def _lsn(value: int) -> str:
    return str(Position(value, "lsn"))
