"""The server's binary log, from its bytes into ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from headwater.errors import SourceError
from headwater.log import binlog
from headwater.log.binlog import Header
from headwater.log.pgoutput import Begin, Commit, Relation
from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.log.transactions import Collector
from headwater.sources.mysql import statements
from headwater.sources.mysql.births import birth_of
from headwater.sources.mysql.dump import Dump
from headwater.sources.mysql.layouts import Layouts
from headwater.sources.mysql.places import Place, file_number, file_of
from headwater.sources.mysql.resume import ANEW, BORN, COLUMNS, PLACE, SEEN, SERVER, From
from headwater.sources.mysql.tables import Tables

MAX_ROWS = 50_000
MAX_BYTES = 32_000_000
MAX_SECONDS = 0.1


class Stream:
    """Reads transactions and appends them; `appended` hears of every position that became durable."""

    def __init__(
        self,
        log: LogWriter,
        layouts: Layouts,
        tables: Tables,
        *,
        start: From,
        server: str,
        appended: Callable[[int], None],
    ) -> None:
        self._log, self._tables = log, tables
        self._seen, self._shift, self._appended = start.seen, start.shift, appended
        self._server = server
        self._births: dict[str, str] = {}
        """When the files that are read were begun."""
        self._collector = Collector(layouts, seq=log.seq, last=log.last or 0)
        self._parts: list[Segment] = []
        self._first_commit = 0.0
        self._file, self._at = "", 0
        self._gtid: binlog.Gtid | None = None
        self._is_open = self._has_end = False
        self._since = 0.0
        self.not_before = 0.0
        """Transactions that were committed before this moment are not wanted."""

    def run(self, dump: Dump) -> None:
        """Read until the connection ends, which raises."""
        while True:
            event = dump.next(0.0 if self._collector.has_done else 1.0)
            if event is None:
                self._flush()
                continue
            try:
                self._handle(*event)
            except SourceError:
                # What is complete before the event that cannot be followed is still told.
                self._flush()
                raise

    def _handle(self, header: Header, data: bytes) -> None:
        event = binlog.read_event(data, header)
        before = self._at
        if isinstance(event, binlog.Rotate):
            self._file, self._at = event.file, event.position
            self._tables.forget_maps()
            return
        if header.end and not header.flags & binlog.ARTIFICIAL:
            self._at = (before & ~0xFFFFFFFF) + header.end
            if self._at < before:
                # The place in a file is told without what is above 4 GB.
                self._at += 1 << 32
        if isinstance(event, binlog.Format):
            self._births[self._file] = birth_of(header)
        self._take(event, header, data, before)
        if not self._is_open and isinstance(event, binlog.Other | binlog.Format):
            self._moved()

    def _take(self, event: binlog.Event, header: Header, data: bytes, before: int) -> None:
        match event:
            case binlog.Rows():
                self._rows(event, len(data))
            case binlog.TableMap():
                self._map(event)
            case binlog.Xid():
                self._commit(float(header.time))
            case binlog.Gtid():
                self._begin(event, header, before)
            case binlog.Query():
                self._query(event, header, before)
            case binlog.Packed():
                for inner, body in binlog.unpacked(event.events):
                    self._take(binlog.read_event(body, inner), inner, body, before)
            case binlog.Prepared():
                self._prepared()
            case binlog.Partial():
                if self._tables.is_read(event.table):
                    raise self._tables.partial(event.table)
            case binlog.Other(kind=42):
                # Passed over, it would be read again at a server that takes the place of this one.
                raise SourceError(
                    "a transaction has a name with a tag",
                    detail=f"It stands at {Place(self._file, before)}; such names are not kept here.",
                    hint=f"Write to the server with gtid_next = 'AUTOMATIC', without a tag. {ANEW}",
                )
            case binlog.Incident():
                raise SourceError(
                    "the server says that events are missing in its log",
                    detail=f"{event.text} at {Place(self._file, self._at)}.",
                    hint=ANEW,
                )

    def _begin(self, gtid: binlog.Gtid, header: Header, before: int) -> None:
        self._gtid = gtid
        self._open(header, before)
        self._has_end = gtid.is_alone is False

    def _open(self, header: Header, before: int) -> None:
        if self._is_open:
            return
        self._is_open = True
        self._since = self._gtid.micros / 1e6 if self._gtid and self._gtid.micros else float(header.time)
        name = f"{self._gtid.source}:{self._gtid.number}" if self._gtid and self._gtid.number else ""
        self._collector.handle(Begin(self._value(before), self._since, name=name), 0)

    def _query(self, query: binlog.Query, header: Header, before: int) -> None:
        word = query.text.lstrip()[:12].upper()
        if word.startswith("BEGIN"):
            self._open(header, before)
            self._has_end = True
            return
        if word.startswith("COMMIT"):
            self._commit(float(header.time))
            return
        if word.startswith(("SAVEPOINT", "ROLLBACK", "XA START", "XA END")):
            if word.startswith("ROLLBACK"):
                self._taken_back(query, float(header.time))
            return
        self._open(header, before)
        self._follow(query)
        # A statement that changes definitions commits by itself, unless the rows of the new table follow.
        if not self._has_end and not query.text.endswith("START TRANSACTION"):
            self._commit(float(header.time))

    def _taken_back(self, query: binlog.Query, moment: float) -> None:
        if self._collector.open_rows or self._parts:
            raise SourceError(
                "a transaction that was taken back in part stands in the log with all its rows",
                detail="It also changed a table without transactions (MyISAM, Aria, MEMORY), so the server logged"
                f" '{query.text}' and left the rows before it.",
                hint=f"Make such tables ENGINE = InnoDB. {ANEW}",
            )
        if " TO " not in query.text.upper():
            self._commit(moment)

    def _commit(self, moment: float) -> None:
        if not self._is_open:
            return
        self._is_open = self._has_end = False
        gtid, self._gtid = self._gtid, None
        if gtid is not None and gtid.number:
            self._seen.add(gtid.source, gtid.number)
        self._collector.handle(Commit(self._value(self._at), self._since or moment), 0)
        now = time.monotonic()
        self._first_commit = self._first_commit or now
        if self._is_due(now):
            self._flush()

    def _moved(self) -> None:
        """An event outside of transactions: the log goes on without a change."""
        value = self._value(self._at)
        self._collector.handle(Begin(value), 0)
        self._collector.handle(Commit(value, 0.0), 0)

    def _map(self, table: binlog.TableMap) -> None:
        relation = self._tables.mapped(table)
        if relation is not None:
            self._announce(relation)

    def _announce(self, relation: Relation) -> None:
        if self._collector.changes_layout(relation):
            self._flush()
            self._spill()
        self._collector.handle(relation, 0)

    def _rows(self, rows: binlog.Rows, size: int) -> None:
        if not self._tables.is_read(rows.table) or self._since < self.not_before:
            return
        handle = self._collector.handle
        for message in self._tables.rows(rows):
            handle(message, 0)
        self._collector.open_bytes += size
        if self._collector.open_rows >= MAX_ROWS or self._collector.open_bytes >= MAX_BYTES:
            self._flush()
            self._spill()

    def _follow(self, query: binlog.Query) -> None:
        for statement in statements.statements_in(query.schema, query.text):
            for message in self._tables.follow(statement, self._value(self._at)):
                if isinstance(message, Relation):
                    self._announce(message)
                else:
                    self._collector.handle(message, 0)

    def _prepared(self) -> None:
        if self._collector.open_rows:
            raise SourceError(
                "a transaction of two phases (XA) changed a table that is read",
                detail="The log has its changes before it is known whether they will be committed.",
                hint="Write to the tables that are read without XA.",
            )
        self._commit(0.0)

    def _value(self, at: int) -> int:
        return Place(self._file, at).value(self._shift)

    def _is_due(self, now: float) -> bool:
        collector = self._collector
        return (
            bool(self._parts)
            or collector.done_rows >= MAX_ROWS
            or collector.done_bytes >= MAX_BYTES
            or now - self._first_commit >= MAX_SECONDS
        )

    def _flush(self) -> None:
        """Make the complete transactions durable."""
        taken = self._collector.take()
        if taken is None:
            return
        parts: Sequence[Segment] = [
            *self._parts,
            *(self._log.write(name, rows) for name, rows in taken.tables.items()),
        ]
        self._parts, self._first_commit = [], 0.0
        self._log.seq = taken.seq
        # The next file may have begun since.
        place = file_of(taken.last, self._shift, self._file)
        self._births = {
            file: born for file, born in self._births.items() if file_number(file) >= file_number(place.file)
        }
        facts = {
            SERVER: self._server,
            PLACE: str(place),
            BORN: self._births.get(place.file, ""),
            SEEN: str(self._seen),
            COLUMNS: self._tables.definitions.to_text(),
        }
        self._log.append(
            parts, first=taken.first, last=taken.last, committed_at=taken.committed_at or None, facts=facts
        )
        self._appended(taken.last)

    def _spill(self) -> None:
        """Write what is held of an open transaction; the manifest hears of it when it commits."""
        if self._collector.open_rows:
            tables = self._collector.take_open()
            self._parts += [self._log.write(name, rows) for name, rows in tables.items()]
        self._collector.open_bytes = 0
