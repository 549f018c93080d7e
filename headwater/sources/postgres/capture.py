"""The capture of Postgres: a process of its own that reads the server's log into ours.

python -m headwater.sources.postgres.capture        # the configuration is one line on standard input
"""

from __future__ import annotations

import sqlite3
import sys
from typing import Any

import psycopg2

from headwater.errors import StateError
from headwater.log.store import LogWriter
from headwater.sources.captured.process import Progress, run, say
from headwater.sources.postgres.begin import begin
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureConfig, from_line
from headwater.sources.postgres.connect import meaning
from headwater.sources.postgres.layouts import Layouts
from headwater.sources.postgres.options import SNAPSHOT
from headwater.sources.postgres.stream import Stream


def capture(config: CaptureConfig) -> None:
    """Begin, then stream; what the server or the disk refuses comes out as our errors."""
    try:
        log = LogWriter(config.folder, notation="lsn")
        pairs = begin(config, log, Progress())
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


def _known_types(pairs: tuple[Pair, ...]) -> dict[int, Any]:
    return {column.type_oid: column.type for pair in pairs for column in pair.found.columns}


if __name__ == "__main__":
    sys.exit(run(lambda line: capture(from_line(line))))
