"""How far whole transactions go, over topics that lag behind each other.

Debezium sends every event with the id of its transaction and its number among the transaction's events of that
table; a topic of its own says, when a transaction ends, how many events each table has of it:

    orders    t1#1 t1#2 t3#1
    items     t1#1 t2#1                      t1 is whole, t2 is whole, t3 waits for its end
    ends      t1(orders 2, items 1) t2(items 1)

A topic holds its transactions in the order of their commits, so what lies before the last whole one is whole too.
After a restart of the connector events come again; they have the numbers they had before.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Partition = tuple[str, str, int]
"""A table, a topic and the number of a partition."""

REMEMBERED = 10_000
"""So many transactions that are done are known again when a restarted connector repeats them."""


@dataclass(frozen=True)
class Stretch:
    """Messages of one transaction that follow each other in a partition; those of none have no id."""

    begin: int
    end: int
    transaction: str | None = None
    numbers: tuple[tuple[int, int], ...] = ()
    """The numbers of its events in the transaction, as ranges with both ends."""
    opens: bool = False
    """True if a snapshot begins or goes on here."""
    closes: bool = False
    """True if a snapshot ends here."""


@dataclass(frozen=True)
class End:
    """The end of a transaction: how many events each table has of it, and the place after it in its topic."""

    transaction: str
    counts: Mapping[str, int]
    after: int


@dataclass
class Aligner:
    """Takes what was read of one server's topics, tells how far whole transactions go."""

    tables: frozenset[str]
    old_until: int = 0
    """Ends before this place were there before the first start."""
    caught_up: frozenset[str] = frozenset()
    """Tables that began behind the beginning of their topic and have read all that was there: of old transactions
    nothing more will come."""
    _waiting: dict[Partition, deque[Stretch]] = field(default_factory=dict)
    _ends: deque[End] = field(default_factory=deque)
    _snapshots: dict[str, bool] = field(default_factory=dict)
    """Tables of which a snapshot was seen: True while it is on its way."""
    _done: dict[str, None] = field(default_factory=dict)
    _awaited: Counter[str] = field(default_factory=Counter)
    """The transactions whose ends are in the queue."""

    def add_partition(self, partition: Partition) -> None:
        """A partition that may bring something."""
        self._waiting.setdefault(partition, deque())

    def take(self, partition: Partition, stretches: Iterable[Stretch]) -> None:
        """More of a partition, in order."""
        waiting = self._waiting.setdefault(partition, deque())
        for stretch in stretches:
            if stretch.closes or stretch.transaction is not None:
                # A transaction after a snapshot ends it, also where its last row was removed since.
                self._snapshots[partition[0]] = False
            elif stretch.opens:
                # What another partition has of it may still be read after its last row was.
                self._snapshots.setdefault(partition[0], True)
            last = waiting[-1] if waiting else None
            if last is not None and last.transaction == stretch.transaction:
                stretch = Stretch(
                    last.begin,
                    stretch.end,
                    stretch.transaction,
                    merged(last.numbers + stretch.numbers),
                    opens=last.opens or stretch.opens,
                    closes=stretch.closes,
                )
                waiting[-1] = stretch
            else:
                waiting.append(stretch)

    def take_end(self, end: End) -> None:
        """The end of a transaction was read."""
        self._ends.append(end)
        self._awaited[end.transaction] += 1

    def cut(self) -> tuple[dict[Partition, int], int | None]:
        """The place in each partition up to which everything is whole, and that in the topic of ends.

        What lies before is not told again.
        """
        places: dict[Partition, int] = {}
        after: int | None = None
        if any(self._snapshots.values()):
            return places, after
        touched: Iterable[Partition] = self._waiting
        while True:
            for partition in touched:
                self._pass_free(partition, places)
            taken = self._whole(self._ends[0]) if self._ends else None
            if taken is None:
                return places, after
            after = self._finish(self._ends.popleft())
            for partition, count in taken.items():
                for _ in range(count):
                    places[partition] = self._waiting[partition].popleft().end
            touched = taken

    def _finish(self, end: End) -> int:
        """Note that a transaction is done; of those long ago nothing is remembered."""
        self._awaited[end.transaction] -= 1
        if not self._awaited[end.transaction]:
            del self._awaited[end.transaction]
        self._done[end.transaction] = None
        if len(self._done) > REMEMBERED:
            del self._done[next(iter(self._done))]
        return end.after

    def _pass_free(self, partition: Partition, places: dict[Partition, int]) -> None:
        """Pass what belongs to no transaction, repeats of those done, and those whose end was removed."""
        waiting = self._waiting[partition]
        while waiting and (
            waiting[0].transaction is None
            or waiting[0].transaction in self._done
            or self._is_endless(waiting)
        ):
            places[partition] = waiting.popleft().end

    def _is_endless(self, waiting: deque[Stretch]) -> bool:
        # Ends come in the order of the transactions: if a later one has its end, this one's is gone.
        if waiting[0].transaction in self._awaited:
            return False
        return any(s.transaction in self._awaited and s.transaction not in self._done for s in waiting)

    def _whole(self, end: End) -> dict[Partition, int] | None:
        """How many stretches of each partition a transaction takes; None while some of it has to come."""
        taken: dict[Partition, int] = {}
        if end.transaction in self._done:
            return taken
        for table, count in end.counts.items():
            if table in self.tables and count:
                partitions = [partition for partition in self._waiting if partition[0] == table]
                found = self._whole_of(partitions, end, count) if partitions else {}
                if found is None:
                    return None
                taken |= found
        return taken

    def _whole_of(self, partitions: list[Partition], end: End, count: int) -> dict[Partition, int] | None:
        """The same for the partitions of one table, which has `count` events of the transaction."""
        heads = [
            p for p in partitions if self._waiting[p] and self._waiting[p][0].transaction == end.transaction
        ]
        if _length(sum((self._waiting[p][0].numbers for p in heads), ())) >= count:
            return dict.fromkeys(heads, 1)
        places = {p: self._places(p, end.transaction) for p in partitions}
        for times in range(1, max(map(len, places.values()), default=0) + 1):
            # The events may stand there twice, the first time in part: take no more than makes them whole.
            parts = [self._waiting[p][i].numbers for p in partitions for i in places[p][:times]]
            if _length(sum(parts, ())) >= count:
                return {p: at[min(times, len(at)) - 1] + 1 for p, at in places.items() if at}
        if partitions[0][0] in self.caught_up and end.after <= self.old_until:
            return dict.fromkeys(heads, 1)
        if all(self._is_beyond(p, end.transaction) for p in partitions):
            # Later ones stand in every partition, so no more of it will come: the start was in the middle of it.
            return {p: at[0] + 1 for p, at in places.items() if at and at[0] == 0}
        return None

    def _places(self, partition: Partition, transaction: str) -> list[int]:
        return [i for i, stretch in enumerate(self._waiting[partition]) if stretch.transaction == transaction]

    def _is_beyond(self, partition: Partition, transaction: str) -> bool:
        """True if a partition holds something of a later transaction; what is done can only be a repeat."""
        return any(
            stretch.transaction not in (None, transaction) and stretch.transaction not in self._done
            for stretch in self._waiting[partition]
        )


def _length(ranges: Iterable[tuple[int, int]]) -> int:
    return sum(last - first + 1 for first, last in merged(ranges))


def merged(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ranges of whole numbers as few as possible.

    >>> merged([(4, 4), (1, 2), (3, 3)])
    ((1, 4),)
    """
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)
