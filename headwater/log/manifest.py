"""The manifest: which segments belong to which append, and where the log ends.

A SQLite file in WAL mode with full sync. The capture writes appends, the driver reads and trims; both at once
is what WAL mode is for. Whatever is not named here does not exist, even if a file of it lies in the folder.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import StateError
from headwater.log.losses import Loss, loss_from_json
from headwater.log.private_file import opening, private_file
from headwater.log.segments import Segment
from headwater.log.state_format import FORMAT, check_format
from headwater.schema import Schema, schema_from_json
from headwater.storage.book import connect, settle

FILE = "manifest.sqlite"

_TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tables (
    name TEXT PRIMARY KEY, schema TEXT NOT NULL, origin TEXT NOT NULL, snapshot INTEGER
);
CREATE TABLE IF NOT EXISTS appends (
    id INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER NOT NULL, last INTEGER NOT NULL,
    rows INTEGER NOT NULL, committed_at REAL, appended_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS appends_last ON appends (last);
CREATE TABLE IF NOT EXISTS segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, append INTEGER, name TEXT NOT NULL,
    file TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL, whole INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS segments_append ON segments (append);
CREATE TABLE IF NOT EXISTS parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, of TEXT NOT NULL,
    position INTEGER NOT NULL, segments TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS losses (
    name TEXT NOT NULL, of TEXT NOT NULL, position INTEGER NOT NULL, said TEXT NOT NULL, PRIMARY KEY (name, of)
);
"""


@dataclass(frozen=True)
class LoggedTable:
    """A table whose first rows are in the log, or that was taken up without them."""

    name: str
    schema: Schema
    origin: str
    """What the table is at its source, so that a changed declaration is noticed."""
    snapshot: int | None
    """Events of transactions up to this position are in the snapshot already and are dropped."""


@dataclass(frozen=True)
class Part:
    """A part of a table's first rows that is durable before all of them are."""

    table: str
    of: str
    """What it is a part of, so that whoever goes on can tell whether it still counts."""
    position: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Append:
    """Whole transactions that became durable at once."""

    id: int
    first: int
    last: int
    rows: int
    committed_at: float | None


