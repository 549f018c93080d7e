"""The first rows of tables, all as of one moment, at the speed of COPY."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from psycopg2 import sql

from headwater.log.beside import Told, beside_column
from headwater.log.events import INSERT, WEIGHTS, first_history, told_schema
from headwater.log.segments import Segment, SegmentStream
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.connect import TRANSACTION_TIMEOUT_SINCE, Address
from headwater.sources.postgres.copy_text import CopiedTable, columns_of, pieces
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
            self._cursor.execute("SET TRANSACTION SNAPSHOT %s", (name,))
        # Rows that row security would hide are an error instead.
        self._cursor.execute("SET LOCAL row_security = off")

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
        self._stream = SegmentStream(moment.folder, stem, table=table.name, rows_per_file=ROWS_PER_FILE)

    def take(self, piece: bytes) -> None:
        """Type and write some whole rows as COPY sends them."""
        events = self._events(columns_of(piece, self.table))
        self._stream.write(events)
        self._heard(events.num_rows)

    def close(self) -> tuple[Segment, ...]:
        """What was written, forced to disk."""
        return self._stream.close()

    def _events(self, columns: list[pa.Array]) -> pa.Table:
        count, table = len(columns[0]), self.table
        ones = pa.repeat(pa.scalar(1, pa.int64()), count)
        weights = pa.repeat(pa.scalar(WEIGHTS[INSERT], pa.int8()), count)
        positions = pa.repeat(pa.scalar(self._position, pa.int64()), count)
        ops, transactions, committed, appended = first_history(count, datetime.now(UTC))
        told, values = Told(weights, ops, transactions, committed, positions), list(columns)
        for one in table.beside:
            made = beside_column(one, table.schema, told, table=table.name, place=table.place)
            values.insert(one.place, made)
        numbers = pc.cumulative_sum(ones, start=self._seq)
        values += [pa.repeat(INSERT, count), weights, positions, numbers]
        values += [pa.nulls(count, pa.list_(pa.string())), ops, transactions, committed, appended]
        self._seq += count
        return pa.Table.from_arrays(values, schema=self._schema)
