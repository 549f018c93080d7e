"""How a capture begins: checks first, then slot, publication and snapshot, or the way back from a crash.

Nothing is made before every check has passed, and what a begin that fails has made is gone again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg2

from headwater.errors import SourceError
from headwater.log.manifest import LoggedTable
from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.sources.base import Report
from headwater.sources.captured.continuity import check_log
from headwater.sources.postgres import server
from headwater.sources.postgres.catalog import find_table
from headwater.sources.postgres.checks import (
    Pair,
    check_free_slots,
    check_publication,
    check_publish,
    check_select,
    check_server,
    check_table,
)
from headwater.sources.postgres.config import CaptureConfig, CaptureTable
from headwater.sources.postgres.connect import connect, connect_replication
from headwater.sources.postgres.messages import logged_messages, new_messages
from headwater.sources.postgres.options import COMMITTED, INITIAL, SNAPSHOT
from headwater.sources.postgres.resume import ANEW, check_known, check_slot
from headwater.sources.postgres.snapshot import Progress, Snapshot

MADE_PUBLICATION = "made publication"
"""Under this the manifest remembers the publication that is ours to drop."""

ACTIVE_SECONDS = 2.0
ACTIVE_SECONDS_AGAIN = 60.0
"""How long to wait for a slot to become free: after a crash of ours the server may still be busy with it."""


@dataclass(frozen=True)
class Begun:
    """What was found and decided."""

    pairs: tuple[Pair, ...]
    new: tuple[Pair, ...]
    messages: tuple[CaptureTable, ...]
    """Tables of messages that are new; they have no first rows."""
    slot: server.Slot | None
    publication: server.Publication | None


def begin(config: CaptureConfig, log: LogWriter, progress: Progress) -> tuple[Pair, ...]:
    """Bring slot, publication and log to where the stream can go on; the tables as the server has them."""
    opened = connect(config.address)
    cursor = opened.cursor()
    undo: list[Callable[[], None]] = []
    try:
        if not config.again:
            check_log(log, config.after, notation="lsn", anew=ANEW)
        if config.startup == SNAPSHOT:
            return _begin_without_stream(config, log, cursor, progress)
        begun = _check(config, log, cursor)
        _publish(config, log, begun, cursor=cursor, undo=undo)
        _take_up(config, log, begun, cursor=cursor, progress=progress, undo=undo)
        _drop_removed(config, log)
        return begun.pairs
    except BaseException as error:
        _undo(config, undo, error)
        raise
    finally:
        opened.close()


def _undo(config: CaptureConfig, steps: list[Callable[[], None]], error: BaseException) -> None:
    for step in reversed(steps):
        try:
            step()
        except psycopg2.Error as failed:
            raise SourceError(
                "the start failed, and what it made at the server could not be removed",
                detail=f"{error}. Then: {' '.join(str(failed).split())}.",
                hint=f"Once the server answers, drop slot '{config.slot}' and publication"
                f" '{config.publication}' by hand, or with 'headwater drop'.",
            ) from error


def new_tables(pairs: tuple[Pair, ...], log: LogWriter, after: int | None) -> tuple[Pair, ...]:
    """The tables whose first rows are not in the log as they are declared now, or were read and are wanted anew."""
    known = log.manifest.tables()
    return tuple(
        pair
        for pair in pairs
        if (logged := known.get(pair.declared.name)) is None
        or logged.schema.columns != pair.declared.schema.columns
        or json.loads(logged.origin)[:2] != [pair.found.schema, pair.found.name]
        or (pair.declared.anew and after is not None and (logged.snapshot or 0) <= after)
    )


def _check(config: CaptureConfig, log: LogWriter, cursor: Any) -> Begun:
    check_server(cursor)
    pairs = _find(config, cursor, streamed=True)
    new, messages = new_tables(pairs, log, config.after), new_messages(config, log)
    slot = server.wait_inactive(cursor, config.slot, ACTIVE_SECONDS_AGAIN if config.again else ACTIVE_SECONDS)
    check_slot(config, log, slot, cursor=cursor)
    copied = [pair for pair in new if pair.declared.startup == INITIAL]
    for pair in copied:
        check_select(cursor, pair)
    needs_slot = slot is None or (bool(new or messages) and config.startup != COMMITTED)
    check_free_slots(cursor, 1 if needs_slot else 0)
    publication = server.find_publication(cursor, config.publication)
    check_publication(publication, config.publication, pairs)
    missing = [pair for pair in pairs if publication is None or not publication.has(pair.found)]
    check_known([pair for pair in pairs if pair not in new], log, missing)
    check_publish(cursor, publication, missing, name=config.publication)
    return Begun(pairs, new, messages, slot, publication)


def _find(config: CaptureConfig, cursor: Any, *, streamed: bool) -> tuple[Pair, ...]:
    pairs = []
    for table in config.tables:
        if table.prefixes:
            continue
        found = find_table(cursor, table.remote_schema, table.remote_table, place=table.place)
        pairs.append(Pair(table, found))
        check_table(cursor, pairs[-1], streamed=streamed)
    return tuple(pairs)


def _publish(
    config: CaptureConfig,
    log: LogWriter,
    begun: Begun,
    *,
    cursor: Any,
    undo: list[Callable[[], None]],
) -> None:
    """The publication comes before the slot: the stream of a slot must find it at its very beginning."""
    name, found = config.publication, begun.publication
    if found is None:
        server.create_publication(cursor, name, [pair.found for pair in begun.pairs])
        undo.append(lambda: server.drop_publication(cursor, name))
        log.manifest.remember(MADE_PUBLICATION, name)
        return
    missing = [pair.found for pair in begun.pairs if not found.has(pair.found)]
    if missing:
        server.extend_publication(cursor, name, missing)
        undo.append(lambda: server.shrink_publication(cursor, name, missing))


def _take_up(
    config: CaptureConfig,
    log: LogWriter,
    begun: Begun,
    *,
    cursor: Any,
    progress: Progress,
    undo: list[Callable[[], None]],
) -> None:
    """Enter tables that are new into the log, with their first rows where these are wanted."""
    if not begun.new and not begun.messages:
        return
    if config.startup == COMMITTED:
        assert begun.slot is not None and begun.slot.confirmed is not None
        log.manifest.remember("start", str(begun.slot.confirmed))
        for pair in begun.new:
            log.put_snapshot(_logged(pair, None), [])
        for table in begun.messages:
            log.put_snapshot(logged_messages(table, None), [])
        _remember(config, log, cursor)
        return
    replication = connect_replication(config.address)
    # Undone last, after the connection that holds the slot is closed.
    if begun.slot is None:
        undo.append(lambda: server.drop_slot(cursor, config.slot))
    undo.append(replication.close)
    try:
        temporary = begun.slot is not None
        name = f"{config.slot[:57]}_first" if temporary else config.slot
        # The server waits for the transactions that are open now.
        progress(Report("slot", f"making replication slot {name}"))
        position, snapshot = server.create_slot(replication, name, temporary=temporary)
        _remember(config, log, cursor)
        copy = _Copy(config, log, position, progress)
        undo.append(copy.undo)
        copy.run(begun.new, snapshot)
        copy.enter(begun.messages)
    finally:
        replication.close()
    _enter(log, position)


@dataclass
class _Copy:
    """The first rows of tables on their way into the log."""

    config: CaptureConfig
    log: LogWriter
    position: int
    progress: Progress
    entered: list[str] = field(default_factory=list)

    def run(self, pairs: tuple[Pair, ...], snapshot: str) -> None:
        """Copy the tables. What replaces a table of the log does so only after all of them came through."""
        known = self.log.manifest.tables()
        later = []
        opened = connect(self.config.address)
        try:
            moment = Snapshot(opened, snapshot)
            for pair in pairs:
                wanted = pair.declared.startup == INITIAL
                segments = self._rows(moment, pair) if wanted else ()
                if pair.declared.name in known:
                    later.append((pair, segments))
                else:
                    self.log.put_snapshot(_logged(pair, self.position), segments)
                    self.entered.append(pair.declared.name)
            moment.close()
        finally:
            opened.close()
        for pair, segments in later:
            self.log.put_snapshot(_logged(pair, self.position), segments)

    def enter(self, tables: tuple[CaptureTable, ...]) -> None:
        """Take up tables that have no first rows."""
        known = self.log.manifest.tables()
        for table in tables:
            self.log.put_snapshot(logged_messages(table, self.position), [])
            self.entered += [] if table.name in known else [table.name]

    def undo(self) -> None:
        """Forget the tables that were entered."""
        for name in self.entered:
            self.log.forget(name)

    def _rows(self, moment: Snapshot, pair: Pair) -> tuple[Segment, ...]:
        return moment.copy(pair, self.log, position=self.position, progress=self.progress)


def _enter(log: LogWriter, position: int) -> None:
    """Make snapshots readable at once if no change of another table stands before them."""
    if log.last is None and all(t.snapshot == position for t in log.manifest.tables().values()):
        log.append([], first=position, last=position, committed_at=None)


def _begin_without_stream(
    config: CaptureConfig, log: LogWriter, cursor: Any, progress: Progress
) -> tuple[Pair, ...]:
    pairs = _find(config, cursor, streamed=False)
    new = new_tables(pairs, log, config.after)
    for pair in new:
        check_select(cursor, pair)
    if not new:
        return pairs
    opened = connect(config.address)
    try:
        moment = Snapshot(opened, None)
        position = max(server.number(moment.position()), (log.last or 0) + 1)
        copied = [(pair, moment.copy(pair, log, position=position, progress=progress)) for pair in new]
        moment.close()
    finally:
        opened.close()
    for pair, segments in copied:
        log.put_snapshot(_logged(pair, position), segments)
    log.append([], first=position, last=position, committed_at=None)
    _drop_removed(config, log)
    return pairs


def _drop_removed(config: CaptureConfig, log: LogWriter) -> None:
    """Forget tables that are no longer declared: if they come back, it is with a new snapshot."""
    declared = {table.name for table in config.tables}
    for name in [name for name in log.manifest.tables() if name not in declared]:
        log.forget(name)


def _remember(config: CaptureConfig, log: LogWriter, cursor: Any) -> None:
    cursor.execute("SELECT system_identifier::text FROM pg_control_system()")
    log.manifest.remember("system", cursor.fetchone()[0])
    log.manifest.remember("slot", config.slot)


def _logged(pair: Pair, position: int | None) -> LoggedTable:
    origin = json.dumps([pair.found.schema, pair.found.name, pair.found.oid])
    return LoggedTable(pair.declared.name, pair.declared.schema, origin, position)
