"""The process of a capture, seen from within.

It is told its configuration in one line on its standard input, and speaks in lines of JSON: `report` (how far the
first rows are), `started`, `appended` (a position is durable), `ended` (there is nothing more to read) and `error`. It
ends when its standard input closes or its parent is another: everything durable is in the log, so that it can be
killed at any moment.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from headwater.errors import HeadwaterError
from headwater.sources.base import Lost, Report, Unreachable

WATCH_SECONDS = 0.5
PROGRESS_SECONDS = 0.1


_TURN = threading.Lock()


def say(what: str, **facts: Any) -> None:
    """One line to the parent, from whichever thread."""
    line = json.dumps({"say": what, **facts}) + "\n"
    with _TURN:
        sys.stdout.write(line)
        sys.stdout.flush()


def run(capture: Callable[[str], None]) -> int:
    """Capture, by a line of configuration, until there is nothing more to read, an error, or the end of the parent."""
    parent = os.getppid()
    line = sys.stdin.readline()
    # A thread, because the main one may be held in a call to the server.
    threading.Thread(target=_watch, args=(parent,), name="watch", daemon=True).start()
    try:
        capture(line)
    except Unreachable as error:
        say(
            "error",
            retry=True,
            lost=isinstance(error, Lost),
            error={**error.to_json(), "type": "SourceError"},
        )
        return 1
    except HeadwaterError as error:
        say("error", retry=False, lost=False, error=error.to_json())
        return 1
    return 0


class Progress:
    """Says how far it is, a few times a second."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, report: Report) -> None:
        now = time.monotonic()
        if report.done in (0, report.total) or now >= self._next:
            self._next = now + PROGRESS_SECONDS
            say("report", **asdict(report))


def _watch(parent: int) -> None:
    """End with the parent: its end closes our standard input, or at least gives us another parent."""
    while os.getppid() == parent:
        ready, _, _ = select.select([sys.stdin], [], [], WATCH_SECONDS)
        if ready and not os.read(sys.stdin.fileno(), 4096):
            break
    os._exit(0)
