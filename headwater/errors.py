"""Every error a user can meet.

HeadwaterError
├── SqlError            the text of a statement is wrong; carries a place
│   └── OptionError     an option of a WITH clause or a setting is wrong
├── UsageError          the command line is wrong
├── SourceError         the source refused, or says something we cannot follow
├── SinkError           the sink refused, or two rows want one key
│   └── AwayError       nobody answers where the sink should be, for now
├── ConnectError        Kafka Connect refused, or the file of a connector is wrong
├── StateError          what is saved is unreadable, newer than we are, or in use
└── ServiceError        a part we start ourselves (Java, Postgres) did not come up

A message is in lower case and has no period; the detail says what was seen; the hint says what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Place:
    """Where in the user's SQL something stands; lines and columns count from one.

    `text` is the line as it is shown; `mark` is the column in it, 0 if that is `column`: secrets are shown shorter.
    """

    file: str
    line: int
    column: int
    text: str = ""
    width: int = 1
    mark: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class HeadwaterError(Exception):
    """What went wrong, what was seen, what to do, and where it stands."""

    def __init__(self, message: str, *, detail: str = "", hint: str = "", place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.place = place

    def to_json(self) -> dict[str, object]:
        """The error as it crosses a process boundary."""
        return {
            "type": type(self).__name__,
            "message": self.message,
            "detail": self.detail,
            "hint": self.hint,
            "place": asdict(self.place) if self.place else None,
        }


class SqlError(HeadwaterError):
    """The text of a statement is wrong."""


class OptionError(SqlError):
    """An option of a WITH clause or a setting is wrong."""


class UsageError(HeadwaterError):
    """The command line is wrong."""


class SourceError(HeadwaterError):
    """The source refused, or says something we cannot follow."""


class SinkError(HeadwaterError):
    """The sink refused, or two rows want one key."""


class AwayError(SinkError):
    """Nobody answers where the sink should be, for now."""


class ConnectError(HeadwaterError):
    """Kafka Connect refused, or the file of a connector is wrong."""


class StateError(HeadwaterError):
    """What is saved is unreadable, newer than we are, or in use."""


class ServiceError(HeadwaterError):
    """A part we start ourselves did not come up."""


@contextmanager
def placed(place: Place | None) -> Iterator[None]:
    """Give an error that has no place of its own this one."""
    try:
        yield
    except HeadwaterError as problem:
        problem.place = problem.place or place
        raise


def from_json(said: dict[str, object]) -> HeadwaterError:
    """The error that another process sent with `to_json`."""
    families: dict[str, type[HeadwaterError]] = {
        family.__name__: family
        for family in (SqlError, OptionError, SourceError, SinkError, StateError, ServiceError)
    }
    place = said.get("place")
    return families.get(str(said["type"]), HeadwaterError)(
        str(said["message"]),
        detail=str(said.get("detail") or ""),
        hint=str(said.get("hint") or ""),
        place=Place(**place) if isinstance(place, dict) else None,
    )
