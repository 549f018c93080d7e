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
class _Wait:
    """Somebody waits until the pipeline knows what is committed at the moment it hears of this."""

    target: Mapping[str, Position] | None = None
    refusal: HeadwaterError | None = None
    over: threading.Event = field(default_factory=threading.Event)


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
    left: HeadwaterError | None = None
    """Why what it made, and should have taken with it, is still there."""
    opened: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _wait: _Wait | None = None
    _is_closed: bool = False

    @property
    def is_over(self) -> bool:
        """True if nothing runs any more."""
        return self.ended.is_set()

    def start(self) -> None:
        """Begin; returns when the pipeline stands, or is over again."""
        self.area.draw()
        self._begin(self._work)
        while not self.opened.wait(POLL_SECONDS):
            # Waited for in small pieces, so that an interrupt is heard.
            continue

    def stop(self) -> None:
        """Let the step at hand end, then close, or try again to remove what it left; returns at once."""
        self._stop.set()
        if self.is_over and self.left is not None:
            self.ended.clear()
            self._begin(self._discard_again)

    def join(self, seconds: float) -> bool:
        """Wait for its end; False if that takes longer."""
        return _waited(self.ended, seconds)

    def catch_up(self, seconds: float) -> bool:
        """Wait until it knows what is committed now, and shows it; False if that takes longer."""
        # A new one each time: what an earlier one waited for is no answer to this.
        wait = self._wait = _Wait()
        deadline = time.monotonic() + seconds
        while not wait.over.is_set() and not self.is_over:
            if time.monotonic() > deadline:
                return False
            wait.over.wait(POLL_SECONDS)
        if wait.refusal is not None:
            raise wait.refusal
        return True

    def _begin(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, name=f"headwater {self.name}", daemon=True).start()

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
            if not self._is_closed:
                self._let_go()
        finally:
            self.ended.set()
            self.opened.set()

    def _turn(self, pipeline: Pipeline) -> None:
        target = pipeline.now() if self.once else None
        while not self._stop.is_set():
            wait = self._wait
            if wait is not None and wait.target is None and not wait.over.is_set():
                _ask(pipeline, wait)
            pipeline.step(wait=WAIT_SECONDS)
            self.area.refresh()
            if target is not None and pipeline.has_reached(target):
                break
            if wait is not None and not wait.over.is_set() and _is_reached(pipeline, wait):
                self.area.draw()
                wait.over.set()
        self.area.read()

    def _close(self, state: str, problem: HeadwaterError | None = None) -> None:
        """Close the pipeline, then show how it ended."""
        self._is_closed = True
        try:
            self._let_go()
        except HeadwaterError as late:
            state, problem = FAILED, problem or late
        if self.left is not None:
            state, problem = FAILED, problem or self.left
        self.area.end(state, problem)

    def _let_go(self) -> None:
        """Close the pipeline; one that is not kept takes along what it made, as far as the servers answer."""
        if self.pipeline is None:
            return
        if self.is_kept:
            self.pipeline.close()
            return
        try:
            self.left = None
            discard(self.pipeline)
        except HeadwaterError as problem:
            self.left = problem

    def _discard_again(self) -> None:
        try:
            self._let_go()
        finally:
            self.ended.set()


def _ask(pipeline: Pipeline, wait: _Wait) -> None:
    """Learn how far the sources are; one that is away now is the business of who waits, not of the pipeline."""
    try:
        wait.target = pipeline.now()
    except HeadwaterError as problem:
        wait.refusal = problem
        wait.over.set()


def _is_reached(pipeline: Pipeline, wait: _Wait) -> bool:
    return wait.target is not None and pipeline.has_reached(wait.target)


def _unforeseen(bug: BaseException | None) -> HeadwaterError:
    return HeadwaterError(
        "the pipeline ended by a mistake of ours",
        detail=f"{type(bug).__name__}: {bug}",
        hint="Please report it; a pipeline with a name, or one that writes, goes on where it ended.",
    )


def _waited(event: threading.Event, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not event.wait(POLL_SECONDS):
        if time.monotonic() > deadline:
            return False
    return True
