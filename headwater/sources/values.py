"""The in-memory source: whoever runs the pipeline hands in the transactions.

    STORES["shop"] = ValuesStore()
    STORES["shop"].append({"orders": [("+", {"id": 1, "total": 10})]})

The tables of a pipeline share the store named after the pipeline, or the one that their option `name` names.
A store lives as long as the process, so a pipeline that is opened again finds everything that was ever said.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SourceError, SqlError
from headwater.log.events import (
    POSITION,
    SEQ,
    Delivery,
    event_schema,
)
from headwater.log.positions import Position
from headwater.options import option
from headwater.schema import Schema
from headwater.sources import saved
from headwater.sources.base import SourceContext, SourceTable, SourceType
from headwater.sources.values_events import Change, events_of

Said: TypeAlias = "Sequence[Change] | pa.Table"
"""What one transaction says of one table: changes with their sign, or an Arrow table of new rows."""

JOINED = "joined"
"""The saved fact at which position each table joined the pipeline."""


@dataclass(frozen=True)
class ValuesOptions:
    """The options of connector 'values'."""

    name: str = option("name", "the store to read; by default the one named after the pipeline", default="")


@dataclass(frozen=True)
class Transaction:
    """What was handed in at once, and its position."""

    position: int
    tables: Mapping[str, Said]
    committed_at: float

    @property
    def count(self) -> int:
        """How many events it has."""
        return sum(len(said) for said in self.tables.values())


class ValuesStore:
    """All transactions ever handed in, at positions 1, 2, 3 and so on."""

    def __init__(self, *, deliver_twice: bool = False) -> None:
        self.deliver_twice = deliver_twice
        """True to deliver every transaction a second time at the same position, as a careless log would."""
        self._transactions: list[Transaction] = []
        self._grown = threading.Condition()

    def append(self, transaction: Mapping[str, Said]) -> Position:
        """Commit one transaction: the events of each table, in order.

        >>> ValuesStore().append({"t": [("-", {"id": 1, "n": 1}), ("+", {"id": 1, "n": 2})]})
        Position(value=1, notation='number')
        """
        with self._grown:
            position = len(self._transactions) + 1
            self._transactions.append(Transaction(position, dict(transaction), time.time()))
            self._grown.notify_all()
        return Position(position)

    @property
    def last(self) -> Position:
        """The position of the last transaction, 0 before the first."""
        return Position(len(self._transactions))

    def wait_beyond(self, position: int, seconds: float) -> bool:
        """True as soon as something stands after the position, False if nothing came in time."""
        with self._grown:
            return self._grown.wait_for(lambda: len(self._transactions) > position, timeout=seconds)

    def deliveries(self, after: int) -> Iterator[Transaction]:
        """What a reader is sent after a position: with `deliver_twice` that includes what it has seen."""
        copies = 2 if self.deliver_twice else 1
        begin = max(0, after - 1) if self.deliver_twice else after
        for transaction in self._transactions[begin:]:
            yield from (transaction for _ in range(copies))


STORES: dict[str, ValuesStore] = {}
"""The stores of this process by name; a test puts its own here before it opens a pipeline."""


def store(name: str) -> ValuesStore:
    """The store of that name, made on first use."""
    return STORES.setdefault(name, ValuesStore())


def fresh(deliveries: Iterable[Transaction], after: int) -> Iterator[Transaction]:
    """The transactions that were not seen before: each position once, and only those after `after`."""
    seen = after
    for transaction in deliveries:
        if transaction.position > seen:
            seen = transaction.position
            yield transaction


class ValuesSource:
    """Reads a store."""

    def __init__(self, tables: Sequence[SourceTable], context: SourceContext) -> None:
        self._tables = {table.name: table.schema for table in tables}
        self._anew = {table.name for table in tables if table.anew}
        self._folder = context.folder
        self._store = store(tables[0].options.name or context.pipeline)
        self._joined: dict[str, float] = {}

    def start(self, after: Position | None) -> Position | None:
        """Go on after a position; a table that joins now, or is read anew, gets all it ever said as one transaction."""
        if after is not None and after > self._store.last:
            raise SourceError(
                f"the store of connector 'values' ends before position {after}",
                detail=f"It ends at {self._store.last}; it lives in the memory of one process.",
                hint="Start from an empty state folder.",
            )
        known = saved.load(self._folder, JOINED) if after is not None else None
        if known is None:
            known = dict.fromkeys(self._tables, 0.0)
        if new := [name for name in self._tables if name not in known or self._is_lost(name, known, after)]:
            known |= dict.fromkeys(new, float(self._store.append({}).value))
        self._joined = {name: known[name] for name in self._tables}
        saved.save(self._folder, JOINED, self._joined)
        latest = Position(int(max(self._joined.values())))
        return latest if after is not None and latest > after else None

    def read(
        self, after: Position | None, limit: int, *, wait: float = 0.0, upto: Position | None = None
    ) -> Delivery | None:
        """Whole transactions after a position; an empty store answers its first reader with position 0."""
        seen = after.value if after else 0
        if not self._store.wait_beyond(seen, wait if after else 0.0):
            return None if after else Delivery(Position(0), {})
        taken = self._taken(seen, limit, upto)
        if not taken:
            return None if after else Delivery(Position(0), {})
        pieces: dict[str, list[pa.Table]] = {}
        for transaction in taken:
            for name, piece in self._events(transaction):
                pieces.setdefault(name, []).append(piece)
        span = f"{taken[0].position}-{taken[-1].position}"
        return Delivery(
            Position(taken[-1].position),
            {
                name: saved.as_events(self._folder, f"{span}-{name}", pa.concat_tables(parts))
                for name, parts in pieces.items()
            },
            taken[-1].committed_at,
        )

    def now(self) -> Position:
        """The end of the store."""
        return self._store.last

    def commit(self, position: Position) -> None:
        """Nothing: a store keeps everything, so that a pipeline can start again from nothing."""

    def close(self) -> None:
        """Nothing is held."""

    def _is_lost(self, name: str, known: Mapping[str, float], after: Position | None) -> bool:
        """True if the pipeline holds nothing of a table that has said something, and nothing is to come of it.

        One that said nothing stays where it joined: an interrupted batch must find it there again.
        """
        if after is None or name not in self._anew or known[name] > after.value:
            return False
        return any(name in t.tables and t.position <= after.value for t in self._store.deliveries(0))

    def _taken(self, after: int, limit: int, upto: Position | None) -> list[Transaction]:
        taken: list[Transaction] = []
        count = 0
        for transaction in fresh(self._store.deliveries(after), after):
            if upto is not None and transaction.position > upto.value:
                break
            taken.append(transaction)
            count += transaction.count
            if upto is None and count >= limit:
                break
        return taken

    def _events(self, transaction: Transaction) -> Iterator[tuple[str, pa.Table]]:
        # A position leaves room for 2^32 events, so the order holds across transactions.
        number = transaction.position << 32
        for name, schema in self._tables.items():
            for said in self._said(transaction, name):
                table = events_of(name, schema, said)
                at = pa.repeat(pa.scalar(transaction.position, pa.int64()), len(table))
                seq = pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), len(table)), start=number - 1)
                number += len(table)
                whole = table.append_column(POSITION, at).append_column(SEQ, seq)
                yield name, whole.select(event_schema(schema).names)

    def _said(self, transaction: Transaction, name: str) -> Iterator[Said]:
        joined = self._joined.get(name, 0)
        if transaction.position == joined:
            history = fresh(self._store.deliveries(0), 0)
            yield from (t.tables[name] for t in history if name in t.tables and t.position <= joined)
        elif transaction.position > joined and name in transaction.tables:
            yield transaction.tables[name]


def _describe(options: ValuesOptions) -> Schema:
    raise SqlError(
        "connector 'values' has no columns of its own",
        detail="Its rows are whatever is handed in.",
        hint="Declare the columns: CREATE TABLE name (id INT, ...) WITH ('connector' = 'values').",
    )


def _forget(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Nothing was made anywhere."""


VALUES = SourceType(
    options=ValuesOptions,
    describe=_describe,
    group=lambda options: f"values-{options.name}" if options.name else "values",
    open=ValuesSource,
    forget=_forget,
)
