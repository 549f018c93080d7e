"""Weighted rows as a plain bag, by Arrow: for the slices of a small step."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from headwater.errors import StateError
from headwater.schema import WEIGHT


def can_count(rows: pa.Table) -> bool:
    """True if Arrow tells the same rows equal that Spark does: not so for floating numbers, and for nested values."""
    return not any(kinds.is_floating(f.type) or kinds.is_nested(f.type) for f in rows.schema)


def counted(rows: pa.Table) -> pa.Table:
    """Each row as often as its weights add up to; a row that went more often than it came is an error."""
    names = rows.column_names[:-1]
    if rows.num_rows == 0:
        return rows.select(names)
    if names and pc.min(rows.column(WEIGHT)).as_py() > 0:
        return rows.select(names)
    net = rows.group_by(names, use_threads=False).aggregate([(WEIGHT, "sum")])
    weights = net.column(f"{WEIGHT}_sum")
    if pc.min(weights).as_py() < 0:
        raise StateError("a stored row went more often than it came", hint="Run headwater verify.")
    net = net.filter(pc.greater(weights, 0))
    weights = net.column(f"{WEIGHT}_sum")
    plain = net.select(names)
    if net.num_rows == 0 or pc.max(weights).as_py() == 1:
        return plain
    places = [place for place, weight in enumerate(weights.to_pylist()) for _ in range(weight)]
    return plain.take(pa.array(places, pa.int64()))
