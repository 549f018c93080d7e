"""Sessions of SQL at a server: opened and closed by clients; their jobs are the server's and outlast them."""

from __future__ import annotations

import asyncio
import queue
import secrets
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.compute as pc

from headwater.changes.change_set import ChangeSet
from headwater.errors import HeadwaterError, ServiceError
from headwater.runtime.conversation import LiveAnswers, Query
from headwater.runtime.facts import BatchDone, Silent
from headwater.runtime.interactive import Interactive
from headwater.runtime.jobs import Jobs
from headwater.runtime.live_query import LocalQuery, remove_leftovers
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.session import LocalSession
from headwater.runtime.turning import waited
from headwater.schema import WEIGHT
from headwater.server.looking import Looking
from headwater.server.refusals import Conflict, Missing, missing
from headwater.server.server import Server
from headwater.server.session_events import (
    Event,
    batch_event,
    changes_event,
    framed,
    open_event,
    report_event,
    rows_event,
)
from headwater.sources.base import Report

IDLE_SECONDS = 3600.0
"""A session that nobody used for so long is closed."""

MOST_SESSIONS = 200

MOST_QUERIES = 20
"""So many queries of a session may wait for someone who follows them."""

END_SECONDS = 30.0
"""How long live queries may take to end, and to take along what they made at their sources, when the server ends."""

HELD_ROWS = 10_000
"""An answer above this is shown by its first rows, read again and again, and not followed change by change."""

READ_AGAIN_SECONDS = 1.0
POLL_SECONDS = 0.05
HEARTBEAT_SECONDS = 15.0
WAITING_EVENTS = 64
"""So many events may wait for a slow client; then its query waits."""

_RESTART = (
    "Restart the server with a version of an application that needs the same, and declare the table again."
)


@dataclass
class OpenSession:
    """One session, its live queries by their names, and when it was used last."""

    id: str
    session: LocalSession
    queries: dict[str, Query] = field(default_factory=dict)
    """Those that nobody follows yet, and that nothing runs for."""
    followed: dict[str, Query] = field(default_factory=dict)
    used: float = field(default_factory=time.monotonic)

    @property
    def is_idle(self) -> bool:
        """True if nobody would miss it."""
        return not self.followed and time.monotonic() - self.used > IDLE_SECONDS

    def put(self, query: Query) -> None:
        """Keep a query until somebody follows it; of many that nobody does, the first are forgotten."""
        self.queries[query.name] = query
        for name in list(self.queries)[:-MOST_QUERIES]:
            self.queries.pop(name, None)

    def get(self, name: str) -> Query:
        """A query that nobody follows yet."""
        query = self.queries.get(name)
        if query is None:
            raise missing("live query", name, sorted(self.queries))
        return query

    def follow(self, name: str) -> Query:
        """The same, to be followed by one."""
        query = self.get(name)
        del self.queries[name]
        self.followed[name] = query
        return query

    def let_go(self, name: str) -> None:
        """Nobody follows it any more."""
        self.followed.pop(name, None)
        self.used = time.monotonic()


