"""The first rows of tables, all as of one moment, at the speed of COPY.

The server's rows arrive on one thread while another types and writes them; both hold a few megabytes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from psycopg2 import sql

from headwater.log.events import INSERT, WEIGHTS, first_history, told_schema
from headwater.log.segments import Segment
from headwater.log.store import LogWriter
from headwater.log.text_values import typed_column
from headwater.sources.base import Report
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.copied import RowChunks, texts_of
from headwater.sources.postgres.server import relation
from headwater.sources.postgres.types import family

Progress = Callable[[Report], None]
"""Hears how far the first rows of a table are."""


class Snapshot:
    """A transaction that sees the database as of one moment."""

    def __init__(self, opened: Any, name: str | None) -> None:
        """`name` is a snapshot that another connection exported; without one the moment is now."""
        self._opened = opened
        self._cursor = opened.cursor()
        self._cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if name is not None:
            self._cursor.execute("SET TRANSACTION SNAPSHOT %s", (name,))
        # Rows that row security would hide are an error instead.
        self._cursor.execute("SET LOCAL row_security = off")

    def position(self) -> str:
        """Where the server's log stood when the moment was taken, or a little later."""
        self._cursor.execute("SELECT pg_current_wal_insert_lsn()::text")
        return str(self._cursor.fetchone()[0])

    def copy(self, pair: Pair, log: LogWriter, *, position: int, progress: Progress) -> tuple[Segment, ...]:
        """Write all rows of a table into the log as inserts at `position`."""
        stream = log.snapshot(pair.declared.name)
        typer = _Typer(pair, position, log.seq)
        done = 0

        def take(chunk: list[bytes]) -> None:
            nonlocal done
            events = typer.events(chunk)
            stream.write(events)
            done += events.num_rows
            progress(Report("snapshot", pair.declared.name, done, pair.found.estimate))

        columns = [pair.found.column(column.name) for column in pair.declared.schema]
        command = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv)").format(
            sql.SQL(", ").join(sql.Identifier(c.name) for c in columns if c is not None),
            relation(pair.found),
        )
        progress(Report("snapshot", pair.declared.name, 0, pair.found.estimate))
        with RowChunks(take) as chunks:
            self._cursor.copy_expert(command, chunks)
        log.seq = typer.seq
        return stream.close()

    def close(self) -> None:
        """End the transaction; the server may clean up what it kept for it."""
        self._cursor.execute("COMMIT")
        self._opened.close()


class _Typer:
    """Turns CSV into typed insert events."""

    def __init__(self, pair: Pair, position: int, seq: int) -> None:
        self._pair = pair
        self._position = position
        self.seq = seq
        self._schema = told_schema(pair.declared.schema)

    def events(self, chunk: list[bytes]) -> pa.Table:
        texts = texts_of(chunk, len(self._pair.declared.schema.columns))
        count = len(texts[0])
        columns = []
        for i, column in enumerate(self._pair.declared.schema):
            found = self._pair.found.column(column.name)
            assert found is not None
            columns.append(
                typed_column(
                    texts[i],
                    column,
                    family=family(found.type),
                    table=self._pair.declared.name,
                    place=self._pair.declared.place,
                )
            )
        columns.append(pa.repeat(INSERT, count))
        columns.append(pa.repeat(pa.scalar(WEIGHTS[INSERT], pa.int8()), count))
        columns.append(pa.repeat(pa.scalar(self._position, pa.int64()), count))
        columns.append(pa.array(range(self.seq + 1, self.seq + count + 1), pa.int64()))
        columns.append(pa.nulls(count, pa.list_(pa.string())))
        columns += first_history(count, datetime.now(UTC))
        self.seq += count
        return pa.Table.from_arrays(columns, schema=self._schema)
