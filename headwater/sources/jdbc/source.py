"""The source `jdbc`: tables of one database, read whole at the start and, by choice, again and again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from headwater.errors import SourceError
from headwater.log.events import Delivery
from headwater.log.positions import Position
from headwater.log.store import LogReader, LogWriter
from headwater.options import revealed
from headwater.schema import Schema
from headwater.sources.base import Report, SourceContext, SourceTable, SourceType, is_back, waits
from headwater.sources.jdbc.options import (
    JdbcSourceOptions,
    address_of,
    check_group,
    group_of,
    only_inserts,
    origin_of,
)
from headwater.sources.jdbc.reading import Reader, find_in, log_folder, moment_of
from headwater.sources.jdbc.refreshing import Refresher
from headwater.sources.jdbc.server import described

IDLE_SECONDS = 0.02
"""How long a read takes of which nothing will ever come: others are waited for meanwhile, so it is short."""


class JdbcSource:
    """All tables of a pipeline in one database: one read, one position."""

    def __init__(self, tables: Sequence[SourceTable], context: SourceContext) -> None:
        self._tables, self._context = tuple(tables), context
        self._after = 0
        self._writer: LogWriter | None = None
        self._log: LogReader | None = None
        self._reader: Reader | None = None
        self._refresher: Refresher | None = None
        self._trouble: str | None = None

    def start(self, after: Position | None) -> Position | None:
        """Read the tables that were not delivered before; begin to wait for the next reads of the others."""
        self._after = after.value if after is not None else 0
        folder = log_folder(self._context.folder)
        writer = self._writer = LogWriter(folder, notation="number")
        try:
            reader = self._reader = Reader(self._context.folder, writer, self._report)
            wanted = reader.unread(self._tables, self._after)
            if wanted:
                reader.first(wanted, self._after)
            log = self._log = LogReader(folder)
            again = [table for table in self._tables if table.options.refresh is not None]
            if again:
                self._refresher = Refresher(again, self._again, just_read={table.name for table in wanted})
        except BaseException:
            self.close()
            raise
        whole = log.whole_at()
        return whole if after is None or whole > after else None

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """What was read after a position; see the contract."""
        log, deadline = self._running(), time.monotonic() + wait
        while True:
            heard = self._refresher.heard if self._refresher is not None else 0
            delivery = log.read(after, limit, upto=upto)
            if delivery is not None:
                return delivery
            left = deadline - time.monotonic()
            if self._refresher is None:
                time.sleep(max(0.0, min(left, IDLE_SECONDS)))
                return None
            self._tell(self._refresher.trouble)
            self._refresher.check()
            if left <= 0 or not self._refresher.wait(heard, left):
                return None

    def now(self) -> Position:
        """All that is committed now: tables that are read again are read at once."""
        log = self._running()
        if self._refresher is not None:
            self._refresher.ask()
        return log.last or Position(self._after)

    def commit(self, position: Position) -> None:
        """Forget what is done."""
        self._running().trim(position)

    def close(self) -> None:
        """Stop reading; the log and the last reads stay."""
        if self._reader is not None:
            self._reader.is_stopped = True
        if self._refresher is not None:
            self._refresher.stop()
            self._refresher = None
        for held in (self._log, self._writer):
            if held is not None:
                held.close()
        self._log = self._writer = self._reader = None

    def _again(self, tables: Sequence[SourceTable], always: bool) -> None:
        assert self._reader is not None
        self._reader.again(tables, self._after, always=always)

    def _running(self) -> LogReader:
        if self._log is None:
            raise SourceError("the source is not started", hint="Call start first.")
        return self._log

    def _report(self, report: Report) -> None:
        # Reads that come later are nobody's progress bar, and come from another thread.
        if self._log is None:
            self._context.report(report)

    def _tell(self, trouble: str | None) -> None:
        if trouble is not None and trouble != self._trouble:
            self._context.report(waits(trouble))
        elif trouble is None and self._trouble is not None:
            self._context.report(is_back(self._trouble))
        self._trouble = trouble


def describe(options: JdbcSourceOptions) -> Schema:
    """A table's own columns and primary key, for a declaration without a column list."""
    table = SourceTable("", Schema(()), revealed(options))
    with moment_of(table.options) as moment:
        return described(find_in(moment, table), None)


def open_source(tables: Sequence[SourceTable], context: SourceContext) -> JdbcSource:
    """A source over the tables of one database; nothing is touched before `start`."""
    plain = [replace(table, options=revealed(table.options)) for table in tables]
    check_group(plain)
    return JdbcSource(plain, context)


def check(table: SourceTable) -> None:
    """The url says where a database is."""
    address_of(table.options, table.place)


def forget(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Nothing was made at the server."""


JDBC = SourceType(
    options=JdbcSourceOptions,
    describe=describe,
    group=group_of,
    open=open_source,
    forget=forget,
    append_only=only_inserts,
    check=check,
    origin=origin_of,
)
