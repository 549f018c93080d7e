"""Bags of rows, compared both ways in Python: what the 22 queries give is small."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from headwater.schema import WEIGHT

Bag: TypeAlias = "Counter[tuple[Any, ...]]"
"""How often each row is there; in a change also how often it went, as a negative number."""

TOLERANCE = 1e-9
"""By how much of itself a floating number may be off; everything else is exact."""


def bag_of(rows: pa.Table) -> Bag:
    """The rows as a bag; with a column of weights, what they add up to."""
    names = [name for name in rows.column_names if name != WEIGHT]
    columns = [rows.column(name).to_pylist() for name in names]
    weights = rows.column(WEIGHT).to_pylist() if WEIGHT in rows.column_names else [1] * len(rows)
    bag: Bag = Counter()
    for *row, weight in zip(*columns, weights, strict=True):
        bag[tuple(row)] += weight
    return without_zeros(bag)


def without_zeros(bag: Bag) -> Bag:
    """The bag without rows that came as often as they went."""
    return Counter({row: count for row, count in bag.items() if count})


def change(old: Bag, new: Bag) -> Bag:
    """What came and went between two bags."""
    difference = Counter(new)
    difference.subtract(old)
    return without_zeros(difference)


def moved(difference: Bag) -> int:
    """How many rows came or went."""
    return sum(map(abs, difference.values()))


def unequal(expected: Bag, found: Bag, *, most: int = 5) -> list[str]:
    """What only one side has, a line each; an empty list means equal.

    Rows that differ only in floating numbers are compared in the order of these numbers.
    """
    missing, extra = _only(expected, found), _only(found, expected)
    matched: set[int] = set()
    for row in list(missing):
        near = next((i for i, o in enumerate(extra) if i not in matched and _close(row, o)), None)
        if near is not None:
            matched.add(near)
            missing.remove(row)
    left = [row for i, row in enumerate(extra) if i not in matched]
    return [f"missing: {row}" for row in missing[:most]] + [f"extra: {row}" for row in left[:most]]


def _only(one: Bag, other: Bag) -> list[tuple[Any, ...]]:
    """The rows that one side has more often, with their sign, in order."""
    more = {row: count - other[row] for row, count in one.items() if count > other[row]}
    return sorted((row for row, count in more.items() for _ in range(count)), key=repr)


def _close(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return all(_is_same(x, y) for x, y in zip(one, other, strict=True))


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
