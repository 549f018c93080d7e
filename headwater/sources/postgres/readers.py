"""Several processes that share the reading of first rows; the one who starts them hands out the parts."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from headwater.errors import HeadwaterError, SourceError, from_json
from headwater.log.segments import Segment
from headwater.sources.base import Lost
from headwater.sources.postgres.copy_text import CopiedTable
from headwater.sources.postgres.ranges import Range
from headwater.sources.postgres.reader import Done, Failed, Job, Refused, Wrote, serve
from headwater.sources.postgres.snapshot import Moment

FEWEST, MOST = 2, 4

END_SECONDS = 5.0


def reader_count() -> int:
    """How many readers a machine of so many cores takes."""
    return min(max(len(os.sched_getaffinity(0)), FEWEST), MOST)


@dataclass(frozen=True)
class Heard:
    """Who is told of what readers did."""

    began: Callable[[Range], None]
    wrote: Callable[[Range, int], None]
    done: Callable[[Range, tuple[Segment, ...]], None]


@dataclass
class _Reader:
    process: BaseProcess
    pipe: Connection
    job: Job | None = None


def read_together(
    moment: Moment, tables: Sequence[CopiedTable], jobs: Sequence[Job], *, readers: int, heard: Heard
) -> list[Job]:
    """Read all parts, several at a time; the first error ends it.

    A server that has no connection for a reader, or keeps it waiting, is read by fewer; what nobody is left for is the
    answer.
    """
    waiting = list(reversed(jobs))
    with _started(moment, tables, min(readers, len(jobs))) as started:
        for reader in started:
            _hand_out(reader, waiting, heard)
        while busy := {reader.pipe: reader for reader in started if reader.job is not None}:
            for pipe in wait(list(busy)):
                reader = busy[pipe]  # type: ignore[index]  # what was waited for is what was given
                if not _listen(reader, heard):
                    waiting += [reader.job] if reader.job is not None else []
                    reader.job = None
                elif reader.job is None:
                    _hand_out(reader, waiting, heard)
    return list(reversed(waiting))


@contextmanager
def _started(moment: Moment, tables: Sequence[CopiedTable], count: int) -> Iterator[list[_Reader]]:
    """Readers that are gone at the end."""
    # Spawned, not forked: nothing of ours, the log's lock above all, may live on in them.
    context = multiprocessing.get_context("spawn")
    started: list[_Reader] = []
    try:
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, moment, tables), daemon=True)
            process.start()
            theirs.close()
            started.append(_Reader(process, ours))
        yield started
    except BaseException:
        for reader in started:
            reader.process.kill()
        raise
    finally:
        for reader in started:
            reader.pipe.close()
        for reader in started:
            reader.process.join(END_SECONDS)


def _hand_out(reader: _Reader, waiting: list[Job], heard: Heard) -> None:
    if not waiting:
        return
    reader.job = waiting.pop()
    heard.began(reader.job.part)
    try:
        reader.pipe.send(reader.job)
    except BrokenPipeError:
        # It is gone, and may have said why.
        return


def _listen(reader: _Reader, heard: Heard) -> bool:
    """Take in what a reader says; False if the server does not let it read."""
    assert reader.job is not None
    try:
        said = reader.pipe.recv()
    except (EOFError, ConnectionResetError):
        raise _died(reader) from None
    match said:
        case Wrote(rows):
            heard.wrote(reader.job.part, rows)
        case Done(segments):
            heard.done(reader.job.part, segments)
            reader.job = None
        case Failed(error, may_pass):
            raise _error(error, may_pass=may_pass)
        case Refused():
            return False
    return True


def _error(said: dict[str, object], *, may_pass: bool) -> HeadwaterError:
    error = from_json(said)
    if not may_pass:
        return error
    return Lost(error.message, detail=error.detail, hint=error.hint, place=error.place)


def _died(reader: _Reader) -> SourceError:
    reader.process.join(END_SECONDS)
    return SourceError(
        "a process that read first rows ended",
        detail=f"Its exit code is {reader.process.exitcode}.",
        hint="Was it killed, or is the memory full? What it said is in capture.log beside the log.",
    )
