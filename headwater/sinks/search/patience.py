"""Waiting for nodes that refuse for now or are away, with pauses that grow, telling why."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from headwater.sinks.search.client import JSON, Answer, Client, Unreachable
from headwater.sinks.search.options import SearchOptions

FOR_NOW = frozenset({408, 429, 502, 503, 504})
"""What a node answers when asking again may help."""

LONGEST_PAUSE = 5.0


@dataclass(frozen=True)
class Pauses:
    """The first pause in seconds, and what each further one is multiplied by."""

    first: float
    growth: float


def pauses_of(options: SearchOptions) -> Pauses:
    """The pauses that a table's options ask for."""
    return Pauses(max(options.delay, 0.01), 1.0 if options.strategy == "CONSTANT" else 2.0)


class Patient:
    """A client that asks until it is answered; `waits` hears why that takes long, and None when it goes on."""

    def __init__(self, client: Client, pauses: Pauses, *, waits: Callable[[str | None], None]) -> None:
        self.client = client
        self._pauses, self._waits = pauses, waits
        self._times = 0
        self._said: str | None = None
        self._until: float | None = None

    def within(self, seconds: float | None) -> None:
        """From now on give up after so many seconds; None is never."""
        self._until = None if seconds is None else time.monotonic() + seconds

    def ask(self, method: str, path: str, body: str | None = None, *, kind: str = JSON) -> Answer:
        """The answer to a request that is neither `ask again` nor silence."""
        while True:
            try:
                answer = self.client.ask(method, path, body, kind=kind)
            except Unreachable as problem:
                if self._is_late():
                    raise
                self.pause(f"{problem.node} does not answer: {problem.reason}")
                continue
            if answer.status not in FOR_NOW or self._is_late():
                return answer
            self.pause(f"{answer.node} answers {answer.status}: {answer.reason}")

    def pause(self, why: str) -> None:
        """Say why, if that is new, and wait longer than the last time."""
        if why != self._said:
            self._waits(why)
        self._said = why
        time.sleep(min(LONGEST_PAUSE, self._pauses.first * self._pauses.growth ** min(self._times, 16)))
        self._times += 1

    def goes_on(self) -> None:
        """What was waited for is there."""
        self._times = 0
        if self._said is not None:
            self._said = None
            self._waits(None)

    def _is_late(self) -> bool:
        return self._until is not None and time.monotonic() > self._until
