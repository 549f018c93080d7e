"""Pipelines that INSERT INTO statements started, in the background: by their ids, until they are stopped."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headwater.errors import Place, ServiceError, SqlError
from headwater.nearest import nearest_hint
from headwater.runtime.conversation import Job
from headwater.runtime.facts import BatchDone, Listener
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.turning import Turning, waited
from headwater.sources.base import Report

STOP_SECONDS = 60.0
NAME_LETTERS = 48

Opening = Callable[[Listener], Pipeline]


def job_id(targets: Sequence[str]) -> str:
    """The id of a job by the tables it writes, so that the same INSERT INTO goes on later where it ended.

    >>> job_id(["totals"]), job_id(["Fact Orders", "dim"])
    ('into-totals', 'into-fact_orders-dim')
    """
    plain = [re.sub(r"\W+", "_", target.lower(), flags=re.ASCII).strip("_") or "table" for target in targets]
    name = "-".join(("into", *plain))
    if len(name) <= NAME_LETTERS:
        return name
    return f"{name[: NAME_LETTERS - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@dataclass
class _Heard:
    """What a job has told so far; while it is opened, someone waits and hears it too."""

    waiting: Listener | None
    last: BatchDone | None = None
    rows_read: int = 0

    def report(self, report: Report) -> None:
        if self.waiting is not None:
            self.waiting.report(report)

    def batch(self, done: BatchDone) -> None:
        self.last = done
        self.rows_read += done.rows_read


@dataclass
class _Running:
    what: str
    turning: Turning
    heard: _Heard

    @property
    def job(self) -> Job:
        last, problem = self.heard.last, self.turning.problem
        return Job(
            self.turning.name,
            self.what,
            self.turning.state,
            batch=None if last is None else last.batch_id,
            rows_read=self.heard.rows_read,
            lag=None if last is None or self.turning.is_over else last.lag,
            cut="" if last is None else str(last.cut),
            problem="" if problem is None else problem.message,
        )


@dataclass
class Jobs:
    """All jobs of one process."""

    _running: dict[str, _Running] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def all(self) -> tuple[Job, ...]:
        """In the order in which they were started, also those that are over."""
        return tuple(running.job for running in list(self._running.values()))

    def free_id(self, wanted: str) -> str:
        """The id, with a number behind it if a job that runs has it."""
        taken = {job.id for job in self.all() if not job.is_over}
        numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
        return next(name for name in (wanted, *numbered) if name not in taken)

    def start(self, name: str, what: str, opening: Opening, *, listener: Listener, once: bool = False) -> Job:
        """Start a job; returns when it stands (with `once`: when it is done), or raises what is wrong with it."""
        heard = _Heard(listener)
        turning = Turning(name, lambda: opening(heard), once=once)
        with self._lock:
            self._refuse_running(name)
            self._running.pop(name, None)
            self._running[name] = _Running(what, turning, heard)
        turning.start()
        try:
            waited(turning.ended if once else turning.opened)
        except KeyboardInterrupt:
            turning.stop()
            raise
        heard.waiting = None
        if turning.problem is not None and (turning.pipeline is None or once):
            with self._lock:
                self._running.pop(name, None)
            raise turning.problem
        return self._running[name].job

    def stop(self, name: str, place: Place | None = None) -> Job:
        """Stop a job and wait for its end."""
        running = self._get(name, place)
        running.turning.stop()
        if not running.turning.join(STOP_SECONDS):
            raise _still_running(name)
        return running.job

    def turnings(self) -> list[Turning]:
        """The pipelines that run."""
        return [one.turning for one in list(self._running.values()) if not one.turning.is_over]

    def close(self) -> None:
        """Stop all of them at once; what is done stays done."""
        turning = self.turnings()
        for one in turning:
            one.stop()
        deadline = time.monotonic() + STOP_SECONDS
        late = [one for one in turning if not one.join(max(0.0, deadline - time.monotonic()))]
        if late:
            raise _still_running(late[0].name)

    def _get(self, name: str, place: Place | None) -> _Running:
        found = self._running.get(name)
        if found is None:
            hint = nearest_hint(name, list(self._running), "jobs") if self._running else "There are none."
            raise SqlError(f"there is no job '{name}'", hint=hint, place=place)
        return found

    def _refuse_running(self, name: str) -> None:
        former = self._running.get(name)
        if former is not None and not former.turning.is_over:
            raise SqlError(
                f"job '{name}' runs already",
                hint=f"Stop it first: STOP JOB '{name}'. Or give this one another name: SET 'pipeline.name' = '...'.",
            )


def _still_running(name: str) -> ServiceError:
    return ServiceError(
        f"'{name}' has not stopped yet",
        detail=f"Its step takes longer than {STOP_SECONDS:.0f} s.",
        hint="Wait and stop it again: nothing is lost.",
    )
