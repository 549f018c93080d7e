"""What a request can be refused for, besides what any command can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater.errors import HeadwaterError, StateError
from headwater.nearest import did_you_mean


class Missing(HeadwaterError):
    """What the request names is not there."""


class Conflict(HeadwaterError):
    """It cannot be done as things stand; `more` goes along with the answer."""

    def __init__(
        self, message: str, *, detail: str = "", hint: str = "", more: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.more = dict(more or {})


class Unwritten(StateError):
    """The disk is full, or the server's folder cannot be written to: nothing was changed."""


class TooLarge(HeadwaterError):
    """A request, a script or an answer is larger than this server allows."""


def missing(what: str, name: str, known: list[str]) -> Missing:
    """There is no such thing; perhaps one that is called nearly so."""
    hint = did_you_mean(name, known, otherwise=f"There are {', '.join(known[:20])}." if known else "")
    return Missing(f"there is no {what} '{name}'", hint=hint)
