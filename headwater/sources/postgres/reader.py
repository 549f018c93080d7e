"""A process that reads parts of tables, one after the other, as of a moment that others see too.

It is one process and not a thread because every row passes through Python once, and there only one thread gets on. It
ends when there is nothing more to read, or with the one who started it.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import psycopg2
import psycopg2.errors

from headwater.errors import HeadwaterError, StateError
from headwater.log.segments import Segment
from headwater.sources.base import Unreachable
from headwater.sources.postgres.connect import connect, meaning
from headwater.sources.postgres.copy_text import CopiedTable
from headwater.sources.postgres.ranges import Range
from headwater.sources.postgres.snapshot import FirstRows, Moment, Snapshot

LOCK_SECONDS = 1.0


@dataclass(frozen=True)
class Job:
    """A part of a table to read, and what its files are called."""

    part: Range
    stem: str


@dataclass(frozen=True)
class Wrote:
    """So many rows more."""

    rows: int


@dataclass(frozen=True)
class Done:
    """A part is read; its segments are durable."""

    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Failed:
    """It cannot go on."""

    error: dict[str, object]
    may_pass: bool
    """True if the server only does not answer now."""


@dataclass(frozen=True)
class Refused:
    """The server has no connection for it, or no lock: somebody waits to change the table."""


def serve(pipe: Connection, moment: Moment, tables: Sequence[CopiedTable]) -> None:
    """Read what is asked for until the other end is closed."""
    threading.Thread(target=_end_with_parent, name="watch", daemon=True).start()
    try:
        opened = connect(moment.address)
    except HeadwaterError:
        pipe.send(Refused())
        return
    with suppress(BrokenPipeError):
        # Whoever asked may be gone, and with him the one who would name our files.
        _serve(pipe, opened, moment, tables)


def _serve(pipe: Connection, opened: Any, moment: Moment, tables: Sequence[CopiedTable]) -> None:
    try:
        snapshot = Snapshot(opened, moment.snapshot)
        # Who started us has every lock already, and waits for us: whoever waits for him must not make us wait.
        snapshot.wait_for_locks(LOCK_SECONDS)
        while (job := _next(pipe)) is not None:
            pipe.send(Done(read(snapshot, job, moment, tables=tables, heard=lambda n: pipe.send(Wrote(n)))))
        snapshot.close()
    except BrokenPipeError:  # an OSError too, but not one of the disk
        raise
    except psycopg2.errors.LockNotAvailable:
        pipe.send(Refused())
    except psycopg2.Error as error:
        pipe.send(_failed(meaning(error)))
    except HeadwaterError as error:
        pipe.send(_failed(error))
    except OSError as error:
        pipe.send(_failed(unwritable(moment, error)))


def read(
    snapshot: Snapshot,
    job: Job,
    moment: Moment,
    *,
    tables: Sequence[CopiedTable],
    heard: Callable[[int], None],
) -> tuple[Segment, ...]:
    """Read one part of a table."""
    table = next(table for table in tables if table.name == job.part.table)
    rows = FirstRows(table, moment, seq=job.part.seq, stem=job.stem, heard=heard)
    snapshot.copy(job.part.sql, rows)
    return rows.close()


def unwritable(moment: Moment, error: OSError) -> StateError:
    """The disk refuses."""
    return StateError(
        "the log cannot be written",
        detail=f"{moment.folder}: {error}.",
        hint="Is the disk full, and may the folder be written to?",
    )


def _end_with_parent() -> None:
    """End at once when nobody is left who would name our files, whatever the server holds us with."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def _next(pipe: Connection) -> Job | None:
    try:
        job: Job = pipe.recv()
        return job
    except EOFError:
        return None


def _failed(error: HeadwaterError) -> Failed:
    may_pass = isinstance(error, Unreachable)
    # Another process knows the family, not the sub-family.
    said = {**error.to_json(), "type": "SourceError"} if may_pass else error.to_json()
    return Failed(said, may_pass)
