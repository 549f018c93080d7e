"""Messages of a stream become events, by table, in whole transactions.

A `Collector` holds the transactions that are complete and the one that is open, as text. `take` types the
complete ones; `take_open` takes what there is of a transaction too large to hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from headwater.log.events import (
    CREATED,
    DELETE,
    DELETE_KEY,
    DELETED,
    EMPTIED,
    INSERT,
    TRUNCATE,
    UPDATED,
    UPSERT,
)
from headwater.log.messages import message_row
from headwater.log.pending import Layout, Pending
from headwater.log.pgoutput import (
    SAME,
    Begin,
    Commit,
    Delete,
    Insert,
    Message,
    Relation,
    Said,
    Truncate,
    Update,
    Value,
)


@dataclass(frozen=True)
class Taken:
    """Complete transactions, typed: from and up to which position, by table."""

    first: int
    last: int
    committed_at: float | None
    seq: int
    """The sequence number of the last event in them."""
    tables: dict[str, pa.Table]


def nobody(_: str) -> tuple[Layout, ...]:
    """No table reads an application's messages."""
    return ()


class Collector:
    """See the module. `layouts` says what a relation of the stream is among the declared tables, `messages`
    which of them read an application's messages of a prefix."""

    def __init__(
        self,
        layouts: Callable[[Relation], tuple[Layout, ...]],
        *,
        seq: int,
        last: int,
        messages: Callable[[str], tuple[Layout, ...]] = nobody,
    ) -> None:
        self._layouts, self._messages = layouts, messages
        self._relations: dict[int, tuple[Layout, ...]] = {}
        self.seq = seq
        self.last = last
        self.open_at: int | None = None
        """Where the commit of the open transaction stands; None between transactions."""
        self.open_rows = self.open_bytes = self.done_rows = self.done_bytes = 0
        self._begun = Begin(0)
        self._news: dict[int, tuple[Layout, ...]] = {}
        self._open: dict[str, Pending] = {}
        self._done: dict[str, Pending] = {}
        self._span: tuple[int, int, float | None, int] | None = None

    @property
    def has_done(self) -> bool:
        """True if a complete transaction waits to be taken."""
        return self._span is not None

    def changes_layout(self, relation: Relation) -> bool:
        """True if rows held back would be read in another way than rows to come."""
        known = self._relations.get(relation.id)
        return known is not None and known != self._layouts(relation)

    def handle(self, message: Message, size: int) -> None:
        """Take in one message of `size` bytes."""
        self.open_bytes += size
        match message:
            case Insert():
                for layout in self._wanted(message.relation):
                    self._add(layout, INSERT, layout.pick(message.new), op=CREATED)
            case Update():
                for layout in self._wanted(message.relation):
                    self._update(layout, message)
            case Delete():
                kind = DELETE if message.old_is_whole else DELETE_KEY
                for layout in self._wanted(message.relation):
                    self._add(layout, kind, layout.pick(message.old), op=DELETED)
            case Begin():
                self.open_at, self._begun = message.commit_at, message
                self._news = {}
            case Commit():
                self._end(message.end, message.time)
            case Relation():
                self._relations[message.id] = self._layouts(message)
                self._news = {}
            case Truncate():
                for relation in message.relations:
                    for layout in self._wanted(relation):
                        self._add(layout, TRUNCATE, (None,) * len(layout.places), op=EMPTIED)
            case Said(transactional=True):
                self._say(message)
            case Said():
                self._say_alone(message)

    def take(self) -> Taken | None:
        """The complete transactions, if there are any; they are no longer held."""
        if self._span is None:
            return None
        first, last, moment, seq = self._span
        tables = {name: pending.typed() for name, pending in self._done.items()}
        self._done, self._span = {}, None
        self.done_rows = self.done_bytes = 0
        return Taken(first, last, moment, seq, tables)

    def take_open(self) -> dict[str, pa.Table]:
        """What is held of the open transaction; the rest of it comes later.

        Its end is not known yet, so these events carry the first place of its commit, which lies between
        the end of the transaction before and its own.
        """
        assert self.open_at is not None
        tables = {}
        for name, pending in self._open.items():
            pending.settle(self.open_at + 1, self._begun)
            tables[name] = pending.typed()
        self._open, self.open_rows, self.open_bytes = {}, 0, 0
        return tables

    def _wanted(self, relation: int) -> tuple[Layout, ...]:
        """The declared tables for which an event of the open transaction is news."""
        wanted = self._news.get(relation)
        if wanted is not None:
            return wanted
        at = self.open_at
        assert at is not None
        layouts = () if at < self.last else self._relations[relation]
        wanted = tuple(x for x in layouts if x.snapshot is None or at >= x.snapshot)
        self._news[relation] = wanted
        return wanted

    def _update(self, layout: Layout, change: Update) -> None:
        new = layout.pick(change.new)
        if change.old is not None and change.old_is_whole:
            old = layout.pick(change.old)
            if SAME in new:
                new = tuple(o if n is SAME else n for o, n in zip(old, new, strict=True))
            if old != new:
                self._add(layout, DELETE, old, op=UPDATED)
                self._add(layout, INSERT, new, op=UPDATED)
            return
        if change.old is not None:
            self._add(layout, DELETE_KEY, layout.pick(change.old), op=UPDATED)
        if SAME not in new:
            self._add(layout, UPSERT, new, op=UPDATED)
            return
        names = [c.name for c, value in zip(layout.schema, new, strict=True) if value is SAME]
        self._add(layout, UPSERT, tuple(None if v is SAME else v for v in new), op=UPDATED, unchanged=names)

    def _add(
        self,
        layout: Layout,
        kind: str,
        row: tuple[Value, ...],
        *,
        op: str,
        unchanged: list[str] | None = None,
    ) -> None:
        pending = self._open.get(layout.table)
        if pending is None:
            pending = self._open[layout.table] = Pending(layout)
        self.seq += 1
        self.open_rows += 1
        pending.add(kind, row, op=op, seq=self.seq, unchanged=unchanged)

    def _say(self, said: Said) -> None:
        at = self.open_at
        assert at is not None
        for layout in self._messages(said.prefix) if at >= self.last else ():
            if layout.snapshot is None or at >= layout.snapshot:
                self._add(layout, INSERT, layout.pick(message_row(said, self._begun)), op=CREATED)

    def _say_alone(self, said: Said) -> None:
        """A message outside of transactions is a transaction of its own, which ends where the message does."""
        # The server sends a transaction at its commit and at once: nothing can come between.
        assert self.open_at is None
        self._begun = Begin(said.at)
        for layout in self._messages(said.prefix) if said.at > self.last else ():
            if layout.snapshot is None or said.at > layout.snapshot:
                self._add(layout, INSERT, layout.pick(message_row(said, None)), op=CREATED)
        self._end(said.at, None)

    def _end(self, end: int, moment: float | None) -> None:
        self.open_at = None
        if end > self.last:
            for name, pending in self._open.items():
                self._done.setdefault(name, Pending(pending.layout)).extend(pending, end, self._begun)
            first, before = (end, None) if self._span is None else (self._span[0], self._span[2])
            self._span = (first, end, before if moment is None else moment, self.seq)
            self.done_rows += self.open_rows
            self.done_bytes += self.open_bytes
            self.last = end
        self._open, self.open_rows, self.open_bytes = {}, 0, 0
