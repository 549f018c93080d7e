"""The source `postgres-cdc`: tables of one Postgres database, from its own log."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from headwater.errors import SourceError
from headwater.log.events import Delivery
from headwater.log.manifest import FILE, Manifest
from headwater.log.positions import Position
from headwater.log.store import LogReader
from headwater.options import revealed
from headwater.sources.base import SourceContext, SourceTable, SourceType
from headwater.sources.postgres import server
from headwater.sources.postgres.begin import MADE_PUBLICATION
from headwater.sources.postgres.catalog import describe, resolving_key
from headwater.sources.postgres.config import CaptureConfig, config_of, log_folder
from headwater.sources.postgres.connect import session
from headwater.sources.postgres.messages import check_messages
from headwater.sources.postgres.options import SNAPSHOT, PostgresOptions, check_group, group, origin
from headwater.sources.postgres.supervisor import Supervisor


class PostgresSource:
    """All tables of a pipeline in one database: one slot, one publication, one position."""

    def __init__(self, tables: Sequence[SourceTable], context: SourceContext) -> None:
        self._tables, self._context = tuple(tables), context
        self._config: CaptureConfig = config_of(self._tables, context, after=None)
        self._capture: Supervisor | None = None
        self._log: LogReader | None = None

    def start(self, after: Position | None) -> Position | None:
        """Check, make slot and publication or find them, take snapshots, begin to stream."""
        capture = Supervisor(config_of(self._tables, self._context, after=after))
        try:
            while not (capture.started or capture.over):
                heard = capture.heard
                self._report(capture)
                if not (capture.started or capture.over):
                    capture.wait(heard, 1.0)
            self._report(capture)
            capture.check()
            self._log = LogReader(self._config.folder)
        except BaseException:
            capture.stop()
            raise
        self._capture = capture
        whole = self._log.whole_at()
        return whole if after is None or whole > after else None

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """Whole transactions after `after`; see the contract."""
        capture, log = self._running()
        deadline = time.monotonic() + wait
        while True:
            heard = capture.heard
            delivery = log.read(after, limit, upto=upto)
            if delivery is not None:
                return delivery
            self._report(capture)
            capture.check()
            left = deadline - time.monotonic()
            if left <= 0 or not capture.wait(heard, left):
                return None

    def now(self) -> Position:
        """A position that `read` will reach and before which all stands that is committed now."""
        _, log = self._running()
        if self._config.startup == SNAPSHOT and log.last is not None:
            return log.last
        return Position(server.emit(self._config.address), "lsn")

    def commit(self, position: Position) -> None:
        """Forget what is done."""
        _, log = self._running()
        log.trim(position)

    def close(self) -> None:
        """Stop the capture; slot and log stay."""
        if self._capture is not None:
            self._capture.stop()
            self._capture = None
        if self._log is not None:
            self._log.close()
            self._log = None

    @property
    def capture_pid(self) -> int:
        """The process that captures now."""
        return self._running()[0].pid

    def _running(self) -> tuple[Supervisor, LogReader]:
        if self._capture is None or self._log is None:
            raise SourceError("the source is not started", hint="Call start first.")
        return self._capture, self._log

    def _report(self, capture: Supervisor) -> None:
        for report in capture.reports():
            self._context.report(report)


def open_source(tables: Sequence[SourceTable], context: SourceContext) -> PostgresSource:
    """A source over the tables of one database; nothing is touched before `start`."""
    plain = _revealed(tables)
    check_group(plain)
    check_messages(plain)
    return PostgresSource(plain, context)


def forget(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Drop the slot and, if it is ours, the publication; harmless when they are gone."""
    config = config_of(_revealed(tables), context, after=None)
    with session(config.address) as cursor:
        server.drop_slot(cursor, config.slot)
        if config.publication in (config.slot, _made_publication(context)):
            server.drop_publication(cursor, config.publication)


def _revealed(tables: Sequence[SourceTable]) -> list[SourceTable]:
    return [replace(table, options=revealed(table.options)) for table in tables]


def _made_publication(context: SourceContext) -> str | None:
    folder = log_folder(context)
    if not (folder / FILE).exists():
        return None
    manifest = Manifest(folder)
    try:
        return manifest.recall(MADE_PUBLICATION)
    finally:
        manifest.close()


POSTGRES = SourceType(
    options=PostgresOptions,
    describe=describe,
    group=group,
    open=open_source,
    forget=forget,
    origin=origin,
    resolving_key=resolving_key,
    append_only=lambda options: bool(options.messages),
)
