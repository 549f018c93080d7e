"""A session at a server: the same statements, sent over HTTP; live queries come back as events."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import urllib3

from headwater.cli.server_client import ServerClient, path_of
from headwater.errors import HeadwaterError, ServiceError, from_json
from headwater.runtime.conversation import (
    Job,
    Known,
    Listed,
    Onlooker,
    Outcome,
    Said,
    Started,
    job_from_json,
    known_from_json,
)
from headwater.runtime.facts import Listener
from headwater.server.session_events import Retold, events_of

PATIENT = urllib3.Timeout(connect=5.0, read=None)
"""A statement takes as long as it takes: a job may have to read a whole table first."""

JOBS_SECONDS = 2.0
"""What is known of jobs may be so old: it is shown at every key that is pressed."""


@dataclass
class RemoteQuery:
    """A live query at the server; it ends there when nobody listens here."""

    name: str
    mode: str
    once: bool
    server: ServerClient
    path: str
    ended: threading.Event = field(default_factory=threading.Event)
    problem: HeadwaterError | None = None
    _answer: urllib3.BaseHTTPResponse | None = None
    _is_stopped: bool = False

    def start(self, onlooker: Onlooker) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._follow, args=(onlooker,), name="headwater query", daemon=True).start()

    def stop(self) -> None:
        """Listen no more; returns at once."""
        is_first, self._is_stopped = not self._is_stopped, True
        if is_first and self._answer is not None:
            # It may have come to its end in this moment, and then there is nothing to shut.
            with suppress(ValueError, OSError):
                self._answer.shutdown()

    def _follow(self, onlooker: Onlooker) -> None:
        try:
            self._answer = self.server.open("POST", self.path)
            if not self._is_stopped:
                self._hear(Retold(onlooker), self._answer)
        except HeadwaterError as problem:
            self.problem = problem
        finally:
            if self._answer is not None:
                self._answer.close()
            self.ended.set()

    def _hear(self, retold: Retold, answer: urllib3.BaseHTTPResponse) -> None:
        for kind, said in events_of(_lines(answer)):
            if kind == "end":
                self.problem = None if said["error"] is None else from_json(said["error"])
                return
            retold.hear(kind, said)
        if not self._is_stopped:
            raise ServiceError(
                f"the server at {self.server.url} has ended, or the way to it",
                hint="Ask again when it is there.",
            )


def _lines(answer: urllib3.BaseHTTPResponse) -> Iterator[str]:
    """The lines of an answer as they come; a connection that breaks is the end."""
    held = b""
    try:
        for piece in answer.stream(amt=None):
            *whole, held = (held + piece).split(b"\n")
            yield from (line.decode() for line in whole)
    except (urllib3.exceptions.HTTPError, OSError, ValueError):
        return


class RemoteSession:
    """A session whose statements a server carries out. Its jobs go on without it.

    Without `every_change`, an answer that grows large and is shown as a table is told by its first rows.
    """

    keeps_jobs = True

    def __init__(self, url: str, token: str | None, *, every_change: bool = False) -> None:
        self._every_change = every_change
        self._server = ServerClient(url, token, timeout=PATIENT)
        self._path = path_of("sessions", self._server.ask("POST", "/sessions")["id"])
        self._jobs: tuple[Job, ...] = ()
        self._jobs_at = float("-inf")

    def run(self, text: str, file: str, *, listener: Listener, once: bool = False) -> Outcome:
        """Carry out one statement."""
        self._jobs_at = float("-inf")
        body = {"statement": text, "file": file, "once": once}
        said = self._server.ask("POST", f"{self._path}/statements", body)
        match said["outcome"]:
            case "said":
                return Said(said["text"], is_note=said["is_note"], is_bad=said["is_bad"])
            case "started":
                return Started(job_from_json(said["job"]))
            case "jobs":
                return Listed(tuple(map(job_from_json, said["jobs"])))
            case _:
                path = self._path + path_of("queries", said["query"], "events")
                more = "?every_change=true" if self._every_change else ""
                return RemoteQuery(said["query"], said["mode"], once, self._server, path + more)

    def jobs(self) -> tuple[Job, ...]:
        """All jobs, as they were a moment ago."""
        if time.monotonic() - self._jobs_at > JOBS_SECONDS:
            said = self._server.ask("GET", f"{self._path}/jobs")
            self._jobs, self._jobs_at = tuple(map(job_from_json, said["jobs"])), time.monotonic()
        return self._jobs

    def known(self) -> Known:
        """The names that the next statement may use."""
        return known_from_json(self._server.ask("GET", f"{self._path}/known"))

    def close(self) -> None:
        """Close the session at the server."""
        self._server.ask("DELETE", self._path)
