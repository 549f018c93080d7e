"""Repeats are found by position.

Oracle: a loop over the messages of each partition that remembers everything it saw.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from headwater.errors import SourceError
from headwater.log.repeats import Mark, Marks, marks_from_json, new_events

Told = tuple[int, int, tuple[int, int] | None, int]
"""Partition, offset, position, hash."""


def table(rows: list[Told], *, ms: list[int] | None = None, hashed: bool) -> pa.Table:
    columns = {
        "__hw_topic": pa.array(["t"] * len(rows), pa.string()),
        "__hw_partition": pa.array([row[0] for row in rows], pa.int32()),
        "__hw_offset": pa.array([row[1] for row in rows], pa.int64()),
        "__hw_source_at": pa.array([row[2] and list(row[2]) for row in rows], pa.list_(pa.int64())),
        "__hw_source_ms": pa.array(ms or [0] * len(rows), pa.int64()),
    }
    if hashed:
        columns["__hw_hash"] = pa.array([row[3] for row in rows], pa.int64())
    return pa.table(columns)


def by_loop(rows: list[Told], *, hashed: bool) -> set[tuple[int, int]]:
    """The partitions and offsets of the events that are no repeats."""
    kept, top, seen = set(), dict[int, tuple[int, int]](), set[tuple[int, tuple[int, int], int]]()
    for partition, offset, at, value in sorted(rows, key=lambda row: row[:2]):
        if at is not None:
            if at < top.get(partition, (-1, -1)) or (hashed and (partition, at, value) in seen):
                continue
            top[partition] = at
            seen.add((partition, at, value))
        kept.add((partition, offset))
    return kept


def in_batches(rows: list[Told], sizes: list[int], *, hashed: bool) -> set[tuple[int, int]]:
    marks, kept = Marks(), set()
    for size in sizes:
        part, rows = rows[:size], rows[size:]
        places, marks = new_events(table(part, hashed=hashed), marks, subject="topic 't'")
        marks = marks_from_json(marks.to_json())  # type: ignore[arg-type]  # JSON knows no tuples
        kept |= {part[place][:2] for place in places.to_pylist()}
    return kept


def test_what_a_killed_connector_sends_again_is_dropped() -> None:
    sent: list[Told] = [(0, n, (1, at), at) for n, at in enumerate([1, 2, 3, 4, 3, 4, 5])]
    assert in_batches(sent, [7], hashed=False) == {(0, n) for n in (0, 1, 2, 3, 5, 6)}
    assert in_batches(sent, [7], hashed=True) == {(0, n) for n in (0, 1, 2, 3, 6)}


def test_transactions_in_commit_order_are_no_repeats_though_their_events_interleave_in_the_log() -> None:
    sent: list[Told] = [(0, 0, (5, 20), 1), (0, 1, (25, 10), 2), (0, 2, (25, 30), 3)]
    assert in_batches(sent, [1, 2], hashed=True) == {(0, 0), (0, 1), (0, 2)}


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_any_replays_in_any_batches_leave_what_a_loop_leaves(seed: int, hashed: bool) -> None:
    chance = random.Random(seed)
    rows: list[Told] = []
    for partition in range(chance.randint(1, 3)):
        log = sorted((chance.randint(0, 3), chance.randint(0, 6)) for _ in range(chance.randint(0, 12)))
        position = offset = 0
        while position < len(log):
            at = log[position] if chance.random() > 0.1 else None
            rows.append((partition, offset, at, position % 3))
            offset += 1
            position = max(0, position - chance.randint(0, 4)) if chance.random() < 0.1 else position + 1
            if offset > 60:
                break
    chance.shuffle(rows)
    rows.sort(key=lambda row: row[1])
    sizes = [len(rows)] if chance.random() < 0.3 else [chance.randint(1, 5) for _ in range(len(rows))]
    assert in_batches(rows, sizes, hashed=hashed) == by_loop(rows, hashed=hashed)


def test_a_database_that_went_back_is_refused() -> None:
    marks = Marks({"t/0": Mark((9, 9), 1_000_000)})
    late = table([(0, 7, (1, 2), 0)], ms=[2_000_000], hashed=False)
    with pytest.raises(SourceError, match="goes back behind"):
        new_events(late, marks, subject="topic 't'")
    early = table([(0, 7, (1, 2), 0)], ms=[900_000], hashed=False)
    assert new_events(early, marks, subject="topic 't'")[0].to_pylist() == []
