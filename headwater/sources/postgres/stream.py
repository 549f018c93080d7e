"""The server's log, from its bytes into ours.

What the server is told never passes what is durable here. psycopg2 by itself confirms the server's position
in answer to a keepalive once all it received was confirmed; therefore one place less than the end of the last
durable transaction is confirmed (the server still does not send that transaction again), and the server does
not ask (`wal_sender_timeout=0`).
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Sequence
from typing import Any

from psycopg2.extras import REPLICATION_LOGICAL

from headwater.errors import SourceError
from headwater.log.pgoutput import Commit, Relation, Said, read_message
from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.log.transactions import Collector
from headwater.sources.postgres.config import CaptureConfig
from headwater.sources.postgres.connect import connect, connect_replication, quote
from headwater.sources.postgres.layouts import Layouts
from headwater.sources.postgres.resume import durable_position
from headwater.sources.postgres.server import emit

MAX_ROWS = 50_000
MAX_BYTES = 32_000_000
MAX_SECONDS = 0.1

IDLE_BYTES = 1_000_000
IDLE_SECONDS = 10.0

RESTLESS = 20
"""So many keepalives without data in a second come only from a server that wants to shut down."""

NEVER = 86_400 * 365


class Stream:
    """Reads transactions and appends them; `appended` hears of every position that became durable."""

    def __init__(
        self, config: CaptureConfig, log: LogWriter, layouts: Layouts, appended: Callable[[int], None]
    ) -> None:
        start = durable_position(log)
        if start is None:
            raise SourceError("the log has no beginning", hint="Remove the state and start anew.")
        self._config, self._log, self._appended = config, log, appended
        self._collector = Collector(layouts, seq=log.seq, last=start, messages=layouts.messages)
        self._parts: list[Segment] = []
        self._start = start
        self._first_commit = 0.0
        self._heard_data = False
        self._keepalives: list[float] = []
        self._idle_since = self._asked = time.monotonic()

    def run(self, opened_up: Callable[[], None]) -> None:
        """Read until the connection ends, which raises; `opened_up` hears when the slot is ours."""
        # A first message ends the state in which psycopg2 confirms by itself, and brings snapshots to light.
        emit(self._config.address)
        opened = connect_replication(self._config.address)
        try:
            cursor = opened.cursor()
            cursor.start_replication(
                slot_name=self._config.slot,
                slot_type=REPLICATION_LOGICAL,
                start_lsn=self._start,
                decode=False,
                status_interval=NEVER,
                options={
                    "proto_version": "1",
                    "publication_names": quote(self._config.publication),
                    "messages": "true",
                },
            )
            opened_up()
            while True:
                self._read_all(cursor)
                self._rest(cursor)
        finally:
            opened.close()

    def _read_all(self, cursor: Any) -> None:
        """Take in what is at hand, then make it durable."""
        while (message := cursor.read_message()) is not None:
            self._heard_data = True
            try:
                self._handle(message.payload, cursor)
            except SourceError:
                # What is complete before the message that cannot be followed is still told.
                self._flush(cursor)
                raise
        self._flush(cursor)
        # Before the first data psycopg2 may confirm a keepalive's position: it becomes durable at once.
        if not self._heard_data and cursor.wal_end > (self._log.last or self._start):
            self._append([], first=cursor.wal_end, last=cursor.wal_end, committed_at=None)

    def _handle(self, payload: bytes, cursor: Any) -> None:
        message = read_message(payload)
        collector = self._collector
        if type(message) is Relation and collector.changes_layout(message):
            self._flush(cursor)
            self._spill()
        collector.handle(message, len(payload))
        if type(message) is Commit or (type(message) is Said and not message.transactional):
            self._idle_since = time.monotonic()
            if self._first_commit == 0.0:
                self._first_commit = self._idle_since
            if self._is_due():
                self._flush(cursor)
        elif collector.open_rows >= MAX_ROWS or collector.open_bytes >= MAX_BYTES:
            self._flush(cursor)
            self._spill()

    def _is_due(self) -> bool:
        collector = self._collector
        return (
            bool(self._parts)
            or collector.done_rows >= MAX_ROWS
            or collector.done_bytes >= MAX_BYTES
            or time.monotonic() - self._first_commit >= MAX_SECONDS
        )

    def _flush(self, cursor: Any) -> None:
        """Make the complete transactions durable, and only then tell the server."""
        taken = self._collector.take()
        if taken is None:
            return
        parts = self._parts + [self._log.write(name, rows) for name, rows in taken.tables.items()]
        self._parts, self._first_commit = [], 0.0
        self._log.seq = taken.seq
        self._append(parts, first=taken.first, last=taken.last, committed_at=taken.committed_at)
        cursor.send_feedback(flush_lsn=taken.last - 1, force=True)

    def _append(self, parts: Sequence[Segment], *, first: int, last: int, committed_at: float | None) -> None:
        self._log.append(parts, first=first, last=last, committed_at=committed_at)
        self._appended(last)

    def _spill(self) -> None:
        """Write what is held of an open transaction; the manifest hears of it when it commits."""
        if self._collector.open_rows:
            tables = self._collector.take_open()
            self._parts += [self._log.write(name, rows) for name, rows in tables.items()]
        self._collector.open_bytes = 0

    def _rest(self, cursor: Any) -> None:
        """Wait for more; see to a log that grows without us, and to a server that wants to go."""
        ready, _, _ = select.select([cursor], [], [], 1.0)
        now = time.monotonic()
        if ready:
            self._watch_shutdown(now)
            return
        if now - self._idle_since < IDLE_SECONDS:
            return
        behind = cursor.wal_end - (self._log.last or self._start)
        if behind > IDLE_BYTES and self._collector.open_at is None:
            self._idle_since = now
            emit(self._config.address)
        elif now - self._asked >= IDLE_SECONDS:
            self._asked = now
            cursor.send_feedback(reply=True, force=True)

    def _watch_shutdown(self, now: float) -> None:
        """Leave a server that shuts down: it waits for a confirmation of more than there is to confirm."""
        self._keepalives = [moment for moment in self._keepalives if now - moment < 1.0] + [now]
        if len(self._keepalives) < RESTLESS:
            return
        self._keepalives = []
        connect(self._config.address).close()
