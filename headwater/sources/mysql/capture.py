"""The capture of MySQL and MariaDB: a process of its own that reads the server's log into ours.

python -m headwater.sources.mysql.capture        # the configuration is one line on standard input
"""

from __future__ import annotations

import sqlite3
import sys

import pymysql

from headwater.errors import StateError
from headwater.log.store import LogWriter
from headwater.sources.captured.process import Progress, run, say
from headwater.sources.mysql.ahead import Ahead
from headwater.sources.mysql.begin import Beginning, Begun
from headwater.sources.mysql.config import CaptureConfig, from_line
from headwater.sources.mysql.connect import meaning, session
from headwater.sources.mysql.definitions import Definitions
from headwater.sources.mysql.dump import Dump
from headwater.sources.mysql.layouts import Layouts
from headwater.sources.mysql.options import SNAPSHOT, TIMESTAMP
from headwater.sources.mysql.resume import COLUMNS
from headwater.sources.mysql.server import ServerFacts, facts_of
from headwater.sources.mysql.stream import Stream
from headwater.sources.mysql.tables import Tables


def capture(config: CaptureConfig) -> None:
    """Begin, then stream; what the server or the disk refuses comes out as our errors."""
    try:
        log = LogWriter(config.folder, notation="binlog")
        begun: list[Begun] = []
        ahead = Ahead(config, begun)
        definitions = Definitions(ahead.look, log.manifest.recall(COLUMNS), ahead.is_changed)
        with session(config.address) as cursor:
            facts = facts_of(cursor)
            begun.append(Beginning(config, log, facts, cursor, Progress()).run(definitions))
        if config.startup == SNAPSHOT:
            say("started")
            say("ended")
            return
        _stream(config, log, definitions, begun=begun[0], facts=facts)
    except pymysql.Error as error:
        raise meaning(error) from error
    except (OSError, sqlite3.Error) as error:
        raise StateError(
            "the log cannot be written",
            detail=f"{config.folder}: {error}.",
            hint="Is the disk full, and may the folder be written to?",
        ) from error


def _stream(
    config: CaptureConfig, log: LogWriter, definitions: Definitions, *, begun: Begun, facts: ServerFacts
) -> None:
    start = begun.start
    layouts = Layouts(config.tables, log.manifest.tables(), begun.zones)
    stream = Stream(
        log,
        layouts,
        Tables(layouts, definitions, folds_names=facts.folds_names),
        start=start,
        server=facts.uuid,
        appended=lambda position: say("appended", position=position),
    )
    if config.startup == TIMESTAMP and config.start.millis is not None:
        stream.not_before = config.start.millis / 1000
    dump = Dump(config.address, server_id=config.server_id, heartbeat=config.heartbeat, maria=facts.is_maria)
    try:
        if start.place is not None:
            dump.from_place(start.place)
        else:
            dump.from_gtids(start.seen)
        say("started")
        stream.run(dump)
    finally:
        dump.close()


if __name__ == "__main__":
    sys.exit(run(lambda line: capture(from_line(line))))
