"""Progress: one atomic record of what is durably done.

A SQLite file in the pipeline's folder says: the batch, its cut, the relations and the runs their State is made of. It is
written after the sinks, in one transaction; before the sinks the cut a batch will end at is written down, so that after
a crash the very same batch is done again.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from headwater.errors import StateError
from headwater.log.positions import Cut, cut_from_json
from headwater.log.private_file import private_file
from headwater.log.state_format import FORMAT, check_format
from headwater.schema import schema_from_json
from headwater.storage.book import connect, settle
from headwater.storage.place import files_of, is_of_later_turn, own_mark
from headwater.tables.state import Run, State

FILE = "progress.db"

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS progress (one INTEGER PRIMARY KEY CHECK (one = 1), batch INTEGER, cut TEXT);
CREATE TABLE IF NOT EXISTS planned (one INTEGER PRIMARY KEY CHECK (one = 1), batch INTEGER, cut TEXT);
CREATE TABLE IF NOT EXISTS relations (name TEXT PRIMARY KEY, fingerprint TEXT, schema TEXT);
CREATE TABLE IF NOT EXISTS runs (relation TEXT, number INTEGER, file TEXT, rows INTEGER, PRIMARY KEY (relation, number));
"""


@dataclass(frozen=True)
class Saved:
    """A relation as progress knows it: its State and what it was made from."""

    fingerprint: str
    state: State


class Progress:
    """The record of one pipeline. Reads are from memory; every write is one durable transaction."""

    def __init__(self, folder: Path) -> None:
        self.books = folder
        """Where it lies itself, and what the sources note."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = files_of(folder)
        """Where State lies, and what else executors read."""
        self._mark = own_mark(folder)
        self.check_turn: Callable[[], None] = lambda: None
        """Raises if another driver has taken over."""
        self._connection = _opened(folder / FILE)
        self.batch_id, self.cut = self._place("progress")
        self.planned_batch, self.planned_cut = self._place("planned")
        self.relations = dict(self._relations())

    def keep_texts(self, texts: Mapping[str, str]) -> None:
        """Keep texts beside the record (the pipeline's name, its script), all at once."""
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", texts.items())

    def text(self, name: str) -> str | None:
        """The text kept under a name."""
        found = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def plan(self, batch_id: int, cut: Cut) -> None:
        """Write down the cut a batch will end at, before any sink hears of it."""
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO planned VALUES (1, ?, ?)", (batch_id, json.dumps(cut.to_json()))
            )
        self.planned_batch, self.planned_cut = batch_id, cut

    def retire(self, gone: Iterable[str], stale: Iterable[str]) -> None:
        """Forget relations; of stale ones the rows stay, to be taken back when they are computed anew."""
        with self._connection:
            for name in gone:
                self._connection.execute("DELETE FROM relations WHERE name = ?", (name,))
                self._connection.execute("DELETE FROM runs WHERE relation = ?", (name,))
                self.relations.pop(name)
            for name in stale:
                self._connection.execute("UPDATE relations SET fingerprint = '' WHERE name = ?", (name,))
                self.relations[name] = replace(self.relations[name], fingerprint="")

    def commit(
        self, batch_id: int, cut: Cut, changed: Mapping[str, Saved], *, texts: Mapping[str, str] | None = None
    ) -> None:
        """A batch is done: its number, its cut, the new State of every relation that changed, texts to keep."""
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", (texts or {}).items())
            for name, saved in changed.items():
                self._save(name, saved)
            self._connection.execute(
                "INSERT OR REPLACE INTO progress VALUES (1, ?, ?)", (batch_id, json.dumps(cut.to_json()))
            )
        self.relations.update(changed)
        self.batch_id, self.cut = batch_id, cut

    def runs(self, relation: str) -> tuple[Run, ...]:
        """The files of a relation as they are saved."""
        saved = self.relations.get(relation)
        return () if saved is None else saved.state.runs

    @property
    def paths(self) -> list[Path]:
        """The files of all relations as they are saved."""
        return [path for saved in self.relations.values() for path in saved.state.paths]

    def leftovers(self) -> list[Path]:
        """Files that a step wrote and that are not saved: it never became true. Those of later turns are not ours."""
        named = set(self.paths)
        found = [path for path in (self.folder / "state").rglob("*.parquet") if path not in named]
        return [path for path in found if not is_of_later_turn(self.books, path.parent.name)]

    def confirm(self) -> None:
        """Raise if another driver has taken over, also if it was a moment ago."""
        # A transaction begins with what others have recorded, so that nothing has to be written to learn of them.
        self.keep_texts({})

    def state_folder(self, relation: str) -> Path:
        """Where new runs of a relation go: nobody who had an earlier turn gives a file there a name."""
        return state_folder(self.folder, relation) / self._mark.removeprefix("-")

    def working_folder(self, name: str) -> Path:
        """Where things go that need not stay."""
        return self.folder / f"{name}{self._mark}"

    @property
    def for_executors(self) -> Path | None:
        """Where those on other machines find what the driver puts down for a step; None if there are none."""
        return self.working_folder("work") if self._mark else None

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def _save(self, name: str, saved: Saved) -> None:
        known = self.relations.get(name)
        schema = json.dumps(saved.state.schema.to_json())
        if known is None or known.fingerprint != saved.fingerprint:
            self._connection.execute(
                "INSERT OR REPLACE INTO relations VALUES (?, ?, ?)", (name, saved.fingerprint, schema)
            )
        before = known.state.runs if known is not None else ()
        pairs = itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(before, saved.state.runs, strict=False)
        )
        keep = sum(1 for _ in pairs)
        self._connection.execute("DELETE FROM runs WHERE relation = ? AND number >= ?", (name, keep))
        rows = [
            (name, number, str(run.path.relative_to(self.folder)), run.rows)
            for number, run in enumerate(saved.state.runs)
            if number >= keep
        ]
        self._connection.executemany("INSERT INTO runs VALUES (?, ?, ?, ?)", rows)

    def _place(self, table: str) -> tuple[int, Cut]:
        found = self._connection.execute(f"SELECT batch, cut FROM {table}").fetchone()
        return (0, Cut()) if found is None else (int(found[0]), cut_from_json(json.loads(found[1])))

    def _relations(self) -> Iterable[tuple[str, Saved]]:
        runs: dict[str, list[Run]] = {}
        for relation, file, rows in self._connection.execute(
            "SELECT relation, file, rows FROM runs ORDER BY relation, number"
        ):
            runs.setdefault(relation, []).append(Run(self.folder / file, rows))
        for name, fingerprint, schema in self._connection.execute("SELECT * FROM relations"):
            where, columns = self.state_folder(name), schema_from_json(json.loads(schema))
            state = State(name, columns, where, tuple(runs.get(name, ())))
            yield name, Saved(fingerprint, state)


