"""The server's log, from its bytes into ours.

What the server is told never passes what is durable here (`confirm`). Before its first data psycopg2 answers for us; the
server does not ask (`wal_sender_timeout=0`), but for its shutdown.

A large transaction is sent while it is still in progress (`streaming`), and is handed on when it commits: by then most of
it is read already. One that is prepared is sent when it is committed, like any other.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Sequence
from typing import Any

from psycopg2.extras import REPLICATION_LOGICAL

from headwater.errors import SourceError
from headwater.fault_points import pass_by
from headwater.log.in_progress import InProgress
from headwater.log.losses import Loss
from headwater.log.packed import ROWS
from headwater.log.pgoutput import (
    STREAM_STOP,
    Begin,
    Commit,
    Message,
    Relation,
    Said,
    StreamAbort,
    StreamCommit,
    StreamStart,
    StreamStop,
    Truncate,
    read_message,
)
from headwater.log.retold import retold
from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.log.transactions import Collector
from headwater.sources.postgres.config import CaptureConfig
from headwater.sources.postgres.confirm import confirm
from headwater.sources.postgres.connect import connect, connect_replication, quote
from headwater.sources.postgres.layouts import Layouts
from headwater.sources.postgres.leaving import Leaving
from headwater.sources.postgres.restless import Restless
from headwater.sources.postgres.resume import durable_position
from headwater.sources.postgres.server import emit

MAX_ROWS = 50_000
MAX_BYTES = 32_000_000
MAX_SECONDS = 0.1

IDLE_BYTES = 1_000_000
IDLE_SECONDS = 10.0

NEVER = 86_400 * 365

PROTOCOLS = ((160_000, 4), (150_000, 3), (140_000, 2))
"""From which version of the server on which version of the protocol is spoken, newest first."""


class Stream:
    """Reads transactions and appends them; `appended` hears of every position that became durable."""

    def __init__(
        self,
        config: CaptureConfig,
        log: LogWriter,
        layouts: Layouts,
        *,
        appended: Callable[[int], None],
        check: Callable[[], None] = lambda: None,
        early: bool = True,
    ) -> None:
        """`check` is asked often, and raises if the stream has to end; `early` is told what is not committed yet."""
        self.leaving = Leaving()
        """The tables that are gone, and whose rows go with our first message."""
        start = durable_position(log)
        if start is None:
            raise SourceError("the log has no beginning", hint="Remove the state and start anew.")
        self._config, self._log, self._appended, self._check = config, log, appended, check
        self._early, self._layouts = early, layouts
        self._collector = Collector(layouts, seq=log.seq, last=start, messages=layouts.messages)
        self._streams = InProgress(layouts.ahead, log.folder, max_rows=MAX_ROWS, max_bytes=MAX_BYTES)
        self._parts: list[Segment] = []
        self._start = self._confirmed = start
        self._first_commit = 0.0
        self._heard_data = False
        self._restless = Restless()
        self._idle_since = self._asked = time.monotonic()

    def run(self, opened_up: Callable[[], None]) -> None:
        """Read until the connection ends, which raises; `opened_up` hears when the slot is ours."""
        # A first message ends the state in which psycopg2 confirms by itself, and brings snapshots to light.
        emit(self._config.address, self.leaving.mark)
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
                    "proto_version": str(protocol(opened.server_version)),
                    "publication_names": quote(self._config.publication),
                    "messages": "true",
                    # 'parallel' would only say of aborts where and when they were.
                    "streaming": "on" if self._early else "off",
                },
            )
            opened_up()
            while True:
                self._read_all(cursor)
                self._rest(cursor)
        finally:
            self._streams.close()
            self._log.discard(self._parts)
            opened.close()

    def _read_all(self, cursor: Any) -> None:
        """Take in what is at hand, then make it durable."""
        while (message := cursor.read_message()) is not None:
            self._restless.has_data()
            try:
                self._handle(message.payload, cursor)
            except SourceError:
                # What is complete before the message that cannot be followed is still told.
                self._flush(cursor)
                raise
            self._heard_data = message.data_start != 0
            if not self._heard_data:
                # As before the first data: of a transaction that ended with a crash of the server it tells no place.
                self._flush(cursor)
        self._flush(cursor)
        # Before the first data psycopg2 may confirm a keepalive's position: it becomes durable at once.
        if not self._heard_data and cursor.wal_end > (self._log.last or self._start):
            self._append([], first=cursor.wal_end, last=cursor.wal_end, committed_at=None)

    def _handle(self, payload: bytes, cursor: Any) -> None:
        if self._streams.current is not None and payload[0] != STREAM_STOP:
            if self._streams.hear(payload):
                self._check()
            return
        if payload[0] in ROWS:
            self._collector.handle_row(payload)
            self._hold_no_more(cursor)
            return
        message = read_message(payload)
        match message:
            case StreamStart(xid):
                # What is complete does not wait for the end of a large piece of another.
                self._flush(cursor)
                self._streams.start(xid)
            case StreamStop():
                self._streams.stop()
            case StreamAbort(xid, subxid):
                self._streams.abort(xid, subxid)
            case StreamCommit():
                self._commit_streamed(message, cursor)
            case _:
                self._take_in(message, len(payload), cursor)

    def _take_in(self, message: Message, size: int, cursor: Any) -> None:
        collector = self._collector
        if type(message) is Relation and collector.changes_layout(message):
            self._flush(cursor)
            self._spill()
        collector.handle(message, size)
        if gone := self.leaving.heard(message, collector.open_at):
            # What waits of the same tables may have been read with other columns.
            self._flush(cursor)
            collector.take_over(gone, {})
            collector.handle(Truncate(tuple(gone)), 0)
        if type(message) is Commit or (type(message) is Said and not message.transactional):
            self._idle_since = time.monotonic()
            if self._first_commit == 0.0:
                self._first_commit = self._idle_since
            if self._is_due():
                self._flush(cursor)
        else:
            self._hold_no_more(cursor)

    def _hold_no_more(self, cursor: Any) -> None:
        """Write an open transaction that is too large to hold."""
        if self._collector.open_rows >= MAX_ROWS or self._collector.open_bytes >= MAX_BYTES:
            self._flush(cursor)
            self._spill()

    def _commit_streamed(self, message: StreamCommit, cursor: Any) -> None:
        """A transaction that was told before: from here on it is as any other, but that some of it is read already."""
        streamed, collector = self._streams.commit(message.xid), self._collector
        begun = Begin(message.commit_at, message.time, message.xid)
        try:
            self._take_in(begun, 0, cursor)
            after, position = collector.seq, message.commit_at + 1
            for relation in streamed.heard.values():
                # Of what is committed more can be told: a column that was made anew in it, for example.
                collector.handle(relation, 0)
            collector.seq += streamed.seq
            for told in streamed.told():
                if isinstance(told, bytes):
                    self._handle(told, cursor)
                elif collector.wants(told.layout):
                    self._flush(cursor)
                    rows = retold(told.events, told.layout, begun, position=position, after=after)
                    self._parts.append(self._log.write(told.layout.table, rows))
        finally:
            streamed.close()
        self._take_in(Commit(message.end, message.time), 0, cursor)

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
        self._check()
        taken = self._collector.take()
        if taken is None:
            return
        pass_by("log received")
        parts = self._parts + [self._log.write(name, rows) for name, rows in taken.tables.items()]
        self._parts, self._first_commit = [], 0.0
        self._log.seq = taken.seq
        self._append(
            parts, first=taken.first, last=taken.last, committed_at=taken.committed_at, losses=taken.losses
        )
        self._confirmed = taken.last
        confirm(cursor.connection, taken.last)
        pass_by("log confirmed")

    def _append(
        self,
        parts: Sequence[Segment],
        *,
        first: int,
        last: int,
        committed_at: float | None,
        losses: tuple[Loss, ...] = (),
    ) -> None:
        losses = (*losses, *self._layouts.lost_by(last))
        self._log.append(parts, first=first, last=last, committed_at=committed_at, losses=losses)
        self.leaving.durable(self._log)
        self._layouts.lose(losses)
        self._appended(last)

    def _spill(self) -> None:
        """Write what is held of an open transaction; the manifest hears of it when it commits."""
        if self._collector.open_rows:
            tables = self._collector.take_open()
            self._parts += [self._log.write(name, rows) for name, rows in tables.items()]
        self._collector.open_bytes = 0

    def _rest(self, cursor: Any) -> None:
        """Wait for more; see to a log that grows without us, and to a server that wants to go."""
        # Before the wait, because a server that is busy elsewhere wakes us all the time with nothing for us.
        due = self._move_on(cursor, time.monotonic(), self._config.care.heartbeat or IDLE_SECONDS)
        ready, _, _ = select.select([cursor], [], [], min(1.0, max(0.05, due)))
        if ready and self._restless.woke(time.monotonic()):
            # A server that shuts down lets nobody in: then this raises, and we leave.
            connect(self._config.address).close()

    def _move_on(self, cursor: Any, now: float, seconds: float) -> float:
        """Commit something ourselves if nobody did for so long, that the server can free its log; when to ask again."""
        left = self._idle_since + seconds - now
        if left > 0 or self._collector.open_at is not None:
            return left if left > 0 else seconds
        behind = cursor.wal_end - (self._log.last or self._start)
        if self._config.care.heartbeat or behind > IDLE_BYTES:
            self._idle_since = now
            emit(self._config.address)
        elif now - self._asked >= IDLE_SECONDS:
            self._asked = now
            confirm(cursor.connection, self._confirmed, reply=True)
        return seconds


def protocol(server_version: int) -> int:
    """The newest version of `pgoutput` that a server speaks and we know."""
    return next((spoken for since, spoken in PROTOCOLS if server_version >= since), 1)
