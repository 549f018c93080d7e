"""Two bags of rows, both ways; floating numbers to nine digits, everything else exactly."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa

Row = tuple[Any, ...]

NINE_DIGITS = 1e-9


def bag(rows: pa.Table) -> Counter[Row]:
    """Rows, counted; NaN is made one object, so that it equals itself."""
    return Counter(zip(*[map(_countable, column.to_pylist()) for column in rows.columns], strict=True))


def weighted_bag(rows: pa.Table, weights: list[int]) -> Counter[Row]:
    """Rows that came and went, added up."""
    held: Counter[Row] = Counter()
    cells = [map(_countable, column.to_pylist()) for column in rows.columns]
    for row, weight in zip(zip(*cells, strict=True), weights, strict=True):
        held[row] += weight
    return held


def _countable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_countable, value))
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def differences(held: Counter[Row], expected: Counter[Row]) -> tuple[list[Row], list[Row]]:
    """The rows that are missing and those that should not be there."""
    missing, extra = list((expected - held).elements()), list((held - expected).elements())
    by_rest: dict[Row, list[Row]] = defaultdict(list)
    for row in extra:
        by_rest[_without_floats(row)].append(row)
    really_missing = []
    for row in missing:
        near = by_rest[_without_floats(row)]
        match = next((i for i, other in enumerate(near) if are_close(row, other)), None)
        if match is None:
            really_missing.append(row)
        else:
            del near[match]
    return really_missing, [row for rows in by_rest.values() for row in rows]


def _without_floats(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_without_floats, value))
    return "a floating number" if isinstance(value, float) else value


def are_close(one: Any, two: Any) -> bool:
    """True if two values are the same, floating numbers to nine digits."""
    if isinstance(one, tuple) and isinstance(two, tuple):
        return len(one) == len(two) and all(map(are_close, one, two))
    if isinstance(one, float) and isinstance(two, float):
        return one is two or math.isclose(one, two, rel_tol=NINE_DIGITS, abs_tol=NINE_DIGITS)
    return bool(one == two)
