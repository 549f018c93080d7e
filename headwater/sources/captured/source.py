"""The tables of one database, read from the log that a capture writes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from headwater.errors import SourceError
from headwater.log.events import Delivery
from headwater.log.positions import Position
from headwater.log.store import LogReader
from headwater.sources.base import Report, Retained
from headwater.sources.captured.supervisor import Launch, Supervisor

T = TypeVar("T")


class Database(Protocol):
    """What a source has to know of the database it reads."""

    @property
    def folder(self) -> Path:
        """Where its log lies."""

    @property
    def is_streamed(self) -> bool:
        """False if only its first rows are read."""

    def launch(self, after: Position | None) -> Launch:
        """How its capture is started, when everything up to `after` is durably done."""

    def now(self, log: LogReader) -> Position:
        """A position that the capture will reach and before which all stands that is committed now."""


class CapturedSource:
    """All tables of a pipeline in one database, with one position."""

    def __init__(self, database: Database, report: Callable[[Report], None]) -> None:
        self._database, self._tell = database, report
        self._capture: Supervisor | None = None
        self._log: LogReader | None = None

    def start(self, after: Position | None) -> Position | None:
        """Check, make what is needed at the server or find it, take snapshots, begin to stream."""
        capture = Supervisor(self._database.launch(after))
        try:
            while not (capture.started or capture.over):
                heard = capture.heard
                self._report(capture)
                if not (capture.started or capture.over):
                    capture.wait(heard, 1.0)
            self._report(capture)
            capture.check()
            self._log = LogReader(self._database.folder)
        except BaseException:
            capture.stop()
            raise
        self._capture = capture
        whole = self._log.whole_at()
        return whole if after is None or whole > after else None

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """Whole transactions after `after`; see the contract."""
        return self.until(lambda log: log.read(after, limit, upto=upto), wait)

    def until(self, ask: Callable[[LogReader], T | None], wait: float) -> T | None:
        """What somebody asks of the log, as soon as it has an answer; None if it has none within `wait` seconds."""
        capture, log = self._running()
        deadline = time.monotonic() + wait
        while True:
            heard = capture.heard
            # Before the rows: where they never end, it would never be told.
            self._report(capture)
            answer = ask(log)
            if answer is not None:
                return answer
            capture.check()
            left = deadline - time.monotonic()
            if left <= 0 or not capture.wait(heard, left):
                return None

    def now(self) -> Position:
        """A position that `read` will reach and before which all stands that is committed now."""
        _, log = self._running()
        if not self._database.is_streamed and log.last is not None:
            return log.last
        return self._database.now(log)

    def commit(self, position: Position) -> None:
        """Forget what is done."""
        _, log = self._running()
        log.trim(position)

    def close(self) -> None:
        """Stop the capture; what is at the server and the log stay."""
        if self._capture is not None:
            self._capture.stop()
            self._capture = None
        if self._log is not None:
            self._log.close()
            self._log = None

    def retained(self) -> Retained | None:
        """What the database keeps of its log for us, where somebody looks after that."""
        capture = self._capture
        return None if capture is None else capture.retained

    @property
    def folder(self) -> Path:
        """Where the log lies."""
        return self._database.folder

    @property
    def capture_pid(self) -> int:
        """The process that captures now."""
        return self._running()[0].pid

    def _running(self) -> tuple[Supervisor, LogReader]:
        if self._capture is None or self._log is None:
            raise SourceError("the source is not started", hint="Call start first.")
        return self._capture, self._log

    def _report(self, capture: Supervisor) -> None:
        for report in capture.reports():
            self._tell(report)
