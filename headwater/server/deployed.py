"""A deployment that runs: its pipeline turns, is started again when it fails, or when it is time."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any

from headwater.errors import HeadwaterError, SqlError
from headwater.runtime.facts import Listener
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.turning import DONE, Nobody, Turning, waited
from headwater.server.facts import Facts
from headwater.server.records import CANCELED, FAILED, FINISHED, INITIALIZING, RUNNING, Deployment
from headwater.server.schedule import first_run, next_run

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""In seconds, between a failure and the next start; it doubles with each failure in a row."""

CLOCK_SECONDS = 5.0
"""So late, at most, is heard of a clock that was set, or of a machine that slept."""

Opening = Callable[[Listener], Pipeline]
Changed = Callable[[Deployment, dict[str, Any]], Deployment]
"""Keeps a deployment with other values in some of its fields."""


class Deployed(Nobody):
    """One deployment in the background, from its start until it is stopped, done, or has failed for good."""

    def __init__(self, name: str, deployment: Deployment, *, opening: Opening, changed: Changed) -> None:
        self.name = name
        self.deployment = deployment
        self.facts = Facts()
        self.turning = self._new_turning(opening)
        self._former: Pipeline | None = None
        """That of the last run that stood. It is closed, and what is saved is as it left it until the next one stands."""
        self._opening = opening
        self._changed = changed
        self._is_wanted = True
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"headwater deployed {name}", daemon=True)

    @property
    def is_over(self) -> bool:
        """True if it will not run again by itself."""
        return self._ended.is_set()

    @property
    def pipeline(self) -> Pipeline | None:
        """The pipeline, while it runs; it is there before anybody is told that it does."""
        turning = self.turning
        return turning.pipeline if not turning.is_over else None

    @property
    def last_pipeline(self) -> Pipeline | None:
        """The pipeline that runs, or ran last, also while the next one is opened or cannot be; None before the first."""
        return self.turning.pipeline or self._former

    def has_run(self, pipeline: Pipeline) -> bool:
        """True of the pipeline that runs, or ran last; of that of the run before, too, until this one took a step."""
        return pipeline is self.turning.pipeline or pipeline is self._former

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Let the step at hand end, then close, to go on when the server starts again; returns at once."""
        self._stop.set()
        self.turning.stop()

    def cancel(self) -> None:
        """The same for good: nobody wants it any more."""
        self._is_wanted = False
        self.stop()

    def join(self, seconds: float | None = None) -> bool:
        """Wait for its end; False if that takes longer."""
        return waited(self._ended, seconds)

    def opened(self, pipeline: Pipeline) -> None:
        """Its pipeline stands."""
        self._note(status=RUNNING, problem=None)

    def stepped(self, pipeline: Pipeline) -> None:
        """It is the one to be read now."""
        self._former = None

    def _work(self) -> None:
        try:
            self._follow()
        finally:
            self._ended.set()

    def _follow(self) -> None:
        failures = 0
        at: float | None = self._begins()
        while self._wait_until(at):
            began = time.time()
            self._run()
            if self._stop.is_set():
                break
            if self.turning.state == DONE:
                failures = 0
                at = self._finished(began)
            else:
                failures = 1 if time.time() - began > LONGEST_PAUSE else failures + 1
                at = self._failed(began, failures)
            if at is None:
                return
        self._note(
            status=CANCELED,
            is_wanted=self._is_wanted,
            next_run_at=self.deployment.next_run_at if self._is_wanted else None,
            ended_at=time.time(),
        )

    def _begins(self) -> float:
        """The first time, or where the schedule stood when the server ended."""
        if self.deployment.mode != "schedule" or self._was_cut_off:
            return time.time()
        return self.deployment.next_run_at or first_run(self.deployment, time.time())

    @property
    def _was_cut_off(self) -> bool:
        """True if the server ended in the middle of its last run: that is done now, and not at its next time."""
        last = self.deployment
        if last.started_at is None or last.next_run_at is not None:
            return False
        return last.ended_at is None or last.ended_at < last.started_at or last.status == CANCELED

    def _run(self) -> None:
        """One run of the pipeline, from opening to its end."""
        self._former = self.last_pipeline
        self.turning = self._new_turning(self._opening)
        self._note(
            status=INITIALIZING, runs=self.deployment.runs + 1, started_at=time.time(), next_run_at=None
        )
        self.turning.start()
        if self._stop.is_set():
            self.turning.stop()
        self.turning.join()

    def _new_turning(self, opening: Opening) -> Turning:
        once = self.deployment.mode != "continuous"
        return Turning(self.name, lambda: opening(self.facts), once=once, watch=self)

    def _finished(self, began: float) -> float | None:
        if self.deployment.mode != "schedule":
            self._note(status=FINISHED, is_wanted=False, ended_at=time.time())
            return None
        at = next_run(self.deployment, began)
        self._note(status=FINISHED, next_run_at=at, ended_at=time.time())
        return at

    def _failed(self, began: float, failures: int) -> float | None:
        """When it is tried again; None if that would not help, or is not wanted."""
        problem = self.turning.problem or HeadwaterError("the pipeline ended without a reason")
        self.facts.error(problem)
        may_help = self.deployment.restart_enabled and not isinstance(problem, SqlError)
        at = None
        if may_help:
            at = time.time() + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1))
        elif self.deployment.mode == "schedule":
            at = next_run(self.deployment, began)
        if may_help:
            self.facts.counts["restarts"] += 1
        self._note(
            status=FAILED,
            problem=problem.to_json(),
            is_wanted=at is not None,
            next_run_at=at,
            ended_at=time.time(),
            restarts=self.deployment.restarts + int(may_help),
        )
        return at

    def _wait_until(self, at: float | None) -> bool:
        """Wait until a moment; False if it is stopped before."""
        if at is not None and at > time.time() and self.deployment.next_run_at != at:
            self._note(next_run_at=at)
        at = at or 0.0
        # By both clocks: one that is set back delays nothing, one that is set forward is heard.
        due = time.monotonic() + at - time.time()
        while (left := min(at - time.time(), due - time.monotonic())) > 0:
            if self._stop.wait(min(left, CLOCK_SECONDS)):
                return False
        return not self._stop.is_set()

    def _note(self, **fields: Any) -> None:
        known = {field.name for field in dataclasses.fields(Deployment)}
        assert fields.keys() <= known
        self.deployment = self._changed(self.deployment, fields)
