"""The table `headwater.dead_letters`: what could not be read, put aside by choice.

Nobody delivers it alone: messages are added by the run-time, which could not decode them, rows of a database come with
the log of their source. To everyone else it is a table like others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwater.log.letters import DEAD_LETTERS as TABLE
from headwater.log.letters import LETTER_SCHEMA as SCHEMA
from headwater.sources.base import SourceType
from headwater.sources.silent import SilentSource, forget_nothing

__all__ = [
    "DEAD_LETTER",
    "DEAD_LETTERS",
    "OTHERWISE",
    "SCHEMA",
    "STOP",
    "TABLE",
    "DeadLetterOptions",
    "parks",
]

STOP, DEAD_LETTER = "stop", "dead-letter"
"""What option `errors` can be."""


OTHERWISE = f" Or set 'errors' = '{DEAD_LETTER}' to put such rows into {TABLE} and go on."


def parks(options: Any) -> bool:
    """True if option `errors` says so."""
    return bool(options.errors == DEAD_LETTER)


@dataclass(frozen=True)
class DeadLetterOptions:
    """It has none."""


DEAD_LETTERS = SourceType(
    options=DeadLetterOptions,
    describe=lambda options: SCHEMA,
    group=lambda options: "headwater",
    open=SilentSource,
    forget=forget_nothing,
    append_only=True,
)
