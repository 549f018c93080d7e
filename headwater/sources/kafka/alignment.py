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

from collections import deque
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
    _waiting: dict[Partition, deque[Stretch]] = field(default_factory=dict)
    _ends: deque[End] = field(default_factory=deque)
    _snapshots: dict[str, bool] = field(default_factory=dict)
    """Tables of which a snapshot was seen: True while it is on its way."""
    _done: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def add_partition(self, partition: Partition) -> None:
        """A partition that may bring something."""
        self._waiting.setdefault(partition, deque())

    def take(self, partition: Partition, stretches: Iterable[Stretch]) -> None:
        """More of a partition, in order."""
        waiting = self._waiting.setdefault(partition, deque())
        for stretch in stretches:
            if stretch.opens or stretch.closes:
                self._snapshots[partition[0]] = not stretch.closes
            elif stretch.transaction is not None:
                # A transaction after a snapshot ends it, also where its last row was removed since.
                self._snapshots[partition[0]] = False
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

    def cut(self) -> tuple[dict[Partition, int], int | None]:
        """The place in each partition up to which everything is whole, and that in the topic of ends.

        What lies before is not told again.
        """
        places: dict[Partition, int] = {}
        after: int | None = None
        if any(self._snapshots.values()):
            return places, after
        while True:
            self._pass_free(places)
            found = self._whole(self._ends[0]) if self._ends else None
            if found is None:
                return places, after
            end = self._ends.popleft()
            after = end.after
            self._done.append(end.transaction)
            for partition, count in found.items():
                for _ in range(count):
                    places[partition] = self._waiting[partition].popleft().end

    def _pass_free(self, places: dict[Partition, int]) -> None:
        """Pass what belongs to no transaction, and transactions whose end was removed from its topic."""
        known = {end.transaction for end in self._ends} - set(self._done)
        for partition, waiting in self._waiting.items():
            while waiting and (waiting[0].transaction is None or _is_endless(waiting, known)):
                places[partition] = waiting.popleft().end

    def _whole(self, end: End) -> dict[Partition, int] | None:
        """How many stretches of each partition a transaction takes; None while some of it has to come."""
        taken: dict[Partition, int] = {}
        for table in self.tables:
            partitions = [partition for partition in self._waiting if partition[0] == table]
            found = self._whole_of(partitions, end, end.counts.get(table, 0))
            if found is None:
                return None
            taken |= found
        return taken

    def _whole_of(self, partitions: list[Partition], end: End, count: int) -> dict[Partition, int] | None:
        """The same for the partitions of one table, which has `count` events of the transaction."""
        places = {p: self._places(p, end.transaction) for p in partitions}
        for times in range(1, max(map(len, places.values()), default=0) + 1):
            # The events may stand there twice, the first time in part: take no more than makes them whole.
            parts = [self._waiting[p][i].numbers for p in partitions for i in places[p][:times]]
            if sum(last - first + 1 for first, last in merged(sum(parts, ()))) >= count:
                return {p: at[min(times, len(at)) - 1] + 1 for p, at in places.items() if at}
        if count == 0:
            return {}
        if all(self._is_beyond(p, end.transaction) for p in partitions):
            # Later ones stand in every partition, so no more of it will come: a start in the middle of it, or an
            # end that a restarted connector sent again without its events.
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


def _is_endless(waiting: deque[Stretch], known: set[str]) -> bool:
    # Ends come in the order of the transactions: if a later one has its end, this one's is gone.
    return waiting[0].transaction not in known and any(later.transaction in known for later in waiting)


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
