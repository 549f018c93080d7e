"""The capture of Postgres: a process of its own that reads the server's log into ours.

python -m headwater.sources.postgres.capture        # the configuration is one line on standard input
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import nullcontext
from dataclasses import asdict, replace

import psycopg2
import psycopg2.errors

from headwater.errors import SourceError, StateError
from headwater.log.store import LogWriter
from headwater.sources.base import Report
from headwater.sources.captured.process import Progress, run, say
from headwater.sources.postgres.begin import Begun, begin
from headwater.sources.postgres.changed import TablesChanged
from headwater.sources.postgres.config import CaptureConfig, from_line
from headwater.sources.postgres.connect import meaning, session
from headwater.sources.postgres.finding import Opening
from headwater.sources.postgres.guard import Guard
from headwater.sources.postgres.layouts import Layouts
from headwater.sources.postgres.lookout import Lookout
from headwater.sources.postgres.meanwhile import lost_meanwhile
from headwater.sources.postgres.options import SNAPSHOT
from headwater.sources.postgres.resume import ANEW, GIVEN_UP
from headwater.sources.postgres.retained import Overgrown, given_up
from headwater.sources.postgres.server import drop_slot
from headwater.sources.postgres.stream import Stream
from headwater.sources.postgres.watch import Watch


def capture(config: CaptureConfig) -> None:
    """Begin, then stream; what the server or the disk refuses comes out as our errors."""
    try:
        log = LogWriter(config.folder, notation="lsn")
        if config.startup == SNAPSHOT:
            begin(config, log, Progress())
            say("started")
            say("ended")
            return
        _follow(config, log)
    except psycopg2.errors.UndefinedObject as error:
        # Until Postgres 17 the log can only be read where the publication was there all the time.
        raise SourceError(
            "slot or publication are not what they were", detail=_brief(error), hint=ANEW
        ) from error
    except psycopg2.Error as error:
        raise meaning(error) from error
    except (OSError, sqlite3.Error) as error:
        raise StateError(
            "the log cannot be written",
            detail=f"{config.folder}: {error}.",
            hint="Is the disk full, and may the folder be written to?",
        ) from error


def _follow(config: CaptureConfig, log: LogWriter) -> None:
    """First rows and stream, watched."""
    watch = Watch(
        config,
        lambda report: say("report", **asdict(report)),
        lambda retained: say("retained", **asdict(retained)),
    )
    progress = Progress()

    def watched(report: Report) -> None:
        progress(report)
        watch.check()

    early = True
    opening: Opening | None = None
    try:
        while True:
            with opening or nullcontext():
                begun = begin(config, log, watched, opening)
            opening = None
            with Lookout(config, begun, lambda report: say("report", **asdict(report))) as lookout:
                try:
                    _stream(config, log, begun, watch=watch, lookout=lookout, early=early)
                except psycopg2.errors.InternalError_ as error:
                    # Postgres cannot read every transaction before its commit, as one that changes a table, undoes that
                    # and changes it again. After the commit it can; if not, this is raised again.
                    if not early:
                        raise
                    early = False
                    said = f"transactions are read after their commit from now on: {_brief(error)}"
                    progress(Report("streaming", said))
                except TablesChanged as changed:
                    opening = changed.opening
            config = replace(config, again=True)
    except Overgrown as found:
        raise _give_up(config, log, found) from found
    finally:
        watch.stop()


def _stream(
    config: CaptureConfig,
    log: LogWriter,
    begun: Begun,
    *,
    watch: Watch,
    lookout: Lookout,
    early: bool,
) -> None:
    """Read the server's log until that ends, or one of those who look at the server raises."""
    messages = [table for table in config.tables if table.prefixes]
    tables = [*(pair.declared for pair in begun.pairs), *begun.leaving.tables, *messages]
    meanwhile = lost_meanwhile(config.address, log, begun.pairs)
    layouts = Layouts(
        tables,
        log.manifest.tables(),
        config.address,
        lost=[loss for _, loss in log.manifest.losses()],
        meanwhile=meanwhile,
    )
    lost = {loss.table for loss in meanwhile.losses if loss.column is None}
    guard = Guard(log, config.publication, [pair for pair in begun.pairs if pair.declared.name not in lost])
    watch.guard = guard

    def check() -> None:
        for one in (watch, lookout, guard):
            one.check()

    stream = Stream(
        config,
        log,
        layouts,
        appended=lambda position: say("appended", position=position),
        check=check,
        early=early,
    )
    stream.leaving = begun.leaving
    stream.run(lambda: say("started"))


def _give_up(config: CaptureConfig, log: LogWriter, found: Overgrown) -> SourceError:
    """Drop the slot; nobody of ours reads it any more."""
    with session(config.address) as cursor:
        drop_slot(cursor, config.slot)
    error = given_up(found.kept, config.care)
    log.manifest.remember(GIVEN_UP, error.detail)
    return error


def _brief(error: psycopg2.Error) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(run(lambda line: capture(from_line(line))))
