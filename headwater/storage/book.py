"""A SQLite file that is durable on shared storage: each transaction is a record there before it is done here.

    connection = connect(folder / "progress.db")
    connection.executescript(TABLES)
    settle(connection)
    with connection:
        connection.execute("INSERT INTO ...", (...))

In an ordinary folder this is a connection of SQLite and nothing else. At a desk (`storage.place`) the file is a copy of
what the chain of records says: `settle` says all of it again, and enters whose turn it is. From then on nobody who had an
earlier turn can add a record, because the next number of his is taken.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote

from headwater.errors import StateError
from headwater.storage.chain import Chain
from headwater.storage.place import Desk, desk_of

FORM = 1
"""The form in which records are written."""

RECORDS_PER_COPY = 1_000
"""After so many records what they amount to is kept, and they go."""

_TABLES = """
CREATE TABLE IF NOT EXISTS chain (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS turns (turn INTEGER PRIMARY KEY, number INTEGER NOT NULL);
INSERT OR IGNORE INTO chain VALUES (1, 0);
"""

_WRITES = ("INSERT", "UPDATE", "DELETE")
_READS = ("SELECT", "PRAGMA", "ROLLBACK")


class Overtaken(StateError):
    """Somebody else has taken over what this process worked on."""


def connect(
    path: Path, *, timeout: float = 5.0, level: Literal["IMMEDIATE"] | None = "IMMEDIATE"
) -> sqlite3.Connection:
    """A connection to a file, which is there; of a book at a desk, to the copy of it."""
    desk = desk_of(path.parent)
    if desk is None:
        return sqlite3.connect(path, timeout=timeout, isolation_level=level, check_same_thread=False)
    book = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False, factory=Book)
    book.begin_at(desk, chain_of(desk.counterpart(path)))
    return book


def settle(connection: sqlite3.Connection) -> None:
    """Bring a book that has its tables to what was recorded."""
    if isinstance(connection, Book):
        connection.settle()


def chain_of(path: Path) -> Chain:
    """The records of a book, which stand beside where it would lie."""
    return Chain(path.with_name(f"{path.name}.records"))


def has_book(path: Path) -> bool:
    """True if a book is there, or was recorded."""
    desk = desk_of(path.parent)
    return path.exists() if desk is None else chain_of(desk.counterpart(path)).is_there()


class Book(sqlite3.Connection):
    """See the module."""

    desk: Desk
    chain: Chain

    def begin_at(self, desk: Desk, chain: Chain) -> None:
        """Say whose it is."""
        self.desk, self.chain = desk, chain
        self._said: list[list[Any]] = []
        self._is_settled = False

    def settle(self) -> None:
        """Say again what is recorded and not known here; then take the turn, if that was not done."""
        super().executescript(_TABLES)
        if self._number == 0 and (copy := self.chain.last_copy()) is not None:
            with closing(sqlite3.connect(f"file:{quote(str(copy[1]))}?immutable=1", uri=True)) as kept:
                kept.backup(self)
        super().execute("BEGIN IMMEDIATE")
        try:
            self._catch_up()
            last = super().execute("SELECT max(turn) FROM turns").fetchone()[0] or 0
            if last > self.desk.turn > 0:
                raise self._overtaken()
            if last < self.desk.turn:
                self._record([], new=True)
                self._check_place()
            super().execute("COMMIT")
        except BaseException:
            super().execute("ROLLBACK")
            raise
        self._is_settled = True

    def commit(self) -> None:
        """As of SQLite, and recorded."""
        if self._is_settled and self.in_transaction:
            self._commit()
        elif not self._is_settled:
            super().commit()

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        """As of SQLite; what changes rows is recorded with its transaction."""
        word = sql.lstrip().split(None, 1)[0].upper()
        if not self._is_settled:
            return super().execute(sql, parameters)
        if word == "BEGIN":
            self._begin()
            return self.cursor()
        if word == "COMMIT":
            self._commit()
            return self.cursor()
        if word == "ROLLBACK":
            self._said = []
        if word not in _WRITES:
            # Whatever else changes rows, or tables, would be done here and nowhere else.
            assert word in _READS, sql
            return super().execute(sql, parameters)
        if not self.in_transaction:
            with self:
                return self.execute(sql, parameters)
        # One that fails is not said, whatever the caller makes of it: nobody could say it again.
        made = super().execute(sql, parameters)
        self._said.append([sql, list(parameters)])
        return made

    def executemany(self, sql: str, parameters: Iterable[Any]) -> sqlite3.Cursor:
        """As of SQLite, and recorded."""
        if self._is_settled and not self.in_transaction:
            with self:
                return self.executemany(sql, parameters)
        cursor = self.cursor()
        for one in parameters:
            cursor = self.execute(sql, one)
        return cursor

    def __enter__(self) -> Book:
        """Begin a transaction."""
        if self._is_settled:
            self._begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> Literal[False]:
        """Record it, then do it; or undo it."""
        if not self._is_settled:
            return super().__exit__(kind, value, trace)
        if kind is not None:
            self._said = []
            super().execute("ROLLBACK")
        else:
            self._commit()
        return False

    @property
    def _number(self) -> int:
        return int(super().execute("SELECT number FROM chain").fetchone()[0])

    def _begin(self) -> None:
        super().execute("BEGIN IMMEDIATE")
        self._said = []
        try:
            # A process of this desk may have died after its record was there and before it was done here.
            self._catch_up()
        except BaseException:
            super().execute("ROLLBACK")
            raise

    def _commit(self) -> None:
        said, self._said = self._said, []
        try:
            if said and self.desk.turn:
                self._record(said)
            number = self._number
            super().execute("COMMIT")
        except BaseException:
            super().execute("ROLLBACK")
            raise
        if said and self.desk.turn and number % RECORDS_PER_COPY == 0:
            self._keep_copy()

    def _record(self, said: list[list[Any]], *, new: bool = False) -> None:
        """Write what a transaction says as the next record; raise if somebody else has."""
        number = self._number + 1
        content = json.dumps({"form": FORM, "turn": self.desk.turn, "new": new, "said": said})
        if not self.chain.add(number, content.encode()):
            raise self._overtaken()
        self._note(number, self.desk.turn, new=new)

    def _note(self, number: int, turn: int, *, new: bool) -> None:
        super().execute("UPDATE chain SET number = ?", (number,))
        if new:
            super().execute("INSERT INTO turns VALUES (?, ?)", (turn, number))

    def _catch_up(self) -> None:
        for number, content in self.chain.after(self._number):
            record = json.loads(content)
            if record["form"] != FORM:
                raise self._unknown(record["form"])
            if self._is_settled and record["turn"] != self.desk.turn and self.desk.turn:
                raise self._overtaken()
            for sql, parameters in record["said"]:
                super().execute(sql, parameters)
            self._note(number, record["turn"], new=record["new"])

    def _keep_copy(self) -> None:
        before = self.chain.last_copy()
        with closing(sqlite3.connect(":memory:")) as copy:
            self.backup(copy)
            number = int(copy.execute("SELECT number FROM chain").fetchone()[0])
            places = frozenset(n for (n,) in copy.execute("SELECT number FROM turns").fetchall())
            self.chain.put_copy(number, copy.serialize())
        if before is not None:
            # Whoever reads at this moment began with the copy before.
            self.chain.forget(before[0], but=places)

    def _check_place(self) -> None:
        """Raise if our first record stands where others were meanwhile removed: then the end was somewhere else."""
        copy = self.chain.last_copy()
        if copy is not None and copy[0] >= self._number:
            raise self._overtaken()

    def _unknown(self, form: object) -> StateError:
        return StateError(
            f'what is recorded in "{self.desk.shared}" has form {form}, which this version does not know',
            detail=f"This version reads form {FORM}. Nothing was changed.",
            hint="Use the version that wrote it, or another --state folder.",
        )

    def _overtaken(self) -> Overtaken:
        return Overtaken(
            f'another driver has taken over the pipeline in "{self.desk.shared}"',
            detail=f"This process had turn {self.desk.turn}, and somebody with a later one has written to"
            f" {self.chain.folder.name}. Nothing of this batch was made true by this process.",
            hint="Let the other go on. It took over because this process had not renewed its lease for a while.",
        )
