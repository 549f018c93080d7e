"""The services of a demo: started together, each as soon as those it needs are up, and stopped together.

    with run_together([Part("kafka", kafka), Part("connect", worker, needs=("kafka",))], tell):
        ...

A start that fails or is interrupted leaves nothing running.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from headwater.services.artifacts import cached, fetch

LISTEN_SECONDS = 0.1
"""A signal is heard so often while services start."""


@dataclass(frozen=True)
class News:
    """What is going on at one part of a demo: `News("kafka", "fetching", 12, 104)`."""

    part: str
    words: str
    done: int = 0
    total: int | None = None
    is_over: bool = False
    """True with the last words: it runs, or it is done."""


Tell = Callable[[News], None]


class Startable(Protocol):
    """A service that is not started yet."""

    @property
    def place(self) -> str:
        """Where it is to be found once it runs."""

    def start(self) -> object:
        """Start it and wait until it answers."""

    def stop(self) -> None:
        """Stop it; harmless when it is down, and while it starts."""


@dataclass(frozen=True)
class Part:
    """One service and the names of those that must be up before it starts."""

    name: str
    service: Startable
    needs: tuple[str, ...] = ()


def fetch_all(sets: Sequence[tuple[str, str]], tell: Tell) -> None:
    """Fetch packages that are not here yet; pairs of a part and a set of packages that it needs.

    One after the other: the line is the bottleneck, and only the caller's own thread hears Ctrl-C.
    """

    def told(part: str, _: str, done: int, total: int) -> None:
        tell(News(part, "fetching packages", done, total))

    for part, name in sets:
        if cached(name) is None:
            fetch(name, partial(told, part))


@contextmanager
def run_together(parts: Sequence[Part], tell: Tell, *, closing: Callable[[], None]) -> Iterator[None]:
    """All parts run while the block does; `closing` is called before they are stopped."""
    all_of_them = _Together(parts, tell)
    try:
        all_of_them.start()
        yield
    finally:
        closing()
        all_of_them.stop()


class _Together:
    """A thread for each part: a start takes ten to thirty seconds, mostly waiting."""

    def __init__(self, parts: Sequence[Part], tell: Tell) -> None:
        self._parts = {part.name: part for part in parts}
        self._tell = tell
        self._up = {name: threading.Event() for name in self._parts}
        self._ended = threading.Event()
        self._threads = ThreadPoolExecutor(len(parts), "demo service")
        self._starts: dict[str, Future[None]] = {}

    def start(self) -> None:
        """Start all, or raise what the first one that failed says."""
        for name, part in self._parts.items():
            self._starts[name] = self._threads.submit(self._start_one, part)
        waiting = set(self._starts.values())
        while waiting:
            over, waiting = wait(waiting, LISTEN_SECONDS, FIRST_EXCEPTION)
            for start in over:
                start.result()

    def stop(self) -> None:
        """Stop those that nobody needs, then the others."""
        self._ended.set()
        needed = {name for part in self._parts.values() for name in part.needs}
        stops: list[Future[None]] = []
        with ThreadPoolExecutor(len(self._parts)) as threads:
            for names in (set(self._parts) - needed, needed):
                stops += [threads.submit(self._stop_one, name) for name in sorted(names)]
                wait(stops)
        self._threads.shutdown()
        for stop in stops:
            stop.result()

    def _start_one(self, part: Part) -> None:
        for name in part.needs:
            while not self._up[name].wait(LISTEN_SECONDS):
                if self._ended.is_set():
                    return
        if self._ended.is_set():
            return
        began = time.monotonic()
        self._tell(News(part.name, "starting"))
        part.service.start()
        spent = time.monotonic() - began
        self._tell(News(part.name, f"runs at {part.service.place} ({spent:.1f} s)", is_over=True))
        self._up[part.name].set()

    def _stop_one(self, name: str) -> None:
        service, start = self._parts[name].service, self._starts.get(name)
        while start is not None and not start.done():
            service.stop()
            wait([start], LISTEN_SECONDS)
        service.stop()
