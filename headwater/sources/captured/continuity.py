"""Whether our log still goes on where the state ends; if not, the reason, never a gap in silence."""

from __future__ import annotations

from headwater.errors import SourceError
from headwater.log.positions import Position
from headwater.log.store import LogWriter


def check_log(log: LogWriter, after: int | None, *, notation: str, anew: str) -> None:
    """The log has everything after what the driver has done; `anew` says how one starts again."""

    def shown(value: int | None) -> str:
        return "nothing" if value is None else str(Position(value, notation))

    trimmed, last = log.manifest.number("trimmed") or 0, log.last
    if after is None and trimmed:
        raise SourceError(
            "the log no longer has its beginning",
            detail=f"It was read and trimmed up to {shown(trimmed)}, but nothing of it is in the state.",
            hint=anew,
        )
    if after is not None and (last is None or after > last):
        raise SourceError(
            "the log ends before the state",
            detail=f"The state stands at {shown(after)}, the log at {shown(last)}.",
            hint=anew,
        )
    if after is not None and after < trimmed:
        raise SourceError(
            "the log no longer has what follows the state",
            detail=f"The state stands at {shown(after)}, the log begins after {shown(trimmed)}.",
            hint=anew,
        )
