"""The first rows of tables, all as of one moment, at the speed of COPY."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg2.errors
import pyarrow as pa
import pyarrow.compute as pc
from psycopg2 import sql

from headwater.errors import SourceError
from headwater.log.beside import Told, beside_column
from headwater.log.events import HISTORY, INSERT, POSITION, SEQ, WEIGHTS, first_history, told_schema
from headwater.log.letters import letters, letters_stem
from headwater.log.segments import Segment, SegmentStream
from headwater.sources.base import Lost
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.connect import TRANSACTION_TIMEOUT_SINCE, Address
from headwater.sources.postgres.copy_text import CopiedTable, columns_of, fitting_columns, pieces
from headwater.sources.postgres.ranges import Relation, hold, relations_of

ROWS_PER_FILE = 500_000


@dataclass(frozen=True)
class Moment:
    """What all readers of first rows share: the server, what they see of it, and where they write."""

    address: Address
    snapshot: str | None
    """The name under which the moment was exported; None if it is only one transaction's own."""
    position: int
    folder: Path


class Snapshot:
    """A transaction that sees the database as of one moment."""

    def __init__(self, opened: Any, name: str | None) -> None:
        """`name` is a snapshot that another connection exported; without one the moment is now."""
        self._opened = opened
        self._cursor = opened.cursor()
        if opened.server_version >= TRANSACTION_TIMEOUT_SINCE:
            self._cursor.execute("SET transaction_timeout = 0")
        self._cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if name is not None:
            self._join(name)
        # Rows that row security would hide are an error instead.
        self._cursor.execute("SET LOCAL row_security = off")

    def _join(self, name: str) -> None:
        try:
            self._cursor.execute("SET TRANSACTION SNAPSHOT %s", (name,))
        except (psycopg2.errors.UndefinedObject, psycopg2.errors.InvalidParameterValue) as error:
            raise Lost(
                "the moment that first rows are read at is gone",
                detail=f"{' '.join(str(error).split())}: the connection that held it was cut.",
                hint="A new moment is taken; what was read whole stays.",
            ) from None

    def wait_for_locks(self, seconds: float) -> None:
        """Wait no longer than this for whoever holds a table, or wants to."""
        self._cursor.execute("SET LOCAL lock_timeout = %s", (round(seconds * 1000),))

    def position(self) -> str:
        """Where the server's log stood when the moment was taken, or a little later."""
        self._cursor.execute(
            "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
            " ELSE pg_current_wal_insert_lsn() END::text"
        )
        return str(self._cursor.fetchone()[0])

    def export(self) -> str:
        """A name by which other connections can see the same moment, as long as this one does."""
        self._cursor.execute("SELECT pg_export_snapshot()")
        return str(self._cursor.fetchone()[0])

    def relations(self, pairs: Sequence[Pair]) -> list[tuple[str, Relation]]:
        """What holds the rows of tables; until this transaction ends, nobody can move their pages."""
        for pair in pairs:
            hold(self._cursor, pair)
        return [(pair.declared.name, one) for pair in pairs for one in relations_of(self._cursor, pair)]

    def page_bytes(self) -> int:
        """How large a page is at this server."""
        self._cursor.execute("SELECT current_setting('block_size')::int")
        return int(self._cursor.fetchone()[0])

    def copy(self, where: sql.Composable, rows: FirstRows) -> None:
        """Take the columns of a table's rows; `where` is what stands behind FROM."""
        command = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(
            sql.SQL(", ").join(sql.Identifier(name) for name in rows.table.columns), where
        )
        with pieces(rows.take) as file:
            self._cursor.copy_expert(command, file)

    def close(self) -> None:
        """End the transaction; the server may clean up what it kept for it."""
        self._cursor.execute("COMMIT")
        self._opened.close()


class FirstRows:
    """Rows of a part of a table on their way into segments, as inserts at the position of the moment."""

    def __init__(
        self, table: CopiedTable, moment: Moment, *, seq: int, stem: str, heard: Callable[[int], None]
    ) -> None:
        """`heard` is told how many rows more were written."""
        self.table = table
        self._position, self._seq, self._heard = moment.position, seq, heard
        self._schema = told_schema(table.schema)
        self._stream, self._letters = (
            SegmentStream(moment.folder, one, table=table.name, rows_per_file=ROWS_PER_FILE)
            for one in (stem, letters_stem(stem))
        )

    def take(self, piece: bytes) -> None:
        """Type and write some whole rows as COPY sends them."""
        try:
            columns = columns_of(piece, self.table)
        except SourceError:
            if not self.table.parks:
                raise
            columns = self._without_letters(piece)
        if len(columns[0]):
            events = self._events(columns)
            self._stream.write(events)
            self._heard(events.num_rows)

    def close(self) -> tuple[Segment, ...]:
        """What was written, forced to disk."""
        return (*self._stream.close(), *self._letters.close())

    def _without_letters(self, piece: bytes) -> list[pa.Array]:
        """The columns of the rows that fit; the others are put aside."""
        columns, read = fitting_columns(piece, self.table)
        unfit = read.unfit()
        rejected = read.filter(unfit)
        count = len(rejected.texts[0])
        numbers, positions = self._numbers(count), pa.repeat(pa.scalar(self._position, pa.int64()), count)
        history = dict(zip(HISTORY, first_history(count, datetime.now(UTC)), strict=True))
        self._letters.write(letters(rejected, {SEQ: numbers, POSITION: positions, **history}, positions))
        return [column.filter(pc.invert(unfit)) for column in columns]

    def _numbers(self, count: int) -> pa.Array:
        """The numbers of so many events."""
        first, self._seq = self._seq, self._seq + count
        return pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count), start=first)

    def _events(self, columns: list[pa.Array]) -> pa.Table:
        count, table = len(columns[0]), self.table
        weights = pa.repeat(pa.scalar(WEIGHTS[INSERT], pa.int8()), count)
        positions = pa.repeat(pa.scalar(self._position, pa.int64()), count)
        ops, transactions, committed, appended = first_history(count, datetime.now(UTC))
        told, values = Told(weights, ops, transactions, committed, positions), list(columns)
        for one in table.beside:
            made = beside_column(one, table.schema, told, table=table.name, place=table.place)
            values.insert(one.place, made)
        values += [pa.repeat(INSERT, count), weights, positions, self._numbers(count)]
        values += [pa.nulls(count, pa.list_(pa.string())), ops, transactions, committed, appended]
        return pa.Table.from_arrays(values, schema=self._schema)
