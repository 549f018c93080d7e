"""Reads tables into the log: the first time all rows, after that what changed since the read before.

The log is the one that every source writes; beside it lie the last reads of tables that are read again, each in a
folder named after its position. A read counts as soon as the log has reached its position, and not before, so that
whatever is interrupted leaves the former read in force.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from headwater.errors import StateError
from headwater.jdbc_url import MYSQL, POSTGRES
from headwater.log.events import DELETE, INSERT, SMALL_ROWS, WEIGHTS, event_schema
from headwater.log.manifest import LoggedTable
from headwater.log.segments import Segment, SegmentStream
from headwater.log.store import SNAPSHOT_ROWS, LogWriter
from headwater.schema import Schema
from headwater.sources.base import Report, SourceTable
from headwater.sources.jdbc.difference import DIGESTS, ROWS, Piece, difference, digests_of
from headwater.sources.jdbc.mysql import MysqlMoment
from headwater.sources.jdbc.options import JdbcSourceOptions, address_of, origin_of
from headwater.sources.jdbc.postgres import PostgresMoment
from headwater.sources.jdbc.server import Chunk, Found, Moment, chosen_columns, typed_columns

MOMENTS: dict[str, Callable[..., Moment]] = {POSTGRES: PostgresMoment, MYSQL: MysqlMoment}


class Stopped(Exception):
    """Nobody waits for the read any more."""


@contextmanager
def moment_of(options: JdbcSourceOptions) -> Iterator[Moment]:
    """One moment of the database of a table, let go at the end."""
    address = address_of(options)
    opened = MOMENTS[address.kind](address, options.password)
    try:
        yield opened
    finally:
        opened.close()


def find_in(moment: Moment, table: SourceTable) -> Found:
    """The table at the server."""
    options: JdbcSourceOptions = table.options
    schema, dot, name = options.table_name.partition(".")
    own = address_of(options).schema
    return moment.find(schema if dot else own, name if dot else schema, table.place)


def log_folder(folder: Path) -> Path:
    """Where in the folder of a source its log lies."""
    return folder / "log"


class Reader:
    """Reads tables of one database into a log."""

    def __init__(self, folder: Path, log: LogWriter, report: Callable[[Report], None]) -> None:
        self._folder = folder
        self._log = log
        self._report = report
        self.is_stopped = False

    def unread(self, tables: Sequence[SourceTable], after: int) -> list[SourceTable]:
        """Tables whose first rows have to come; the log forgets what it has of them and of tables nobody reads."""
        known = self._log.manifest.tables()
        last, done = self._log.last or 0, max(after, self._log.manifest.number("trimmed") or 0)
        wanted = []
        for table in tables:
            logged = known.get(table.name)
            is_same = logged is not None and (logged.schema, logged.origin) == (table.schema, _made_of(table))
            snapshot = logged.snapshot if logged is not None else None
            is_due = snapshot is not None and done < snapshot <= last
            if not is_same or (table.anew and not is_due) or (snapshot or 0) > last:
                wanted.append(table)
        kept = {table.name for table in tables} - {table.name for table in wanted}
        for name in known.keys() - kept:
            self._log.forget(name)
        self._tidy(self._reads_of(name) for name in kept)
        return wanted

    def first(self, tables: Sequence[SourceTable], after: int) -> None:
        """All rows of some tables, as of one moment, as inserts at one new position."""
        position, now = self._next(after), time.time()
        with moment_of(tables[0].options) as moment:
            for table in tables:
                stream = self._log.snapshot(table.name)
                self._log.seq = self._copy(moment, table, stream=stream, position=position)
                segments = stream.close()
                if table.options.refresh is not None:
                    self._keep(self._read_at(table, position), segments)
                entered = LoggedTable(table.name, table.schema, _made_of(table), position)
                self._log.put_snapshot(entered, segments)
        self._log.append([], first=position, last=position, committed_at=now)

    def again(self, tables: Sequence[SourceTable], after: int, *, always: bool) -> None:
        """What changed in some tables since they were read, as of one moment, at one new position.

        If nothing did, no position is taken, unless one is `always` wanted.
        """
        position, now = self._next(after), time.time()
        with moment_of(tables[0].options) as moment:
            for table in tables:
                folder = self._read_at(table, position)
                stream = SegmentStream(folder, ROWS, table=table.name, rows_per_file=SNAPSHOT_ROWS)
                self._copy(moment, table, stream=stream, position=position)
                stream.close()
        parts = [part for table in tables for part in self._changes(table, position)]
        if parts or always:
            self._log.append(parts, first=position, last=position, committed_at=now)
        self._tidy(self._reads.glob("*"))

    def _copy(self, moment: Moment, table: SourceTable, *, stream: SegmentStream, position: int) -> int:
        """All rows of a table into a stream, as inserts; the last sequence number given to them.

        Of a table that is read again their digests go into the folder of the read, beside.
        """
        found = find_in(moment, table)
        columns = chosen_columns(found, table)
        beside = self._digests(table, position) if table.options.refresh is not None else None
        seq = begin = self._log.seq

        def take(chunk: Chunk) -> None:
            nonlocal seq
            if self.is_stopped:
                raise Stopped
            typed = typed_columns(chunk, columns, table)
            stream.write(_events(table.schema, typed, INSERT, position=position, seq=seq))
            if beside is not None:
                beside.write(digests_of(chunk.rows))
            seq += len(chunk.rows)
            self._report(Report("snapshot", table.name, seq - begin, found.estimate))

        self._report(Report("snapshot", table.name, 0, found.estimate))
        moment.read(found, columns, take)
        if beside is not None:
            beside.close()
        return seq

    def _changes(self, table: SourceTable, position: int) -> list[Segment]:
        """The difference of a table's two last reads, in segments; without any the later read goes."""
        old, new = self._current(table), self._read_at(table, position)
        parts: list[Segment] = []
        waiting: list[pa.Table] = []
        for piece in difference(old, new):
            waiting.append(self._piece_events(table, piece, position))
            if sum(events.num_rows for events in waiting) >= SMALL_ROWS:
                parts.append(self._log.write(table.name, pa.concat_tables(waiting)))
                waiting = []
        if waiting:
            parts.append(self._log.write(table.name, pa.concat_tables(waiting)))
        if not parts:
            shutil.rmtree(new)
        return parts

    def _piece_events(self, table: SourceTable, piece: Piece, position: int) -> pa.Table:
        columns = [piece.rows.column(name).combine_chunks() for name in table.schema.names]
        kind = INSERT if piece.weight > 0 else DELETE
        events = _events(table.schema, columns, kind, position=position, seq=self._log.seq)
        self._log.seq += piece.rows.num_rows
        return events

    def _next(self, after: int) -> int:
        return max(self._log.last or 0, after) + 1

    @property
    def _reads(self) -> Path:
        return self._folder / "reads"

    def _reads_of(self, table: str) -> Path:
        return self._reads / quote(table, safe="")

    def _read_at(self, table: SourceTable, position: int) -> Path:
        return self._reads_of(table.name) / f"{position:012d}"

    def _digests(self, table: SourceTable, position: int) -> SegmentStream:
        """A stream of digests into the folder of a read, which is empty before."""
        folder = self._read_at(table, position)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return SegmentStream(folder, DIGESTS, table=table.name, rows_per_file=SNAPSHOT_ROWS)

    def _keep(self, read: Path, segments: Sequence[Segment]) -> None:
        """Give the files of a first read a second name, under which they outlive their delivery."""
        for segment in segments:
            number = segment.file.rpartition("-")[2]
            (read / f"{ROWS}-{number}").hardlink_to(log_folder(self._folder) / segment.file)

    def _current(self, table: SourceTable) -> Path:
        last = self._log.last or 0
        found = [path for path in self._reads_of(table.name).glob("*") if int(path.name) <= last]
        if not found:
            raise StateError(
                f"the former read of table '{table.name}' is gone",
                detail=f"Nothing of it lies in {self._reads}, so that what changed since cannot be told.",
                hint="Remove the state with headwater drop, and start again.",
            )
        return max(found)

    def _tidy(self, kept: Iterable[Path]) -> None:
        """Remove reads of tables that are not kept, those that never counted, and all but the last that does."""
        last, named = self._log.last or 0, set(kept)
        for folder in self._reads.glob("*"):
            counting = sorted(path for path in folder.glob("*") if int(path.name) <= last)
            for path in folder.glob("*"):
                if folder not in named or path not in counting[-1:]:
                    shutil.rmtree(path)


def _made_of(table: SourceTable) -> str:
    return origin_of(table.options)


def _events(schema: Schema, columns: list[pa.Array], kind: str, *, position: int, seq: int) -> pa.Table:
    """Rows of a table as events of one kind."""
    wanted, count = event_schema(schema), len(columns[0])
    about = [
        pa.repeat(kind, count),
        pa.repeat(pa.scalar(WEIGHTS[kind], pa.int8()), count),
        pa.repeat(pa.scalar(position, pa.int64()), count),
        pa.array(range(seq + 1, seq + count + 1), pa.int64()),
        pa.nulls(count, wanted.types[-1]),
    ]
    return pa.Table.from_arrays([*columns, *about], schema=wanted)
