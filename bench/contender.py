"""What takes part in `make bench`: who keeps a query's result true in a table, and who only measures a bound.

A contender is started on a job and then left alone: the workload changes the source and watches the target, the same
way for everyone. Its processes carry a mark in their environment, by which all of them are found, whoever started them:
for their memory, to freeze them while a backlog is made, and to end them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psycopg2

from bench.results import Figure
from bench.ways import Topics, Way
from headwater.errors import HeadwaterError
from headwater.services.postgres import PostgresServer

MARK = "HEADWATER_BENCH"
STOP_SECONDS, LEFT_SECONDS = 30.0, 10.0
POLL_SECONDS, SLOW_POLL_SECONDS = 0.01, 0.25


class Failed(Exception):
    """A contender did not do what was asked; the text says what it did."""


CAUSES = (Failed, HeadwaterError, psycopg2.Error, OSError, subprocess.SubprocessError)
"""What may end a contender's part and is reported; anything else is a fault of the benchmark itself."""


@dataclass(frozen=True)
class Table:
    """A table as Postgres and the SQL of Flink and of Headwater know it: columns with both their types."""

    name: str
    columns: Mapping[str, tuple[str, str]]
    key: tuple[str, ...]

    def postgres(self) -> str:
        """The statement that creates it in Postgres."""
        columns = ", ".join(f"{name} {kind} NOT NULL" for name, (kind, _) in self.columns.items())
        return f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({', '.join(self.key)}))"

    def declared(self, options: Mapping[str, str]) -> str:
        """The statement that declares it in a script."""
        columns = ", ".join(f"{name} {kind}" for name, (_, kind) in self.columns.items())
        given = ", ".join(f"'{name}' = '{value}'" for name, value in options.items())
        key = ", ".join(self.key)
        return f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ({given})"


@dataclass(frozen=True)
class Job:
    """What is to be kept true: a query over tables of one database, in a table of another one."""

    name: str
    tables: tuple[Table, ...]
    target: Table
    query: str
    views: Mapping[str, str] = field(default_factory=dict)

    def statements(self) -> list[str]:
        """Views and the statement that fills the target, the same for everyone who speaks SQL."""
        views = [f"CREATE VIEW {name} AS {text}" for name, text in self.views.items()]
        return [*views, f"INSERT INTO {self.target.name} {self.query}"]

    def anew(self) -> str:
        """The query as one text, for those who compute it from nothing."""
        views = ", ".join(f"{name} AS ({text})" for name, text in self.views.items())
        return f"WITH {views} {self.query}" if views else self.query


@dataclass(frozen=True)
class Ground:
    """Where a contender works: a server, the databases it reads and writes, a folder of its own.

    Where changes come over Kafka it reads `topics` in place of the source.
    """

    server: PostgresServer
    source: str
    target: str
    folder: Path
    topics: Topics | None = None

    def uri(self, database: str) -> str:
        """Where clients of a database connect."""
        return f"{self.server.uri.rsplit('/', 1)[0]}/{database}"

    def log_old_rows(self) -> None:
        """Let the log of the source have whole old rows, for who wants them."""
        with closing(psycopg2.connect(self.uri(self.source))) as client, client, client.cursor() as cursor:
            cursor.execute(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            )
            for (table,) in cursor.fetchall():
                cursor.execute(f'ALTER TABLE "{table}" REPLICA IDENTITY FULL')


