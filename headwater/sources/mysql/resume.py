"""Whether the log and the server still fit together; if not, the reason, never a gap in silence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headwater.errors import SourceError
from headwater.log.store import LogWriter
from headwater.sources.mysql.places import BITS, Gtids, Place, file_number
from headwater.sources.mysql.server import ServerFacts, end_of_log, files_of, purged

ANEW = "Remove the state with 'headwater drop', then start anew: the tables are read again."
SERVER, SHIFT = "server", "shift"
"""Under these the manifest keeps whose log it is, and how its files are numbered."""
PLACE, BORN, SEEN, COLUMNS = "place", "born", "gtids", "definitions"
"""Under these it keeps, with each append, where to go on, and when the file of that place was begun."""


@dataclass(frozen=True)
class From:
    """Where the stream goes on: a place, or behind the transactions that were seen."""

    place: Place | None
    seen: Gtids
    shift: int = 0


def going_on(log: LogWriter, cursor: Any, facts: ServerFacts, *, birth: Callable[[str], str]) -> From | None:
    """Where to go on with what is durable, None if nothing is; `birth` says when a file was begun."""
    kept = log.manifest.recall(PLACE)
    if kept is None:
        return None
    file, _, at = kept.rpartition(":")
    place, shift = Place(file, int(at)), log.manifest.number(SHIFT) or 0
    seen = Gtids(log.manifest.recall(SEEN) or "", maria=facts.is_maria)
    if log.manifest.recall(SERVER) != facts.uuid:
        return _at_another(log, cursor, facts, seen=seen)
    files = files_of(cursor)
    if place.file not in files:
        raise SourceError(
            "the server no longer has the part of its binary log that comes next",
            detail=f"We stand at {place}; the server has {_between(files)}.",
            hint=f"{ANEW} Then let the server keep its log longer (binlog_expire_logs_seconds).",
        )
    end, executed = end_of_log(cursor)
    is_reset = place.value(0) > end.value(0)
    if facts.has_gtids and not facts.is_maria and seen:
        is_reset = is_reset or not Gtids(executed).has(seen)
    if is_reset:
        raise SourceError(
            "the server is behind the state",
            detail=f"The state stands at {place}, the server at {end}: its log was reset, or it was restored to an"
            " older moment.",
            hint=ANEW,
        )
    # A state of before this was kept does not know.
    if (born := log.manifest.recall(BORN)) and born != birth(place.file):
        raise SourceError(
            "the binary log of the server is another than the one that was read",
            detail=f"The file {place.file} was begun at another time than the one we stand in, at {place}: the log was"
            " reset, or the server was restored.",
            hint=ANEW,
        )
    return From(place, seen, shift)


def _at_another(log: LogWriter, cursor: Any, facts: ServerFacts, *, seen: Gtids) -> From:
    """Another server answers at the same address: it can go on if transactions have names that both know."""
    end, executed = end_of_log(cursor)
    if not facts.has_gtids or not seen:
        raise SourceError(
            "this is not the server the state was built from",
            detail="Its transactions have no names (gtid_mode is off) by which one could go on.",
            hint=f"Check 'hostname' and 'port'. If the server was set up again: {ANEW}",
        )
    if not facts.is_maria and not Gtids(executed).has(seen):
        raise SourceError(
            "this is not the server the state was built from",
            detail="It lacks transactions that were read.",
            hint=f"Check 'hostname' and 'port'. If the server was set up again: {ANEW}",
        )
    if not seen.has(purged(cursor, facts)):
        raise SourceError(
            "the server no longer has the part of its binary log that comes next",
            detail="It took the place of another, and has removed transactions that were not read yet.",
            hint=ANEW,
        )
    # The files of the other server have numbers of their own; ours go on growing.
    last = 0 if log.last is None else log.last >> BITS
    return From(None, seen, max(0, last + 1 - file_number(end.file)))


def _between(files: dict[str, int]) -> str:
    names = list(files)
    return f"{names[0]} to {names[-1]}" if names else "none"
