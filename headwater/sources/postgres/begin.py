"""How a capture begins: checks first, then slot, publication and snapshot, or the way back from a crash.

Nothing is made before every check has passed, and what a begin that fails has made is gone again. If it is killed, or
the server itself is gone, the next one goes on with what it made; that one, should it fail, leaves it where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import psycopg2

from headwater.errors import SourceError
from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.sources.base import Lost, Report, Unreachable
from headwater.sources.captured.continuity import check_log
from headwater.sources.postgres import server
from headwater.sources.postgres.checks import (
    Pair,
    check_free_slots,
    check_publication,
    check_publish,
    check_select,
    check_server,
)
from headwater.sources.postgres.config import CaptureConfig, CaptureTable
from headwater.sources.postgres.connect import connect, connect_replication, meaning
from headwater.sources.postgres.count import Progress
from headwater.sources.postgres.earlier import Earlier, forget_parts, key_of
from headwater.sources.postgres.entered import logged_table
from headwater.sources.postgres.entering import Entering, put
from headwater.sources.postgres.finding import Opening, find, new_tables, remember_begun, still_good
from headwater.sources.postgres.first_rows import FirstRowsOf
from headwater.sources.postgres.identity_checks import check_names
from headwater.sources.postgres.leaving import Leaving, left_shards
from headwater.sources.postgres.meanwhile import still_lost
from headwater.sources.postgres.membership import check_members, remember_members
from headwater.sources.postgres.messages import logged_messages, new_messages
from headwater.sources.postgres.options import COMMITTED, INITIAL, SNAPSHOT
from headwater.sources.postgres.resume import ANEW, GIVEN_UP, check_known, check_letters, check_slot
from headwater.sources.postgres.retained import check_retained
from headwater.sources.postgres.shards import pairs_of
from headwater.sources.postgres.snapshot import Snapshot
from headwater.sources.postgres.timeline import check_timeline
from headwater.sources.postgres.touched import Log

MADE_PUBLICATION = "made publication"
"""Under this the manifest remembers the publication that is ours to drop."""


@dataclass(frozen=True)
class Begun:
    """What was found and decided."""

    pairs: tuple[Pair, ...]
    new: tuple[Pair, ...]
    messages: tuple[CaptureTable, ...]
    """Tables of messages that are new; they have no first rows."""
    slot: server.Slot | None
    publication: server.Publication | None
    leaving: Leaving = field(default_factory=Leaving)
    """Tables that are gone, and whose rows go with the first message of the stream."""
    opening: Opening | None = None


def begin(config: CaptureConfig, log: LogWriter, progress: Progress, opening: Opening | None = None) -> Begun:
    """Bring slot, publication and log to where the stream can go on; what was found on the way.

    Tables that came later are read from the moment of `opening`; without one they wait.
    """
    opened = connect(config.address)
    cursor = opened.cursor()
    undo: list[Callable[[], None]] = []
    try:
        if not config.again:
            check_log(log, config.after, notation="lsn", anew=ANEW)
        if config.startup == SNAPSHOT:
            return _begin_without_stream(config, log, cursor, progress)
        begun = _check(config, log, cursor, progress, opening=opening)
        _publish(config, log, begun, cursor=cursor, undo=undo)
        remember_members(cursor, config.publication, begun.pairs, log)
        _take_up(config, log, begun, cursor=cursor, progress=progress, undo=undo)
        _drop_removed(begun, config, log)
        remember_begun(config, log)
        return begun
    except BaseException as error:
        if (lost := _lost(error)) is not None:
            raise lost from error
        _undo(config, undo, error)
        raise
    finally:
        opened.close()


def _lost(error: BaseException) -> Lost | None:
    """The server was there and is gone: as after a crash, the next begin goes on with what this one has made."""
    found = meaning(error) if isinstance(error, psycopg2.Error) else error
    if not isinstance(found, Unreachable):
        return None
    hint = "It is tried again; what was made at the server is used by the next start, or goes with 'headwater drop'."
    return Lost(found.message, detail=found.detail, hint=hint, place=found.place)


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


def _check(
    config: CaptureConfig, log: LogWriter, cursor: Any, progress: Progress, *, opening: Opening | None
) -> Begun:
    check_server(cursor)
    found = find(cursor, config, log, progress, opening=opening)
    pairs = found.pairs
    new, messages = new_tables(pairs, log, config.after), new_messages(config, log)
    is_ours = config.again or log.manifest.recall("slot") == config.slot
    slot = server.free_slot(cursor, config.slot, progress, is_ours=is_ours)
    check_slot(config, log, slot, cursor=cursor)
    check_timeline(config.address, log, cursor)
    check_retained(cursor, config)
    copied = [pair for pair in new if pair.declared.startup == INITIAL]
    for pair in copied:
        check_select(cursor, pair)
    needs_slot = slot is None or (bool(new or messages) and not _is_committed(new, config) and not opening)
    check_free_slots(cursor, 1 if needs_slot else 0)
    publication = server.find_publication(cursor, config.publication)
    check_publication(publication, config.publication, pairs)
    check_names(cursor, publication, pairs)
    missing = [pair for pair in pairs if publication is None or not publication.has(pair.found)]
    known = [pair for pair in pairs if pair not in new]
    check_known(known, log, missing)
    check_members(cursor, config.publication, known, log)
    check_publish(cursor, publication, missing, name=config.publication)
    return Begun(pairs, new, messages, slot, publication, found.leaving, opening)


def _is_committed(new: tuple[Pair, ...], config: CaptureConfig) -> bool:
    """True if tables begin where the slot stands; those that came later than others of a pattern do not."""
    return config.startup == COMMITTED and not any(pair.declared.startup == INITIAL for pair in new)


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
    if _is_committed(begun.new, config):
        _take_up_committed(config, log, begun, cursor=cursor)
        return
    opening = still_good(begun.opening, log)
    replication = opening.replication if opening else connect_replication(config.address)
    try:
        if opening is not None:
            position, snapshot = opening.position, opening.snapshot
        else:
            position, snapshot = _moment(replication, begun, config, cursor=cursor, progress=progress)
        if begun.slot is None:
            # Only now it is ours: one that somebody else made meanwhile is not.
            undo += [lambda: server.drop_slot(cursor, config.slot), lambda: forget_parts(log)]
        _remember(config, log, cursor)
        entering = Entering(log, config.address, position, progress)
        undo.append(entering.undo)
        entering.copy(begun.new, snapshot, _earlier(config, log, begun, cursor=cursor))
        entering.enter(begun.messages)
    finally:
        replication.close()
    _enter(log, position)


def _moment(
    replication: Any, begun: Begun, config: CaptureConfig, *, cursor: Any, progress: Progress
) -> tuple[int, str]:
    """The moment of the first rows."""
    temporary = begun.slot is not None
    name = f"{config.slot[:57]}_first" if temporary else config.slot
    if temporary:
        held = server.free_slot(cursor, name, progress, is_ours=True)
        if held is not None and held.active_pid is not None:
            raise server.active_error(cursor, held)
    # The server waits for the transactions that are open now.
    progress(Report("slot", f"making replication slot {name}"))
    return server.create_slot(replication, name, temporary=temporary)


def _take_up_committed(config: CaptureConfig, log: LogWriter, begun: Begun, *, cursor: Any) -> None:
    """Tables without first rows, whose changes begin where the slot stands."""
    assert begun.slot is not None and begun.slot.confirmed is not None
    log.manifest.remember("start", str(begun.slot.confirmed))
    for pair in begun.new:
        put(log, pair, None, [])
    for table in begun.messages:
        log.put_snapshot(logged_messages(table, None), [])
    _remember(config, log, cursor)


def _earlier(config: CaptureConfig, log: LogWriter, begun: Begun, *, cursor: Any) -> Earlier:
    """What a capture that died in the middle of first rows has left."""
    found = begun.publication
    return Earlier(
        log,
        Log(config.address, config.slot, config.publication),
        system=log.manifest.recall("system") or "",
        slot=begun.slot,
        keys={pair.declared.name: key_of(cursor, pair) for pair in begun.new},
        unpublished=frozenset(p.declared.name for p in begun.new if found is None or not found.has(p.found)),
    )


def _enter(log: LogWriter, position: int) -> None:
    """Make snapshots readable at once if no change of another table stands before them."""
    if log.last is None and all(t.snapshot == position for t in log.manifest.tables().values()):
        log.append([], first=position, last=position, committed_at=None)


def _begin_without_stream(config: CaptureConfig, log: LogWriter, cursor: Any, progress: Progress) -> Begun:
    lost = still_lost(config.tables, log)
    pairs = pairs_of(cursor, config, log.manifest.tables(), lost=lost, streamed=False)
    new = new_tables(pairs, log, config.after)
    begun = Begun(pairs, new, (), None, None)
    check_letters([pair for pair in pairs if pair not in new], log)
    for pair in new:
        check_select(cursor, pair)
    if not new:
        return begun
    copied: list[tuple[Pair, tuple[Segment, ...]]] = []
    with closing(connect(config.address)) as opened:
        moment = Snapshot(opened, None)
        position = max(server.number(moment.position()), (log.last or 0) + 1)
        rows = FirstRowsOf(new, config.address, log, progress)
        rows.read(moment, position=position, finished=lambda pair, parts: copied.append((pair, parts)))
        moment.close()
    for pair, segments in copied:
        log.put_snapshot(logged_table(pair, position), segments)
    log.append([], first=position, last=position, committed_at=None)
    _drop_removed(begun, config, log)
    return begun


def _drop_removed(begun: Begun, config: CaptureConfig, log: LogWriter) -> None:
    """Forget tables that are no longer declared: if they come back, it is with a new snapshot."""
    found = [*(pair.declared for pair in begun.pairs), *begun.leaving.tables]
    # Of those without a pattern one that is lost is not looked for, and stays.
    declared = {table.name for table in found} | {t.name for t in config.tables if not t.is_pattern}
    declared |= left_shards(log, config.after)
    for name in [name for name in log.manifest.tables() if name not in declared]:
        log.forget(name)
    # All that are declared are whole now.
    forget_parts(log)


def _remember(config: CaptureConfig, log: LogWriter, cursor: Any) -> None:
    cursor.execute("SELECT system_identifier::text FROM pg_control_system()")
    log.manifest.remember("system", cursor.fetchone()[0])
    log.manifest.remember("slot", config.slot)
    # Of a slot that was given up before nobody has to hear any more.
    log.manifest.remember(GIVEN_UP, "")