class Manifest:
    """The manifest of one log; see the module."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        try:
            check_format(self._path, table="about", what="the log")
            # Calls come from the thread that reads and the one that commits, one at a time.
            self._connection = connect(private_file(self._path), timeout=30.0, level=None)
        except sqlite3.DatabaseError as error:
            raise self._unreadable(error) from error
        try:
            with opening(folder):
                self._open()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise self._unreadable(error) from error

    def _open(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        with self.transaction():
            for statement in filter(str.strip, _TABLES.split(";")):
                self._connection.execute(statement)
        settle(self._connection)
        self._connection.execute("INSERT OR IGNORE INTO about VALUES ('format', ?)", (str(FORMAT),))

    def _unreadable(self, error: sqlite3.DatabaseError) -> StateError:
        return StateError(
            "the manifest of the log cannot be read",
            detail=f"{self._path}: {error}.",
            hint="Remove the state with 'headwater drop' and start anew.",
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, durable at the end."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Free the file."""
        self._connection.close()

    def recall(self, key: str) -> str | None:
        """What was remembered under a key."""
        row = self._connection.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def remember(self, key: str, value: str) -> None:
        """Keep a fact about the log."""
        self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, value))

    def number(self, key: str) -> int | None:
        """A remembered number."""
        text = self.recall(key)
        return None if text is None else int(text)

    def tables(self) -> dict[str, LoggedTable]:
        """The tables of the log by name."""
        rows = self._connection.execute("SELECT name, schema, origin, snapshot FROM tables").fetchall()
        return {
            name: LoggedTable(name, schema_from_json(json.loads(schema)), origin, snapshot)
            for name, schema, origin, snapshot in rows
        }

    def put_table(self, table: LoggedTable) -> None:
        """Take up a table."""
        self._connection.execute(
            "INSERT OR REPLACE INTO tables VALUES (?, ?, ?, ?)",
            (table.name, json.dumps(table.schema.to_json()), table.origin, table.snapshot),
        )

    def drop_table(self, name: str) -> list[str]:
        """Forget a table; the files that were its."""
        found = self._connection.execute("SELECT file FROM segments WHERE name = ?", (name,)).fetchall()
        for kind in ("segments", "tables", "losses"):
            self._connection.execute(f"DELETE FROM {kind} WHERE name = ?", (name,))
        return [str(file) for (file,) in found]

    def put_segments(self, segments: Sequence[Segment], append: int | None) -> None:
        """Name segments; those of no append wait for one (`adopt`)."""
        self._connection.executemany(
            "INSERT INTO segments (append, name, file, rows, whole) VALUES (?, ?, ?, ?, ?)",
            [(append, s.table, s.file, s.rows, s.whole) for s in segments],
        )

    def put_append(self, append: Append, appended_at: float) -> int:
        """Enter an append; its id."""
        cursor = self._connection.execute(
            "INSERT INTO appends (first, last, rows, committed_at, appended_at) VALUES (?, ?, ?, ?, ?)",
            (append.first, append.last, append.rows, append.committed_at, appended_at),
        )
        self.remember("last", str(append.last))
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def adopt(self, append: int, last: int) -> None:
        """Give snapshots that wait, up to position `last`, to this append."""
        self._connection.execute(
            "UPDATE segments SET append = ? WHERE append IS NULL AND name IN"
            " (SELECT name FROM tables WHERE snapshot <= ?)",
            (append, last),
        )
        self._connection.execute(
            "UPDATE appends SET rows = (SELECT coalesce(sum(rows), 0) FROM segments WHERE append = ?)"
            " WHERE id = ?",
            (append, append),
        )

    def appends_after(self, position: int) -> Iterator[Append]:
        """Appends that end after a position, in order."""
        rows = self._connection.execute(
            "SELECT id, first, last, rows, committed_at FROM appends WHERE last > ? ORDER BY id",
            (position,),
        )
        for row in rows:
            yield Append(*row)

    def last_with_rows(self, before: int | None = None) -> int | None:
        """Where the last append ends that has rows and is not trimmed, of those that end before a position."""
        row = self._connection.execute(
            "SELECT max(last) FROM appends WHERE rows > 0 AND last < coalesce(?, last + 1)", (before,)
        ).fetchone()
        return None if row[0] is None else int(row[0])

    def drop_empty(self) -> None:
        """Forget appends without rows, but for the last: they only told how far the source was."""
        self._connection.execute("DELETE FROM appends WHERE rows = 0 AND id < (SELECT max(id) FROM appends)")

    def segments_between(self, after: int, upto: int) -> list[Segment]:
        """The segments of the appends that end after one position and not after another, in log order."""
        rows = self._connection.execute(
            "SELECT s.name, s.file, s.rows, s.whole FROM segments s JOIN appends a ON a.id = s.append"
            " WHERE a.last > ? AND a.last <= ? ORDER BY s.append, s.id",
            (after, upto),
        ).fetchall()
        return [Segment(name, file, count, bool(whole)) for name, file, count, whole in rows]

    def segments_of(self, first: int, last: int) -> list[Segment]:
        """The segments of the appends between two ids, in log order."""
        rows = self._connection.execute(
            "SELECT name, file, rows, whole FROM segments WHERE append BETWEEN ? AND ? ORDER BY append, id",
            (first, last),
        ).fetchall()
        return [Segment(name, file, count, bool(whole)) for name, file, count, whole in rows]

    def files(self) -> set[str]:
        """All files that are named."""
        named = {str(f) for (f,) in self._connection.execute("SELECT file FROM segments").fetchall()}
        return named | {segment.file for part in self.parts() for segment in part.segments}

    def put_part(self, part: Part) -> None:
        """Name a part of a table's first rows."""
        said = json.dumps([[s.file, s.rows, s.whole] for s in part.segments])
        self._connection.execute(
            "INSERT INTO parts (name, of, position, segments) VALUES (?, ?, ?, ?)",
            (part.table, part.of, part.position, said),
        )

    def parts(self) -> list[Part]:
        """All parts of first rows that are not whole yet, in the order in which they came."""
        rows = self._connection.execute(
            "SELECT name, of, position, segments FROM parts ORDER BY id"
        ).fetchall()
        return [
            Part(name, of, position, tuple(Segment(name, *one) for one in json.loads(segments)))
            for name, of, position, segments in rows
        ]

    def drop_parts(self, name: str) -> None:
        """No longer name the parts of a table."""
        self._connection.execute("DELETE FROM parts WHERE name = ?", (name,))

    def put_losses(self, losses: Sequence[Loss], position: int) -> None:
        """Enter what can no longer be told from the append on that ends at a position; what is known stays known."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO losses VALUES (?, ?, ?, ?)",
            [(loss.table, loss.column or "", position, json.dumps(loss.to_json())) for loss in losses],
        )

    def losses(self, after: int = -1) -> list[tuple[int, Loss]]:
        """What was lost by appends that end after a position, and where these end."""
        rows = self._connection.execute(
            "SELECT position, said FROM losses WHERE position > ? ORDER BY position, name, of", (after,)
        ).fetchall()
        return [(position, loss_from_json(json.loads(said))) for position, said in rows]

    def snapshot_floor(self) -> int:
        """The greatest position at which a table's snapshot stands."""
        row = self._connection.execute("SELECT max(snapshot) FROM tables").fetchone()
        return int(row[0] or 0)

    def trim(self, position: int) -> list[str]:
        """Forget appends that end at or before a position; the files that were theirs."""
        with self.transaction():
            found = self._connection.execute(
                "SELECT file FROM segments WHERE append IN (SELECT id FROM appends WHERE last <= ?)",
                (position,),
            ).fetchall()
            self._connection.execute(
                "DELETE FROM segments WHERE append IN (SELECT id FROM appends WHERE last <= ?)", (position,)
            )
            self._connection.execute("DELETE FROM appends WHERE last <= ?", (position,))
            self.remember("trimmed", str(max(position, self.number("trimmed") or 0)))
        return [str(file) for (file,) in found]
