"""What anyone who asks the target of a demo is told, again and again: some rows, and some facts about all of them.

with Feed(follow_database(uri, look_at_star, view.look)):
    ...
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from psycopg2.extensions import ISOLATION_LEVEL_REPEATABLE_READ

from headwater.demo.claims import connected

ASK_SECONDS = 0.4


@dataclass(frozen=True)
class Look:
    """What is there at one moment: `Look({"rows": 2}, {1: {"name": "Ann"}, 2: {"name": "Bob"}})`."""

    facts: Mapping[str, Any]
    rows: Mapping[Any, Mapping[str, Any]]
    """The newest rows by key."""


def follow_database(
    uri: str, look: Callable[[Any], Look], hear: Callable[[Look], None], *, every: float = ASK_SECONDS
) -> Iterator[None]:
    """Hear what is there whenever it is something else than before; `look` is given a cursor at one moment."""
    waiting, before = threading.Event(), None
    with connected(uri) as connection:
        connection.set_session(isolation_level=ISOLATION_LEVEL_REPEATABLE_READ, readonly=True)
        while True:
            with connection, connection.cursor() as cursor:
                found = look(cursor)
            if found != before:
                hear(found)
                before = found
            waiting.wait(every)
            yield
