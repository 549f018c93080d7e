"""Ctrl-C and SIGTERM: the first ends the loop after the step at hand, the second ends it now."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """Someone asked us to end; like KeyboardInterrupt it is no error and passes every `except Exception`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = number


class Stop:
    """Who asked us to end, if anyone.

    At first a signal raises Stopped at once. After `gently` it is only noted, so that a step is finished
    first, unless it comes again. After `closing` it is ignored.
    """

    def __init__(self) -> None:
        self.asked: int | None = None
        self._gently = False
        self._before = {number: signal.getsignal(number) for number in SIGNALS}

    def __enter__(self) -> Stop:
        self._listen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def gently(self) -> None:
        """From now on let the step at hand end first."""
        # Spark takes SIGINT for itself when it starts, so the handlers are set again.
        self._listen()
        self._gently = True

    def closing(self) -> None:
        """From now on nothing interrupts: what was started is being stopped."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def end(self) -> None:
        """Raise Stopped if someone asked."""
        if self.asked is not None:
            raise Stopped(self.asked)

    def _listen(self) -> None:
        for number in SIGNALS:
            signal.signal(number, self._hear)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._gently and self.asked is None:
            self.asked = number
            return
        raise Stopped(number)
