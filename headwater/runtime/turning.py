"""A pipeline that turns in a thread of its own until it is stopped, fails or is done.

Notebook, server and SQL client look on through a `Watch` and ask between two steps.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from headwater.errors import HeadwaterError, UsageError
from headwater.runtime.inspect import discard
from headwater.runtime.pipeline import Pipeline

WAIT_SECONDS = 0.2
"""How long a step waits for something to come; a request is heard after that."""

POLL_SECONDS = 0.05

STARTING, RUNNING = "starting", "running"
STOPPED, FAILED, DONE = "stopped", "failed", "done"
OVER = (STOPPED, FAILED, DONE)
"""The states that last."""

Told = TypeVar("Told")


class Watch(Protocol):
    """Someone who looks on, in the thread of the pipeline."""

    def opened(self, pipeline: Pipeline) -> None:
        """It stands, and has not taken a step yet."""

    def stepped(self, pipeline: Pipeline) -> None:
        """A step is over, in which something may have come."""

    def ending(self, pipeline: Pipeline) -> None:
        """It will take no further step, and is still open."""

    def ended(self, state: str, problem: HeadwaterError | None) -> None:
        """It is over and closed: stopped, failed or done."""


class Nobody:
    """Nobody looks on."""

    def opened(self, pipeline: Pipeline) -> None:
        """Nothing."""

    def stepped(self, pipeline: Pipeline) -> None:
        """Nothing."""

    def ending(self, pipeline: Pipeline) -> None:
        """Nothing."""

    def ended(self, state: str, problem: HeadwaterError | None) -> None:
        """Nothing."""


@dataclass
class Turning:
    """A pipeline in the background.

    >>> turning = Turning("shop", lambda: open_pipeline(text, file="shop.sql"))
    >>> turning.start()
    >>> turning.ask(lambda pipeline: pipeline.rows("totals"))
    """

    name: str
    opening: Callable[[], Pipeline]
    once: bool = False
    """True if it is done when it knows all that was committed when it began."""
    is_kept: bool = True
    """False if its State and what it made at the sources go when it ends: a query without a name."""
    watch: Watch = field(default_factory=Nobody)
    state: str = STARTING
    pipeline: Pipeline | None = None
    problem: HeadwaterError | None = None
    """Why it failed."""
    left: HeadwaterError | None = None
    """Why what it made, and should have taken with it, is still there."""
    opened: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _asked: deque[tuple[Callable[[Pipeline], Any], Future[Any]]] = field(default_factory=deque)
    _is_closed: bool = False

    @property
    def is_over(self) -> bool:
        """True if nothing runs any more."""
        return self.ended.is_set()

    def start(self) -> None:
        """Begin; returns at once."""
        self._begin(self._work)

    def stop(self) -> None:
        """Let the step at hand end, then close, or try again to remove what it left; returns at once."""
        self._stop.set()
        if self.is_over and self.left is not None:
            self.ended.clear()
            self._begin(self._discard_again)

    def join(self, seconds: float | None = None) -> bool:
        """Wait for its end; False if that takes longer."""
        return waited(self.ended, seconds)

    def ask(self, question: Callable[[Pipeline], Told], seconds: float = 60.0) -> Told:
        """What the pipeline says to a question between two of its steps, in its own thread."""
        answer = self._put(question)
        try:
            return answer.result(seconds)
        except CancelledError:
            raise UsageError(f"'{self.name}' does not run", hint="Start it again.") from None
        except TookTooLong:
            answer.cancel()
            raise UsageError(
                f"'{self.name}' has not answered within {seconds:g} s",
                detail=f"It is {self.state}.",
                hint="Its step takes long, or its database is away. Ask again later.",
            ) from None

    def catch_up(self, seconds: float, then: Callable[[], None] = lambda: None) -> bool:
        """Wait until it knows what is committed now, or is over; False if that takes longer.

        `then` is called in the thread of the pipeline, before it goes on.
        """
        deadline = time.monotonic() + seconds

        def has_reached(pipeline: Pipeline) -> bool:
            if is_there := pipeline.has_reached(target):
                then()
            return is_there

        try:
            target = self._put(lambda pipeline: pipeline.now()).result(seconds)
            while not self._put(has_reached).result(_left(deadline)):
                self.ended.wait(POLL_SECONDS)
        except TookTooLong:
            return False
        except CancelledError:
            pass
        return True

    def _put(self, question: Callable[[Pipeline], Told]) -> Future[Told]:
        answer: Future[Told] = Future()
        self._asked.append((question, answer))
        if self.is_over:
            self._refuse()
        return answer

    def _begin(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, name=f"headwater {self.name}", daemon=True).start()

    def _work(self) -> None:
        try:
            self._follow()
        finally:
            # An exception that is none of ours goes on, and Python prints it; but nothing must seem to run.
            if self.state not in OVER:
                self._end(FAILED, _unforeseen(sys.exc_info()[1]))
            self._over()

    def _follow(self) -> None:
        try:
            self.pipeline = self.opening()
            self.watch.opened(self.pipeline)
            self.state = RUNNING
            self.opened.set()
            self._turn(self.pipeline)
            self.watch.ending(self.pipeline)
            self._close(DONE if self.once and not self._stop.is_set() else STOPPED)
        except HeadwaterError as problem:
            self._close(FAILED, problem)

    def _turn(self, pipeline: Pipeline) -> None:
        target = pipeline.now() if self.once else None
        while not self._stop.is_set():
            pipeline.step(wait=0.0 if self._asked else WAIT_SECONDS)
            self.watch.stepped(pipeline)
            self._answer(pipeline)
            if target is not None and pipeline.has_reached(target):
                break

    def _answer(self, pipeline: Pipeline) -> None:
        """Answer everyone who asked until now; what goes wrong is the business of who asked."""
        for _ in range(len(self._asked)):
            question, answer = self._asked.popleft()
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                answer.set_result(question(pipeline))
            except Exception as problem:  # noqa: BLE001  # raised again by the one who asked
                answer.set_exception(problem)

    def _refuse(self) -> None:
        """Nobody waits for an answer that will not come."""
        while self._asked:
            self._asked.popleft()[1].cancel()

    def _close(self, state: str, problem: HeadwaterError | None = None) -> None:
        """Close the pipeline, then tell how it ended."""
        self._is_closed = True
        try:
            self._let_go()
        except HeadwaterError as late:
            state, problem = FAILED, problem or late
        if self.left is not None:
            state, problem = FAILED, problem or self.left
        self._end(state, problem)

    def _end(self, state: str, problem: HeadwaterError | None) -> None:
        self.state, self.problem = state, problem
        self.watch.ended(state, problem)

    def _over(self) -> None:
        """Let go of the folder, whatever happened, and of everyone who waits."""
        try:
            if not self._is_closed:
                self._let_go()
        finally:
            self.ended.set()
            self.opened.set()
            self._refuse()

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


def waited(event: threading.Event, seconds: float | None = None) -> bool:
    """Wait in small pieces, so that an interrupt is heard; False if it takes longer than so many seconds."""
    deadline = None if seconds is None else time.monotonic() + seconds
    while not event.wait(POLL_SECONDS):
        if deadline is not None and time.monotonic() > deadline:
            return False
    return True


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _unforeseen(bug: BaseException | None) -> HeadwaterError:
    return HeadwaterError(
        "the pipeline ended by a mistake of ours",
        detail=f"{type(bug).__name__}: {bug}",
        hint="Please report it; a pipeline with a name, or one that writes, goes on where it ended.",
    )