class Program:
    """The processes of a contender; the first ones are started here, and they may start others."""

    def __init__(self, folder: Path, inspect: Callable[[], str | None] = lambda: None) -> None:
        self.folder = folder
        self.mark = uuid.uuid4().hex
        self._inspect = inspect
        self._started: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(self, name: str, command: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        """Start one process; what it says is in `<name>.log`."""
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={**os.environ, **(environ or {}), MARK: self.mark},
            )
        self._started.append((name, process))

    def check(self) -> None:
        """Raise Failed if a process has ended, or if the contender itself says that it failed."""
        for name, process in self._started:
            if process.poll() is not None:
                raise Failed(f"{name} ended with code {process.returncode}: {self.said(name)}")
        if (complaint := self._inspect()) is not None:
            raise Failed(complaint)

    def said(self, name: str) -> str:
        """The end of what a process said."""
        text = (self.folder / f"{name}.log").read_text(errors="replace").strip()
        return " | ".join(text.splitlines()[-6:])[-800:]

    def pids(self) -> list[int]:
        """All processes that carry the mark."""
        mark = f"{MARK}={self.mark}".encode()
        return [pid for pid, environ in _environs() if mark in environ.split(b"\0")]

    def memory(self) -> int:
        """Bytes that are resident, of all processes together."""
        return sum(map(_resident, self.pids()))

    def freeze(self) -> None:
        """Let nothing of it run until `thaw`: what is committed meanwhile becomes its backlog."""
        for pid in self.pids():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        for pid in self.pids():
            os.kill(pid, signal.SIGCONT)

    def stop(self) -> None:
        """Ask those that were started here to end, then those that they left behind; end what stays."""
        self.thaw()
        for _, process in reversed(self._started):
            process.terminate()
        _within(STOP_SECONDS, lambda: all(process.poll() is not None for _, process in self._started))
        for end in (signal.SIGTERM, signal.SIGKILL):
            for pid in self.pids():
                os.kill(pid, end)
            _within(LEFT_SECONDS, lambda: not self.pids())
        for _, process in self._started:
            process.wait(LEFT_SECONDS)


class Contender(Protocol):
    """Someone who keeps a query's result true in a table."""

    @property
    def name(self) -> str:
        """What it is called on the command line and in tables."""

    def takes(self, job: Job, way: Way) -> bool:
        """True if it has a part in a job to which changes come this way; who has none is left out."""

    def settings(self, way: Way) -> Mapping[str, str]:
        """What differs from it as it comes, and its version: for the page."""

    def prepare(self, ground: Ground) -> None:
        """Fetch what it needs and make the source as it likes it best; not measured."""

    def events(self) -> Mapping[str, str]:
        """What its connector is told besides, so that it can read the events; nothing, if it reads them as they are."""

    def start(self, job: Job, ground: Ground) -> Program:
        """Begin; it is on its own from here on."""


class Yardstick(Protocol):
    """Someone who bounds what can be had, and keeps no result true: it measures itself."""

    @property
    def name(self) -> str:
        """What it is called on the command line and in tables."""

    def takes(self, job: Job, way: Way) -> bool:
        """True if it has a part in a job to which changes come this way; who has none is left out."""

    def settings(self, way: Way) -> Mapping[str, str]:
        """What differs from it as it comes, and its version: for the page."""

    def figures(self, job: Job, ground: Ground, changes: Changes) -> Iterator[Figure]:
        """Read the first rows, call `changes.make()`, read what came of it."""


@dataclass(frozen=True)
class Changes:
    """The changes of a workload, for who reads them as a backlog."""

    workload: str
    rows: int
    count: int
    make: Callable[[], None]
    expected: Sequence[tuple[object, ...]]


def waited(until: Callable[[], bool], check: Callable[[], None], seconds: float, what: str) -> None:
    """Poll until something holds; raise Failed if it does not in time or who should bring it about has ended.

    The longer it takes, the less often it is asked: an answer costs time, and a hundredth is precise enough.
    """
    begin = time.monotonic()
    while not until():
        check()
        elapsed = time.monotonic() - begin
        if elapsed > seconds:
            raise Failed(f"{what} did not come within {seconds:.0f} s")
        time.sleep(min(max(POLL_SECONDS, elapsed / 100), SLOW_POLL_SECONDS))


def _within(seconds: float, until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not until() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def _environs() -> Iterator[tuple[int, bytes]]:
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            yield int(path.parent.name), path.read_bytes()
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            # It ended between the listing and the look, or it is not ours.
            continue


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError):
        return 0
