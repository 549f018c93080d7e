"""Keeps a capture running: starts it, listens to it, and starts it again when it was killed or cut off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import headwater
from headwater.errors import HeadwaterError, SourceError, from_json
from headwater.sources.base import Report, Retained

BACKOFF_FIRST, BACKOFF_MOST = 0.1, 5.0
EARLY_TRIES = 6
"""So often in a row a connection may break before anything has started: whoever waits for a start wants to know."""
STOP_SECONDS = 2.0


@dataclass(frozen=True)
class Launch:
    """How a capture is started."""

    module: str
    """What Python runs: `headwater.sources.postgres.capture`."""
    folder: Path
    line: Callable[[bool], str]
    """Its configuration; True if it takes the place of a capture that died."""
    subject: str
    """What it reads, for messages: `postgres at db:5432/shop`."""


class Supervisor:
    """One capture, whichever process it is at the moment."""

    def __init__(self, launch: Launch) -> None:
        self._how = launch
        self._news = threading.Condition()
        self._reports: deque[Report] = deque()
        self._retained: Retained | None = None
        self._heard = 0
        self._error: HeadwaterError | None = None
        self._started = self._ended = self._stopping = False
        self._attempts = 0
        self._process = self._launch(again=False)
        self._thread = threading.Thread(target=self._listen, name="capture", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        """The process that captures now."""
        return self._process.pid

    @property
    def heard(self) -> int:
        """How often there was news; for `wait`."""
        with self._news:
            return self._heard

    @property
    def started(self) -> bool:
        """True once the tables are in the log and the stream may begin."""
        with self._news:
            return self._started

    @property
    def retained(self) -> Retained | None:
        """What the database keeps of its log for us, as it was told last."""
        with self._news:
            return self._retained

    @property
    def over(self) -> bool:
        """True if nothing more will come."""
        with self._news:
            return self._ended or self._error is not None

    def check(self) -> None:
        """Raise what the capture could not go on from."""
        with self._news:
            if self._error is not None:
                raise self._error

    def wait(self, heard: int, seconds: float) -> bool:
        """Wait until there is more news than `heard`; False if there was none in time."""
        with self._news:
            return self._news.wait_for(lambda: self._heard > heard, timeout=seconds)

    def reports(self) -> list[Report]:
        """What it said of its progress since the last call."""
        with self._news:
            said = list(self._reports)
            self._reports.clear()
            return said

    def stop(self) -> None:
        """End the capture; what is durable stays."""
        with self._news:
            self._stopping = True
            self._news.notify_all()
            process = self._process
        self._end(process)
        self._thread.join()

    def _end(self, process: subprocess.Popen[str]) -> None:
        _close_input(process)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _launch(self, *, again: bool) -> subprocess.Popen[str]:
        try:
            return self._process_of(again=again)
        except OSError as error:
            raise SourceError(
                "the capture cannot be started",
                detail=f"{error}.",
                hint="Is the disk full, or are there too many processes or open files? Starting again goes on where it"
                " ended.",
            ) from error

    def _process_of(self, *, again: bool) -> subprocess.Popen[str]:
        folder = self._how.folder
        folder.mkdir(parents=True, exist_ok=True)
        package = str(Path(headwater.__file__).parent.parent)
        path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
        with (folder / "capture.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", self._how.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONPATH": path},
                # Ctrl-C is for the parent, which then stops the capture in order.
                start_new_session=True,
            )
        assert process.stdin is not None
        try:
            process.stdin.write(self._how.line(again) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            # It died at once; that is noticed by whoever listens to it.
            process.wait()
        return process

    def _listen(self) -> None:
        """Until the end: hear the capture out, then decide whether another takes its place."""
        while True:
            retry = self._hear_out(self._process)
            code = self._process.wait()
            with self._news:
                if self._stopping or self._ended or self._error is not None:
                    return
                if code >= 0 and not retry:
                    self._fail(self._unexplained(code))
                    return
                self._attempts = 1 if self._recent else self._attempts + 1
                why = f": {self._why}" if self._why else ""
                said = f"connecting to {self._how.subject} again{why}"
                self._tell(Report("reconnect", said, self._attempts))
                pause = min(BACKOFF_FIRST * 2 ** (self._attempts - 1), BACKOFF_MOST)
                if self._news.wait_for(lambda: self._stopping, timeout=pause):
                    return
                _close_input(self._process)
                try:
                    self._process = self._launch(again=True)
                except SourceError as error:
                    self._fail(error)
                    return

    def _hear_out(self, process: subprocess.Popen[str]) -> bool:
        """Take in all a capture says; True if it ended for a reason that may pass."""
        assert process.stdout is not None
        self._recent, self._why, retry = False, "", False
        for line in process.stdout:
            try:
                said = json.loads(line)
            except json.JSONDecodeError:
                # The last line of a process that was killed may be cut.
                break
            with self._news:
                retry = self._take(said) or retry
        process.stdout.close()
        return retry

    def _take(self, said: dict[str, Any]) -> bool:
        match said["say"]:
            case "report":
                # First rows that come are a reason to go on; notes of those who look on are not.
                self._recent |= said["stage"] == "snapshot" and bool(said["done"])
                self._tell(Report(**{name: said[name] for name in said if name != "say"}))
            case "retained":
                # Nobody waits for it: whoever wants to know asks.
                self._retained = Retained(**{name: said[name] for name in said if name != "say"})
                return False
            case "started":
                self._started = self._recent = True
            case "ended":
                self._ended = True
            case "error":
                early = bool(said["lost"]) and (self._recent or self._attempts + 1 < EARLY_TRIES)
                if said["retry"] and (self._started or early):
                    self._why = from_json(said["error"]).message
                    return True
                self._fail(from_json(said["error"]))
        self._heard += 1
        self._news.notify_all()
        return False

    def _tell(self, report: Report) -> None:
        self._reports.append(report)
        self._heard += 1
        self._news.notify_all()

    def _fail(self, error: HeadwaterError) -> None:
        self._error = error
        self._heard += 1
        self._news.notify_all()

    def _unexplained(self, code: int) -> SourceError:
        log = self._how.folder / "capture.log"
        return SourceError(
            "the capture ended without a reason",
            detail=f"Exit code {code}. {log.read_text(errors='replace').strip()[-800:]}",
            hint=f"See {log}. Starting again goes on where it ended.",
        )


def _close_input(process: subprocess.Popen[str]) -> None:
    """The sign to end; one that is dead cannot take what was still to be written to it."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
