"""Weighted rows as a plain bag, by Arrow: for the slices of a small step."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from headwater.errors import StateError
from headwater.schema import WEIGHT


def can_count(rows: pa.Table) -> bool:
    """True if Arrow tells the same rows equal that Spark does: not so for floating numbers, and for nested values.

    Where no row goes nothing has to be told equal.
    """
    odd = any(kinds.is_floating(f.type) or kinds.is_nested(f.type) for f in rows.schema)
    return not odd or only_come(rows)


def only_come(rows: pa.Table) -> bool:
    """True if no weight is negative."""
    return rows.num_rows == 0 or bool(pc.min(rows.column(WEIGHT)).as_py() > 0)


def counted(rows: pa.Table) -> pa.Table:
    """Each row as often as its weights add up to; a row that went more often than it came is an error."""
    names = rows.column_names[:-1]
    if names and only_come(rows):
        return rows.select(names)
    left = netted(rows)
    if left.num_rows and pc.min(left.column(WEIGHT)).as_py() < 0:
        raise StateError("a stored row went more often than it came", hint="Run headwater verify.")
    return left.select(names)


def netted(rows: pa.Table) -> pa.Table:
    """Each row as often as its weights add up to, with +1 or -1.

    By Arrow what `consolidated` is in SQL.
    """
    names = rows.column_names[:-1]
    if only_come(rows):
        return rows
    net = rows.group_by(names, use_threads=False).aggregate([(WEIGHT, "sum")])
    net = net.filter(pc.not_equal(net.column(f"{WEIGHT}_sum"), 0))
    weights, plain = net.column(f"{WEIGHT}_sum"), net.select(names)
    times = pc.abs(weights)
    if net.num_rows and pc.max(times).as_py() > 1:
        places = [place for place, count in enumerate(times.to_pylist()) for _ in range(count)]
        repeated = pa.array(places, pa.int64())
        plain, weights = plain.take(repeated), weights.take(repeated)
    kind = rows.schema.field(WEIGHT)
    return plain.append_column(kind, pc.sign(weights).cast(kind.type))
