"""Batches over topics that lag behind each other end where transactions do.

Oracle: the transactions themselves. Whatever was cut holds all events of a transaction or none, and in the end all.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest

from headwater.sources.kafka.alignment import Aligner, End, Partition, Stretch
from headwater.sources.kafka.told import ends, stretches

TABLES = ("orders", "items", "notes")


class World:
    """A server with random transactions, and what a connector that is killed now and then makes of them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.partitions = {table: self.chance.randint(1, 2) for table in TABLES}
        self.transactions = [self._transaction() for _ in range(self.chance.randint(1, 8))]
        self.logs: dict[Partition, list[tuple[str, int]]] = {
            (table, table, n): [] for table, count in self.partitions.items() for n in range(count)
        }
        self.ends: list[tuple[str, dict[str, int]]] = []
        self._send()

    def _transaction(self) -> list[tuple[str, int, int]]:
        """Events as table, number and partition."""
        events, counts = [], dict.fromkeys(TABLES, 0)
        for _ in range(self.chance.randint(1, 5)):
            table = self.chance.choice(TABLES)
            counts[table] += 1
            events.append((table, counts[table], self.chance.randrange(self.partitions[table])))
        return events

    def _send(self) -> None:
        number, kills = 0, self.chance.choice([0, 0, 1, 2])
        while number < len(self.transactions):
            events = self.transactions[number]
            dies_after = self.chance.randint(0, len(events)) if kills and self.chance.random() < 0.4 else None
            for table, event, partition in events[:dies_after]:
                self.logs[table, table, partition].append((f"t{number}", event))
            if dies_after is not None:
                kills -= 1
                number = self.chance.randint(max(0, number - 2), number)
                continue
            counts = {table: sum(1 for e in events if e[0] == table) for table in TABLES}
            self.ends.append((f"t{number}", {table: n for table, n in counts.items() if n}))
            number += 1

    def reads(self) -> Iterator[Partition | None]:
        """An order in which the logs may be read: each log in its own order, however late; None is the ends'."""
        left = [name for name, log in self.logs.items() for _ in log] + [None] * len(self.ends)
        weights = {name: self.chance.random() ** 3 for name in {*self.logs, None}}
        while left:
            name = self.chance.choices(left, [weights[one] + 1e-6 for one in left])[0]
            left.remove(name)
            yield name


@pytest.mark.parametrize("seed", range(300))
def test_no_cut_ever_holds_half_a_transaction(seed: int) -> None:
    world = World(seed)
    aligner = Aligner(frozenset(TABLES))
    for known in world.logs:
        aligner.add_partition(known)
    places, read, cut = dict.fromkeys(world.logs, 0), 0, dict.fromkeys(world.logs, 0)
    for partition in world.reads():
        if partition is None:
            transaction, counts = world.ends[read]
            read += 1
            aligner.take_end(End(transaction, counts, read))
        else:
            at = places[partition]
            places[partition] += 1
            transaction, number = world.logs[partition][at]
            aligner.take(partition, [Stretch(at, at + 1, transaction, ((number, number),))])
        if world.chance.random() < 0.5:
            cut |= aligner.cut()[0]
            check_whole(world, cut)
    cut |= aligner.cut()[0]
    check_whole(world, cut)
    assert seen(world, cut) == {
        (f"t{n}", table, event) for n, events in enumerate(world.transactions) for table, event, _ in events
    }


def seen(world: World, cut: dict[Partition, int]) -> set[tuple[str, str, int]]:
    return {
        (transaction, partition[0], number)
        for partition, log in world.logs.items()
        for transaction, number in log[: cut[partition]]
    }


def check_whole(world: World, cut: dict[Partition, int]) -> None:
    held = seen(world, cut)
    for number, events in enumerate(world.transactions):
        parts = {(f"t{number}", table, event) for table, event, _ in events}
        assert not parts & held or parts <= held, f"half of t{number}"