def lock(folder: Path, closing: ExitStack) -> None:
    """One process at a time works on a folder, and only one that can read what is saved in it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = closing.enter_context((folder / "lock").open("w"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StateError(
            f'the state in "{folder}" is in use by another process',
            hint="Stop the other process, or give this one another --state folder.",
        ) from None
    check_saved(folder)


def state_folder(folder: Path, relation: str) -> Path:
    """Where the runs of a relation lie; names that are no file names are spelt in hexadecimal."""
    plain = relation.replace("_", "a").isalnum() and relation.isascii()
    return folder / "state" / (relation.lower() if plain else relation.encode().hex())


def check_saved(folder: Path) -> None:
    """What is saved in a folder, if anything is, is in a form that this version reads; nothing is changed."""
    try:
        check_format(folder / FILE, table="meta", what="the saved state")
    except sqlite3.DatabaseError as problem:
        raise _unreadable(folder, problem) from None


def _opened(path: Path) -> sqlite3.Connection:
    check_saved(path.parent)
    try:
        connection: sqlite3.Connection = connect(private_file(path))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(_TABLES)
        settle(connection)
        with connection:
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (str(FORMAT),))
    except (sqlite3.DatabaseError, OSError) as problem:
        raise _unreadable(path.parent, problem) from None
    return connection


def _unreadable(folder: Path, problem: Exception) -> StateError:
    return StateError(
        f'the saved state in "{folder}" cannot be read',
        detail=str(problem),
        hint="If it is damaged, remove the folder: the next run takes up its slot and starts with a new snapshot.",
    )
