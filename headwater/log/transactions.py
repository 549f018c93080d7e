"""Messages of a stream become events, by table, in whole transactions.

A `Collector` holds the transactions that are complete and the one that is open, as text. `take` types the
complete ones; `take_open` takes what there is of a transaction too large to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from headwater.log.emptied import emptied_by
from headwater.log.events import (
    CREATED,
    EMPTIED,
    INSERT,
    TRUNCATE,
)
from headwater.log.layout import Layout
from headwater.log.losses import Loss
from headwater.log.messages import message_row
from headwater.log.packed import numbers_of
from headwater.log.pending import Pending
from headwater.log.pgoutput import (
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
from headwater.log.row_events import row_events


@dataclass(frozen=True)
class Taken:
    """Complete transactions, typed: from and up to which position, by table."""

    first: int
    last: int
    committed_at: float | None
    seq: int
    """The sequence number of the last event in them."""
    tables: dict[str, pa.Table]
    losses: tuple[Loss, ...] = ()
    """What can no longer be told, from these on."""


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
        self.relations: dict[int, tuple[Layout, ...]] = {}
        """What the stream has said so far of the tables it tells of."""
        self.heard: dict[int, Relation] = {}
        """The same, as it was said."""
        self.seq = seq
        self.last = last
        self.open_at: int | None = None
        """Where the commit of the open transaction stands; None between transactions."""
        self.open_rows = self.open_bytes = self.done_rows = self.done_bytes = 0
        self._begun = Begin(0)
        self._news: dict[int, tuple[Layout, ...]] = {}
        self._open: dict[str, Pending] = {}
        self._done: dict[str, Pending] = {}
        self._open_losses: dict[Loss, None] = {}
        self._done_losses: dict[Loss, None] = {}
        self._span: tuple[int, int, float | None, int] | None = None

    @property
    def has_done(self) -> bool:
        """True if a complete transaction waits to be taken."""
        return self._span is not None

    def changes_layout(self, relation: Relation) -> bool:
        """True if rows held back would be read in another way than rows to come."""
        known = self.relations.get(relation.id)
        return known is not None and known != self._layouts(relation)

    def handle(self, message: Message, size: int) -> None:
        """Take in one message of `size` bytes."""
        self.open_bytes += size
        match message:
            case Insert() | Update() | Delete():
                for layout in self._wanted(message.relation):
                    for kind, row, op, unchanged in row_events(layout, message):
                        self._add(layout, kind, row, op=op, unchanged=unchanged)
            case Begin():
                self.open_at, self._begun = message.commit_at, message
                self._news = {}
            case Commit():
                self._end(message.end, message.time)
            case Relation():
                self.relations[message.id], self.heard[message.id] = self._layouts(message), message
                self._news = {}
            case Truncate():
                for relation in message.relations:
                    for layout in self._wanted(relation):
                        row, gone = (None,) * len(layout.places), emptied_by(layout)
                        self._add(layout, TRUNCATE, row, op=EMPTIED, unchanged=gone)
            case Said(transactional=True):
                self._say(message)
            case Said():
                self._say_alone(message)

    def handle_row(self, payload: bytes) -> None:
        """Take in a message of `pgoutput` that is a row, as it came: it is taken apart with all others."""
        self.open_bytes += len(payload)
        for layout in self._wanted(int.from_bytes(payload[1:5])):
            self.seq += numbers_of(payload)
            self.open_rows += 1
            self._pending(layout).add_packed(layout, payload, self.seq)

    def take(self) -> Taken | None:
        """The complete transactions, if there are any; they are no longer held."""
        if self._span is None:
            return None
        first, last, moment, seq = self._span
        tables = {name: rows for pending in self._done.values() for name, rows in pending.by_name().items()}
        losses = tuple(self._done_losses)
        self._done, self._done_losses, self._span = {}, {}, None
        self.done_rows = self.done_bytes = 0
        return Taken(first, last, moment, seq, tables, losses)

    def take_open(self) -> dict[str, pa.Table]:
        """What is held of the open transaction; the rest of it comes later.

        Its end is not known yet, so these events carry the first place of its commit, which lies between
        the end of the transaction before and its own.
        """
        return {name: rows for pending in self._held() for name, rows in pending.by_name().items()}

    def take_laid_out(self) -> list[tuple[Layout, pa.Table]]:
        """The same, with how each table was read; nothing is put aside."""
        return [(pending.layout, pending.typed()) for pending in self._held()]

    def _held(self) -> list[Pending]:
        assert self.open_at is not None
        held = list(self._open.values())
        for pending in held:
            pending.settle(self.open_at + 1, self._begun)
        self._open, self.open_rows, self.open_bytes = {}, 0, 0
        return held

    def take_over(self, relations: Mapping[int, tuple[Layout, ...]], heard: Mapping[int, Relation]) -> None:
        """What was said of tables before."""
        self.relations.update(relations)
        self.heard.update(heard)
        self._news = {}

    def wants(self, read: Layout) -> bool:
        """True if the open transaction is news for a table of which something was read ahead, and can be told."""
        told = [number for number, of in self.relations.items() if any(one.table == read.table for one in of)]
        if not told:
            # What was said of it was said before a part that was rolled back.
            return self.is_news(read)
        return any(layout.table == read.table for number in told for layout in self._wanted(number))

    def is_news(self, layout: Layout) -> bool:
        """True if the table has not got the open transaction yet, neither from the log nor with its first rows."""
        at = self.open_at
        assert at is not None
        return at >= self.last and (layout.snapshot is None or at >= layout.snapshot)

    def _wanted(self, relation: int) -> tuple[Layout, ...]:
        """The declared tables for which an event of the open transaction is news."""
        wanted = self._news.get(relation)
        if wanted is not None:
            return wanted
        news = [layout for layout in self.relations[relation] if self.is_news(layout)]
        # Only a row that is news shows a loss: what was said of a table before it was read anew counts no more.
        self._open_losses |= {loss: None for layout in news for loss in layout.losses}
        wanted = tuple(layout for layout in news if not layout.gone)
        self._news[relation] = wanted
        return wanted

    def _add(
        self,
        layout: Layout,
        kind: str,
        row: tuple[Value, ...],
        *,
        op: str,
        unchanged: list[str] | None = None,
    ) -> None:
        self.seq += 1
        self.open_rows += 1
        self._pending(layout).add(kind, row, op=op, seq=self.seq, unchanged=unchanged)

    def _pending(self, layout: Layout) -> Pending:
        pending = self._open.get(layout.table)
        if pending is None:
            pending = self._open[layout.table] = Pending(layout)
        return pending

    def _say(self, said: Said) -> None:
        for layout in self._messages(said.prefix):
            if self.is_news(layout):
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
            self._done_losses |= self._open_losses
            self.last = end
        self._open, self._open_losses, self.open_rows, self.open_bytes = {}, {}, 0, 0
