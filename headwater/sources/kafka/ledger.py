"""Which position stands for which place in every partition, durably, so that a batch can be read again.

A position is a number: about how many messages lie before it, over all partitions. What it means stands here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headwater.errors import StateError
from headwater.log.events import Span
from headwater.log.private_file import private_file
from headwater.log.state_format import FORMAT, check_format
from headwater.storage.book import connect, settle

Vector = dict[str, dict[tuple[str, int], int]]
"""For each table the next message of each partition (topic and number)."""

_TABLES = """
CREATE TABLE IF NOT EXISTS places (
    position INTEGER PRIMARY KEY, vector TEXT NOT NULL, spans TEXT NOT NULL, committed_at REAL
);
CREATE TABLE IF NOT EXISTS vectors (name TEXT PRIMARY KEY, vector TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS topics (name TEXT PRIMARY KEY, id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


@dataclass(frozen=True)
class Entry:
    """A position: the vector it stands for, and the spans between the position before and this one."""

    position: int
    vector: Vector
    spans: Mapping[str, tuple[Span, ...]]
    committed_at: float | None = None


class Ledger:
    """The positions of one source that may still be asked for. Every write is durable when it returns."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "places.db"
        try:
            check_format(self._path, table="about", what="what was read of a topic")
            self._connection = connect(private_file(self._path))
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(_TABLES)
            settle(self._connection)
            with self._connection:
                self._connection.execute("INSERT OR IGNORE INTO about VALUES ('format', ?)", (str(FORMAT),))
        except sqlite3.DatabaseError as problem:
            raise StateError(
                "what was read of a topic cannot be told",
                detail=f"{self._path}: {problem}",
                hint="If it is damaged, start again from an empty state folder.",
            ) from None

    def add(self, entry: Entry) -> None:
        """Write a position down."""
        row = (entry.position, _vector_text(entry.vector), _spans_text(entry.spans), entry.committed_at)
        with self._connection:
            self._connection.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?)", row)

    def find(self, position: int) -> Entry | None:
        """What a position stands for, None if it is not known."""
        return next(self._entries("position = ?", position), None)

    def first(self) -> Entry | None:
        """The oldest position that is known."""
        return next(self._entries("position >= ?", -1), None)

    def last(self) -> Entry | None:
        """The newest position that is known."""
        found = self._connection.execute("SELECT max(position) FROM places").fetchone()
        return None if found[0] is None else self.find(found[0])

    def after(self, position: int) -> list[Entry]:
        """What was delivered after a position, in order."""
        return list(self._entries("position > ?", position))

    def forget_before(self, position: int) -> None:
        """Nobody will ask for what lies before a position."""
        with self._connection:
            self._connection.execute("DELETE FROM places WHERE position < ?", (position,))

    def keep(self, name: str, vector: Vector | None) -> None:
        """Write down a vector that stays over restarts (bounds, a goal) in the place of the one before."""
        with self._connection:
            self._connection.execute("DELETE FROM vectors WHERE name = ?", (name,))
            if vector is not None:
                self._connection.execute("INSERT INTO vectors VALUES (?, ?)", (name, _vector_text(vector)))

    def kept(self, name: str) -> Vector | None:
        """A vector that was written down."""
        found = self._connection.execute("SELECT vector FROM vectors WHERE name = ?", (name,)).fetchone()
        return None if found is None else _vector_of(found[0])

    def keep_ids(self, ids: Mapping[str, str]) -> None:
        """Write down which topics the places stand in: a topic's id is never given again."""
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO topics VALUES (?, ?)", ids.items())

    def ids(self) -> dict[str, str]:
        """The ids that were written down, by the names of the topics."""
        return dict(self._connection.execute("SELECT name, id FROM topics").fetchall())

    def topics(self) -> set[str]:
        """Every topic of which something was read."""
        last = self.last()
        return {topic for places in last.vector.values() for topic, _ in places} if last else set()

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def _entries(self, condition: str, value: int) -> Iterator[Entry]:
        found = self._connection.execute(
            f"SELECT * FROM places WHERE {condition} ORDER BY position", (value,)
        )
        for position, vector, spans, committed_at in found:
            yield Entry(position, _vector_of(vector), _spans_of(spans), committed_at)


def _vector_text(vector: Vector) -> str:
    return json.dumps({table: [[*p, at] for p, at in places.items()] for table, places in vector.items()})


def _vector_of(text: str) -> Vector:
    return {table: {(t, n): at for t, n, at in places} for table, places in json.loads(text).items()}


def _spans_text(spans: Mapping[str, tuple[Span, ...]]) -> str:
    return json.dumps(
        {t: [[s.topic, s.partition, s.begin, s.end] for s in parts] for t, parts in spans.items()}
    )


def _spans_of(text: str) -> dict[str, tuple[Span, ...]]:
    return {table: tuple(Span(*part) for part in parts) for table, parts in json.loads(text).items()}


def between(before: Vector, after: Vector, tables: Mapping[str, object]) -> dict[str, tuple[Span, ...]]:
    """The spans from one vector to another, of tables that have any."""
    found = {}
    for table in tables:
        parts = [
            Span(*place, before[table].get(place, 0), at)
            for place, at in after[table].items()
            if at > before[table].get(place, 0)
        ]
        if parts:
            found[table] = tuple(parts)
    return found


def covers(vector: Vector, goal: Vector) -> bool:
    """True if a vector is nowhere before a goal."""
    return all(vector[t].get(p, 0) >= at for t, places in goal.items() for p, at in places.items())


def count(vector: Vector) -> int:
    """How many messages lie before a vector."""
    return sum(at for places in vector.values() for at in places.values())


def joined(spans: Sequence[Span]) -> list[Span]:
    """Spans of one partition that follow each other as one."""
    found: dict[tuple[str, int], Span] = {}
    for span in spans:
        known = found.get((span.topic, span.partition))
        begin = span.begin if known is None else known.begin
        found[span.topic, span.partition] = replace(span, begin=begin)
    return list(found.values())