class Sessions:
    """All sessions of a server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._jobs = Jobs()
        self._open: dict[str, OpenSession] = {}
        self._lock = threading.Lock()
        server.look_at(self._running)
        server.before_close(self._end_queries)
        server.before_close(self._jobs.close)
        # Of a server that was killed. Databases may take long to answer.
        threading.Thread(
            target=remove_leftovers, args=(self._home,), name="headwater leftovers", daemon=True
        ).start()

    def create(self) -> OpenSession:
        """Open a session; Spark runs when this returns."""
        self._server.host.start(Silent())
        interactive = Interactive(self._home, _RESTART, self._server.host.attached)
        session = LocalSession(interactive, self._jobs, Looking(self._server))
        made = OpenSession(secrets.token_hex(8), session)
        with self._lock:
            self._open = {id: one for id, one in self._open.items() if not one.is_idle}
            if len(self._open) >= MOST_SESSIONS:
                raise Conflict(
                    f"{MOST_SESSIONS} sessions are open",
                    hint="Close one: DELETE /sessions/ID, or QUIT in its client.",
                )
            self._open[made.id] = made
        return made

    @property
    def _home(self) -> Path:
        return self._server.folder / "sessions"

    def get(self, id: str) -> OpenSession:
        """A session that is open; from now on it was used."""
        found = self._open.get(id)
        if found is None:
            raise Missing(
                f"there is no session '{id[:100]}'",
                detail="It was closed, nobody used it for an hour, or the server was started anew.",
                hint="Begin another one: leave the client and start it again. What was declared has to be declared anew.",
            )
        found.used = time.monotonic()
        return found

    def close(self, id: str) -> None:
        """Forget what a session declared, and end its live queries; its jobs go on."""
        closed = self.get(id)
        with self._lock:
            self._open.pop(id, None)
        for query in list(closed.followed.values()):
            query.stop()

    def _running(self) -> dict[str, Pipeline]:
        """The pipelines of jobs and of live queries; those that look at applications have none of their own."""
        with self._lock:
            followed = [query for one in self._open.values() for query in list(one.followed.values())]
        queries = [query.turning for query in followed if isinstance(query, LocalQuery)]
        turnings = [*self._jobs.turnings(), *(one for one in queries if one is not None)]
        return {
            one.name: one.pipeline for one in turnings if one.pipeline is not None and one.opened.is_set()
        }

    def _end_queries(self) -> None:
        """End all live queries: what they made at their sources would wait there for somebody who never comes."""
        with self._lock:
            running = [query for one in self._open.values() for query in list(one.followed.values())]
        for query in running:
            query.stop()
        deadline = time.monotonic() + END_SECONDS
        late = [q.name for q in running if not waited(q.ended, max(0.0, deadline - time.monotonic()))]
        if late:
            raise ServiceError(f"live queries do not end: {', '.join(late)}")


class Telling:
    """Hears a live query in its pipeline's thread, and hands on what it hears as events, as fast as they are taken."""

    def __init__(self, session: OpenSession, query: Query, *, every_change: bool) -> None:
        self._every_change = every_change or query.once or query.mode != "table"
        self._session = session
        self._query = query
        self._events: queue.Queue[Event] = queue.Queue(WAITING_EVENTS)
        self._is_over = threading.Event()
        self._answers: LiveAnswers | None = None
        self._count = 0
        self._is_large = False
        self._read_at = float("-inf")

    async def events(self) -> AsyncIterator[bytes]:
        """Start the query and tell what happens, until it ends or nobody listens; then it ends."""
        try:
            # Only here it is taken: of a client that goes before its answer begins nothing is left.
            self._session.follow(self._query.name)
        except HeadwaterError as taken:  # another client was faster
            yield framed(("end", {"error": taken.to_json()}))
            return
        told = time.monotonic()
        try:
            self._query.start(self)
            yield b": headwater\n\n"
            while True:
                is_over = self._query.ended.is_set()
                while (event := self._taken()) is not None:
                    yield framed(event)
                    told = time.monotonic()
                if is_over:
                    break
                if time.monotonic() - told > HEARTBEAT_SECONDS:
                    yield b": \n\n"
                    told = time.monotonic()
                await asyncio.sleep(POLL_SECONDS)
            problem = self._query.problem
            yield framed(("end", {"error": None if problem is None else problem.to_json()}))
        finally:
            self._is_over.set()
            self._query.stop()
            self._session.let_go(self._query.name)

    def report(self, report: Report) -> None:
        """Something that takes a while has come further."""
        self._put(report_event(report))

    def say(self, text: str) -> None:
        """A note."""
        self._put(("said", {"text": text}))

    def open(self, answers: LiveAnswers) -> None:
        """The query stands."""
        self._answers = answers
        self._put(open_event(answers))

    def batch(self, done: BatchDone) -> None:
        """What a batch changed, then that it is done."""
        assert self._answers is not None
        changes = done.changes.get(self._answers.queries[0])
        if changes is not None and changes.count:
            self._tell(changes)
        self._put(batch_event(done))

    def _tell(self, changes: ChangeSet) -> None:
        assert self._answers is not None
        if not self._every_change and not self._is_large:
            self._count += net_count(changes)
            self._is_large = self._count > HELD_ROWS
        if not self._is_large:
            for piece in changes.batches():
                self._put(changes_event(piece))
        elif time.monotonic() - self._read_at >= READ_AGAIN_SECONDS:
            self._read_at = time.monotonic()
            self._put(rows_event(self._answers.rows(changes.relation)))

    def _put(self, event: Event) -> None:
        """Hand on an event; wait while too many do, unless nobody listens any more."""
        while not self._is_over.is_set():
            try:
                self._events.put(event, timeout=POLL_SECONDS)
                return
            except queue.Full:
                continue

    def _taken(self) -> Event | None:
        try:
            return self._events.get_nowait()
        except queue.Empty:
            return None


def net_count(changes: ChangeSet) -> int:
    """How many rows more there are after the changes."""
    return sum(pc.sum(piece.column(WEIGHT)).as_py() or 0 for piece in changes.batches([]))
