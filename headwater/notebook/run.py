"""One pipeline of a notebook: it turns in a thread of its own until it is stopped, fails or is done."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from headwater.errors import HeadwaterError
from headwater.log.positions import Position
from headwater.notebook.area import DONE, FAILED, OVER, STOPPED, Area
from headwater.runtime.inspect import discard
from headwater.runtime.pipeline import Pipeline

WAIT_SECONDS = 0.2
"""How long a step waits for something to come; a request is heard after that."""

POLL_SECONDS = 0.05


@dataclass
class Run:
    """A pipeline in the background, and the area that shows it."""

    name: str
    cell: str
    """Which cell: `In [3]`."""
    what: str
    """What it does: `SELECT`, `INSERT INTO fact_orders`."""
    area: Area
    opening: Callable[[Area], Pipeline]
    once: bool
    is_kept: bool
    """False if its State and what it made at the sources go when it ends: a query without a name."""
    pipeline: Pipeline | None = None
    opened: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _asked: threading.Event = field(default_factory=threading.Event)
    _reached: threading.Event = field(default_factory=threading.Event)
    _target: Mapping[str, Position] | None = None
    _refusal: HeadwaterError | None = None
    _is_closed: bool = False

    @property
    def is_over(self) -> bool:
        """True if nothing runs any more."""
        return self.ended.is_set()

    def start(self) -> None:
        """Begin; returns when the pipeline stands, or is over again."""
        self.area.draw()
        threading.Thread(target=self._work, name=f"headwater {self.name}", daemon=True).start()
        while not self.opened.wait(POLL_SECONDS):
            # Waited for in small pieces, so that an interrupt is heard.
            continue

    def stop(self) -> None:
        """Let the step at hand end, then close; returns at once."""
        self._stop.set()

    def join(self, seconds: float) -> bool:
        """Wait for its end; False if that takes longer."""
        return _wait(self.ended, seconds)

    def catch_up(self, seconds: float) -> bool:
        """Wait until it knows what is committed now, and shows it; False if that takes longer."""
        self._reached.clear()
        self._asked.set()
        deadline = time.monotonic() + seconds
        while not self._reached.is_set() and not self.is_over:
            if time.monotonic() > deadline:
                return False
            self._reached.wait(POLL_SECONDS)
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal
        return True

    def _work(self) -> None:
        try:
            self._follow()
        finally:
            # An exception that is none of ours goes on, and Python prints it; but the cell must not seem to run.
            if self.area.state not in OVER:
                self.area.state, self.area.error = FAILED, _unforeseen(sys.exc_info()[1])
            self._over()

    def _follow(self) -> None:
        try:
            self.pipeline = self.opening(self.area)
            self.area.open(self.pipeline)
            if not self.once:
                self.opened.set()
            self._turn(self.pipeline)
            self._close(DONE if self.once and not self._stop.is_set() else STOPPED)
        except HeadwaterError as problem:
            self._close(FAILED, problem)

    def _over(self) -> None:
        """Let go of the folder, whatever happened, and of everyone who waits."""
        try:
            if self.pipeline is not None and not self._is_closed:
                self.pipeline.close()
        finally:
            self.ended.set()
            self.opened.set()
            self._reached.set()

    def _turn(self, pipeline: Pipeline) -> None:
        if self.once:
            self._target = pipeline.now()
        while not self._stop.is_set():
            if self._asked.is_set():
                self._asked.clear()
                self._ask(pipeline)
            pipeline.step(wait=WAIT_SECONDS)
            self.area.refresh()
            if self._target is not None and pipeline.has_reached(self._target):
                self._target = None
                if self.once:
                    return
                self.area.draw()
                self._reached.set()

    def _ask(self, pipeline: Pipeline) -> None:
        """Learn how far the sources are; one that is away now is the business of who waits, not of the pipeline."""
        try:
            self._target = pipeline.now()
        except HeadwaterError as problem:
            self._refusal = problem
            self._reached.set()

    def _close(self, state: str, problem: HeadwaterError | None = None) -> None:
        """Close the pipeline, then show how it ended."""
        self._is_closed = True
        try:
            if self.pipeline is not None:
                discard(self.pipeline) if not self.is_kept and state != FAILED else self.pipeline.close()
        except HeadwaterError as late:
            state, problem = FAILED, problem or late
        self.area.end(state, problem)


def _unforeseen(bug: BaseException | None) -> HeadwaterError:
    return HeadwaterError(
        "the pipeline ended by a mistake of ours",
        detail=f"{type(bug).__name__}: {bug}",
        hint="Please report it; running the cell again goes on where it ended.",
    )


def _wait(event: threading.Event, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not event.wait(POLL_SECONDS):
        if time.monotonic() > deadline:
            return False
    return True
