"""Questions to a server outside of its capture: what a table looks like, where the log stands."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from headwater.sources.base import Lost
from headwater.sources.captured.supervisor import BACKOFF_FIRST, EARLY_TRIES

T = TypeVar("T")


def answered(ask: Callable[[], T]) -> T:
    """What the server answers; a question whose connection breaks is asked again a few times, as it changes nothing."""
    for attempt in range(EARLY_TRIES - 1):
        try:
            return ask()
        except Lost:
            time.sleep(BACKOFF_FIRST * 2**attempt)
    return ask()


def asked(session: Callable[[], AbstractContextManager[Any]], question: Callable[[Any], T]) -> T:
    """What the server answers to a question on a cursor of a session of its own."""

    def ask() -> T:
        with session() as cursor:
            return question(cursor)

    return answered(ask)
