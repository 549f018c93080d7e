"""The capture: a process of its own that reads the server's log into ours.

    python -m headwater.sources.postgres.capture        # the configuration is one line on standard input

It speaks in lines of JSON: `report` (how far the first rows are), `started`, `appended` (a position is
durable), `ended` (there is nothing more to read) and `error`. It ends when its standard input closes or its
parent is another: everything durable is in the log, so that it can be killed at any moment.
"""

from __future__ import annotations

import json
import os
import select
import sqlite3
import sys
import threading
import time
from dataclasses import asdict
from typing import Any

import psycopg2

from headwater.errors import HeadwaterError, StateError
from headwater.log.store import LogWriter
from headwater.sources.base import Report
from headwater.sources.postgres.begin import begin
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureConfig, from_line
from headwater.sources.postgres.connect import Unreachable, meaning
from headwater.sources.postgres.layouts import Layouts
from headwater.sources.postgres.options import SNAPSHOT
from headwater.sources.postgres.stream import Stream

WATCH_SECONDS = 0.5
PROGRESS_SECONDS = 0.1


def say(what: str, **facts: Any) -> None:
    """One line to the parent."""
    sys.stdout.write(json.dumps({"say": what, **facts}) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Capture until there is nothing more to read, an error, or the end of the parent."""
    parent = os.getppid()
    config = from_line(sys.stdin.readline())
    # A thread, because the main one may be held in a call to the server.
    threading.Thread(target=_watch, args=(parent,), name="watch", daemon=True).start()
    try:
        capture(config)
    except Unreachable as error:
        say("error", retry=True, error={**error.to_json(), "type": "SourceError"})
        return 1
    except HeadwaterError as error:
        say("error", retry=False, error=error.to_json())
        return 1
    return 0


def capture(config: CaptureConfig) -> None:
    """Begin, then stream; what the server or the disk refuses comes out as our errors."""
    try:
        log = LogWriter(config.folder, notation="lsn")
        pairs = begin(config, log, _Progress())
        if config.startup == SNAPSHOT:
            say("started")
            say("ended")
            return
        layouts = Layouts(config.tables, log.manifest.tables(), config.address)
        layouts.know(_known_types(pairs))
        Stream(config, log, layouts, lambda position: say("appended", position=position)).run(
            lambda: say("started")
        )
    except psycopg2.Error as error:
        raise meaning(error) from error
    except (OSError, sqlite3.Error) as error:
        raise StateError(
            "the log cannot be written",
            detail=f"{config.folder}: {error}.",
            hint="Is the disk full, and may the folder be written to?",
        ) from error


class _Progress:
    """Says how far it is, a few times a second."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, report: Report) -> None:
        now = time.monotonic()
        if report.done == 0 or now >= self._next:
            self._next = now + PROGRESS_SECONDS
            say("report", **asdict(report))


def _known_types(pairs: tuple[Pair, ...]) -> dict[int, Any]:
    return {column.type_oid: column.type for pair in pairs for column in pair.found.columns}


def _watch(parent: int) -> None:
    """End with the parent: its end closes our standard input, or at least gives us another parent."""
    while os.getppid() == parent:
        ready, _, _ = select.select([sys.stdin], [], [], WATCH_SECONDS)
        if ready and not os.read(sys.stdin.fileno(), 4096):
            break
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
