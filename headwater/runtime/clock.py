"""Where the time of a batch goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Doing:
    """What a step is busy with."""

    stop: str
    """read, tables, views, sinks or progress."""
    what: str
    """The view or the sink whose turn it is; empty where a stop has no parts."""
    since: float
    """In seconds since 1970."""


class Clock:
    """Seconds by stop of the way; other threads may look at `doing`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.doing: Doing | None = None

    @contextmanager
    def stop(self, name: str) -> Iterator[None]:
        """Measure one stop."""
        begin = time.perf_counter()
        self.doing = Doing(name, "", time.time())
        try:
            yield
        finally:
            self.doing = None
        self.seconds[name] = time.perf_counter() - begin

    def part(self, what: str) -> None:
        """Inside a stop: it is the turn of this view or sink."""
        if self.doing is not None:
            self.doing = Doing(self.doing.stop, what, time.time())
