"""What was heard of a pipeline: its last batches, reports and errors, and sums since it was deployed."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field, replace

from headwater.errors import HeadwaterError
from headwater.runtime.facts import BatchDone, Listener
from headwater.sources.base import Report

RECENT = 100


@dataclass
class Facts:
    """A listener that remembers, and passes on what it hears to those who look on."""

    batches: deque[BatchDone] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last ones, without their rows."""
    reports: deque[tuple[float, Report]] = field(default_factory=lambda: deque(maxlen=RECENT))
    """With the moment of each, in seconds since 1970."""
    errors: deque[tuple[float, HeadwaterError]] = field(default_factory=lambda: deque(maxlen=RECENT))
    counts: Counter[str] = field(default_factory=Counter)
    """`batches`, `rows`, `errors`, `restarts`."""
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """The time that steps took, by stop of the way."""
    _listeners: tuple[Listener, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def recent(self) -> list[BatchDone]:
        """The last batches, the latest last; for those who look on from another thread."""
        with self._lock:
            return list(self.batches)

    def add(self, listener: Listener) -> None:
        """Let someone hear all that happens from now on, rows too; it must be quick, the wheel waits for it."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

    def remove(self, listener: Listener) -> None:
        """Let someone hear nothing more."""
        with self._lock:
            self._listeners = tuple(one for one in self._listeners if one is not listener)

    def report(self, report: Report) -> None:
        """Remember it."""
        self.reports.append((time.time(), report))
        for one in self._listeners:
            one.report(report)

    def batch(self, done: BatchDone) -> None:
        """Count it, and remember all of it but its rows."""
        self.counts.update(batches=1, rows=done.rows_read)
        for stop, seconds in done.seconds.items():
            self.seconds[stop] += seconds
        with self._lock:
            self.batches.append(replace(done, changes={}))
        for one in self._listeners:
            one.batch(done)

    def error(self, problem: HeadwaterError) -> None:
        """Remember why it failed."""
        self.counts["errors"] += 1
        self.errors.append((time.time(), problem))

    def take_sums(self, former: Facts) -> None:
        """Go on counting where a former deployment of the application ended."""
        self.counts.update(former.counts)
        for stop, seconds in former.seconds.items():
            self.seconds[stop] += seconds
