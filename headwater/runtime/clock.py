"""Where the time of a batch goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Seconds by stop of the way."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stop(self, name: str) -> Iterator[None]:
        """Measure one stop."""
        begin = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - begin
