"""Waiting on a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(look: Callable[[], T], is_right: Callable[[T], bool], seconds: float = 120.0) -> T:
    """What is seen, as soon as it is right."""
    deadline = time.monotonic() + seconds
    while not is_right(seen := look()):
        assert time.monotonic() < deadline, f"after {seconds:g} s it is still {seen!r}"
        time.sleep(0.05)
    return seen
