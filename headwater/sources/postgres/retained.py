"""How much of its log a server keeps for a slot, and what is said or done when that is too much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwater.errors import SourceError
from headwater.options import size_text
from headwater.sources.postgres.agreed import Care
from headwater.sources.postgres.config import CaptureConfig
from headwater.sources.postgres.resume import ANEW

LOST, UNRESERVED, MUCH = "lost", "unreserved", "much"


@dataclass(frozen=True)
class Kept:
    """What the server keeps for a slot, in bytes."""

    slot: str
    status: str
    """`wal_status`: reserved and extended are well, unreserved may go soon, lost is gone."""
    retained: int
    """The log that cannot be removed because of the slot."""
    behind: int
    """What of it was written after the place that we confirmed."""


class Overgrown(Exception):
    """The server keeps more than it may. It becomes an error once the slot is given up."""

    def __init__(self, kept: Kept) -> None:
        super().__init__(f"{kept.retained} bytes are kept for {kept.slot}")
        self.kept = kept


def look(cursor: Any, slot: str) -> Kept | None:
    """What the server keeps for a slot now; None if there is no such slot."""
    cursor.execute(
        # A slot that is lost may have no place any more.
        "SELECT coalesce(wal_status, 'reserved'),"
        " coalesce(greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0), 0)::bigint,"
        " coalesce(greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn), 0), 0)::bigint"
        " FROM pg_replication_slots WHERE slot_name = %s",
        (slot,),
    )
    row = cursor.fetchone()
    if row is None:
        return None
    status, retained, behind = row
    # For one that is lost nothing is kept any more, and it still knows its place.
    return Kept(slot, status, retained, min(behind, retained))


def is_overgrown(kept: Kept, care: Care) -> bool:
    """True if the slot is to be given up."""
    return care.drops and care.most is not None and kept.retained > care.most


def check_retained(cursor: Any, config: CaptureConfig) -> None:
    """The slot may go on, or is to be given up before anything else is done with it."""
    kept = look(cursor, config.slot)
    if kept is not None and is_overgrown(kept, config.care):
        raise Overgrown(kept)


def given_up(kept: Kept, care: Care) -> SourceError:
    """What is said once the slot is gone."""
    return SourceError(
        f"replication slot '{kept.slot}' was dropped, because postgres kept too much of its log for it",
        detail=f"{size_text(kept.retained)} were kept, {size_text(kept.behind)} of them not read yet;"
        f" 'wal.retained.max' is {size_text(care.most or 0)} and 'wal.retained.action' is drop-slot. What was"
        " committed since cannot be read any more.",
        hint=f"{ANEW} If the server can spare it, raise 'wal.retained.max' first.",
    )


class Voice:
    """Says of what the server keeps only what matters, and only when that is news.

    >>> voice = Voice(Care(most=1_000_000))
    >>> voice.of(Kept("s", "reserved", 2_500_000, 2_400_000))
    "postgres keeps 2.4 MB of its log for replication slot 's', more than 'wal.retained.max' (976.6 KB)"
    >>> voice.of(Kept("s", "reserved", 2_600_000, 2_500_000))       # nothing new
    """

    def __init__(self, care: Care) -> None:
        self._care = care
        self._trouble: str | None = None
        self._told = 0

    def of(self, kept: Kept) -> str | None:
        """The sentence to say; None if there is none. What is said is said again when twice as much is kept."""
        trouble, before = self._troubled(kept), self._trouble
        is_news = trouble != before or (trouble is not None and kept.retained >= 2 * self._told)
        self._trouble = trouble
        if not is_news:
            return None
        self._told = max(kept.retained, 1)
        much = f"postgres keeps {size_text(kept.retained)} of its log for replication slot '{kept.slot}'"
        if trouble == LOST:
            return f"postgres has removed log that replication slot '{kept.slot}' still needs"
        if trouble == UNRESERVED:
            return f"{much} and will remove what is above max_slot_wal_keep_size, read or not"
        if trouble == MUCH:
            return f"{much}, more than 'wal.retained.max' ({size_text(self._care.most or 0)})"
        return f"{much}; that is well again"

    def _troubled(self, kept: Kept) -> str | None:
        if kept.status in (LOST, UNRESERVED):
            return kept.status
        return MUCH if self._care.most is not None and kept.retained > self._care.most else None