def test_a_snapshot_is_delivered_when_it_is_whole() -> None:
    aligner = Aligner(frozenset(["orders"]))
    aligner.take(("orders", "orders", 0), [Stretch(0, 2, opens=True)])
    assert aligner.cut() == ({}, None)
    aligner.take(("orders", "orders", 0), [Stretch(2, 3, closes=True)])
    assert aligner.cut() == ({("orders", "orders", 0): 3}, None)


def test_a_start_in_the_middle_of_a_transaction_goes_on_with_the_next() -> None:
    aligner = Aligner(frozenset(["orders"]))
    aligner.take(("orders", "orders", 0), [Stretch(5, 6, "t1", ((2, 2),)), Stretch(6, 7, "t2", ((1, 1),))])
    for end in (End("t1", {"orders": 2}, 1), End("t2", {"orders": 1}, 2)):
        aligner.take_end(end)
    assert aligner.cut() == ({("orders", "orders", 0): 7}, 2)


def test_old_transactions_are_whole_without_events_that_were_removed_before_the_first_start() -> None:
    aligner = Aligner(frozenset(["orders", "items"]), old_until=1)
    for table in ("orders", "items"):
        aligner.add_partition((table, table, 0))
    aligner.take(("orders", "orders", 0), [Stretch(7, 8, "t1", ((1, 1),)), Stretch(8, 9, "t2", ((1, 1),))])
    for end in (End("t1", {"orders": 1, "items": 1}, 1), End("t2", {"orders": 1, "items": 1}, 2)):
        aligner.take_end(end)
    assert aligner.cut() == ({}, None)
    aligner.caught_up = frozenset(["items"])
    assert aligner.cut() == ({("orders", "orders", 0): 8}, 1)


def test_transactions_whose_ends_were_removed_do_not_hold_up_the_others() -> None:
    aligner = Aligner(frozenset(["orders"]))
    aligner.take(("orders", "orders", 0), [Stretch(0, 1, "t1", ((1, 1),)), Stretch(1, 2, "t2", ((1, 1),))])
    assert aligner.cut() == ({}, None)
    aligner.take_end(End("t2", {"orders": 1}, 9))
    assert aligner.cut() == ({("orders", "orders", 0): 2}, 9)


def test_events_tell_their_transaction_and_their_number_in_it() -> None:
    def event(transaction: str, snapshot: str = "false") -> bytes:
        trap = '\\"transaction\\":{\\"id\\":\\"9\\",\\"total_order\\":1,\\"data_collection_order\\":1}'
        source = f'{{"connector":"postgresql","snapshot":"{snapshot}","db":"d"}}'
        said = f'{{"before":null,"after":{{"id":1,"note":"{trap}"}},"source":{source},"op":"c",'
        return f'{said}"transaction":{transaction}}}'.encode()

    def inside(transaction: int, number: int) -> str:
        known = f'"id":"{transaction}:{100 + number}","total_order":{number}'
        return f'{{{known},"data_collection_order":{number}}}'

    values = [event("null", "first"), event("null", "last"), event(inside(5, 1)), None, event(inside(5, 2))]
    values += [event(inside(6, 1))]
    table = pa.table({"offset": pa.array(range(10, 16)), "value": pa.array(values, pa.binary())})
    assert list(stretches(table)) == [
        Stretch(10, 12, closes=True),
        Stretch(12, 15, "5", ((1, 2),)),
        Stretch(15, 16, "6", ((1, 1),)),
    ]


def test_ends_are_read_with_and_without_the_envelope() -> None:
    said = '{"status":"END","id":"571:53","event_count":2,"data_collections":[{"data_collection":"s.a","event_count":2}]}'
    begin = '{"status":"BEGIN","id":"571:53","event_count":null,"data_collections":null}'
    told = [
        (0, begin.encode()),
        (1, said.encode()),
        (2, None),
        (3, f'{{"schema":{{}},"payload":{said}}}'.encode()),
    ]
    assert list(ends(told, {"s.a": ["a in s.a"]})) == [
        End("571", {"a in s.a": 2}, 2),
        End("571", {"a in s.a": 2}, 4),
    ]
