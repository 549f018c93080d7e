"""Work of a demo that goes on in a thread while the block runs."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from headwater.errors import HeadwaterError

STOP_SECONDS = 10.0


class Background:
    """A thread that works until it is stopped; what went wrong in it is raised by `check`."""

    def __init__(self, name: str) -> None:
        self._failed: HeadwaterError | BrokenPipeError | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(STOP_SECONDS)

    def check(self) -> None:
        """Raise what went wrong in the thread, if anything did."""
        if self._failed is not None:
            raise self._failed

    def wait(self, seconds: float) -> bool:
        """True if it has ended within so many seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def work(self) -> None:
        """What is done until `self._ended` is set."""
        raise NotImplementedError

    def _run(self) -> None:
        try:
            self.work()
        except (HeadwaterError, BrokenPipeError) as error:
            # Also if whoever read what is heard has gone: the caller knows what that means.
            self._failed = error
