"""Slices of State: the few rows a small step needs, cut by Arrow's Parquet reader."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.changes.change_set import weighted_schema
from headwater.schema import WEIGHT, Schema, arrow_schema
from headwater.tables.state import Run, State

SMALL_RUN_ROWS = 2_000
"""Runs up to so many rows are kept in memory once read."""

MOST_KEYS = 500_000
"""Up to so many values a slice is cut by Arrow; beyond, Spark joins."""

KEPT_BYTES, KEPT_SLICES = 4 << 20, 16
"""So many of the last slices of large runs are kept, if they are not larger: what is cut from the State before a step
is cut from the State after it too."""


def can_cut(schema: Schema, column: str, values: pa.ChunkedArray) -> bool:
    """True if Arrow finds the same rows by equality that Spark would.

    Not so for values of another type, which Spark converts in its own way, for rows and lists, and for floating
    numbers, where 0.0 meets -0.0. For very many values Spark's join is the cheaper way.
    """
    kind = arrow_schema(schema).field(column).type
    if values.type != kind or pa.types.is_floating(kind) or pa.types.is_nested(kind):
        return False
    return len(values.unique()) <= MOST_KEYS


def cut(
    state: State, column: str, values: pa.ChunkedArray, *, columns: tuple[str, ...], limit: int
) -> pa.Table | None:
    """The weighted rows whose `column` is among `values` (NULL meets NULL), None if there are over `limit`.

    Row groups whose range of values holds none of them are not read.
    """
    wanted = pc.unique(values.cast(weighted_schema(state.schema).field(column).type))
    names = [*dict.fromkeys((*columns, column)), WEIGHT]
    pieces: list[pa.Table] = []
    rows = 0
    for run in state.runs:
        found = _cut_run(run, column, wanted, names, limit=limit - rows)
        if found is None:
            return None
        pieces += found
        rows += sum(piece.num_rows for piece in found)
    schema = weighted_schema(state.schema)
    typed = pa.schema([schema.field(name) for name in names])
    whole = pa.concat_tables([piece.cast(typed) for piece in pieces]) if pieces else typed.empty_table()
    return whole.combine_chunks()


def whole(state: State, columns: tuple[str, ...]) -> pa.Table:
    """All weighted rows; only for States known to be small."""
    schema = weighted_schema(state.schema)
    names = [*columns, WEIGHT]
    typed = pa.schema([schema.field(name) for name in names])
    pieces = [_table(run, names).cast(typed) for run in state.runs]
    return pa.concat_tables(pieces).combine_chunks() if pieces else typed.empty_table()


@dataclass(frozen=True)
class _Slice:
    """Rows that were cut from a run: of which file and when it was written, by which column, which columns of it."""

    of: tuple[Path, int, str, list[str]]
    wanted: pa.Array
    pieces: list[pa.Table]


_KEPT: deque[_Slice] = deque(maxlen=KEPT_SLICES)


@lru_cache(maxsize=512)
def _read_small(path: Path, changed: int) -> pa.Table:
    """A small run, kept in memory: runs never change, and the newest ones are read at every step."""
    del changed  # part of the key alone: a file that was written anew under its old name is another one
    return pq.read_table(path, partitioning=None)


def _table(run: Run, names: list[str]) -> pa.Table:
    if run.rows <= SMALL_RUN_ROWS:
        return _read_small(run.path, run.path.stat().st_mtime_ns).select(names)
    return pq.read_table(run.path, columns=names, partitioning=None)


def _cut_run(
    run: Run, column: str, wanted: pa.Array, names: list[str], *, limit: int
) -> list[pa.Table] | None:
    """The rows of a run; None if there are more than the limit."""
    if run.rows <= SMALL_RUN_ROWS:
        table = _table(run, names)
        kept = table.filter(pc.is_in(table.column(column), value_set=wanted))
        return None if kept.num_rows > limit else [kept] if kept.num_rows else []
    of = (run.path, run.path.stat().st_mtime_ns, column, names)
    for known in tuple(_KEPT):
        if known.of == of and known.wanted.equals(wanted):
            return known.pieces if sum(len(piece) for piece in known.pieces) <= limit else None
    pieces: list[pa.Table] = []
    for piece in _read_pieces(run.path, column, wanted, names):
        pieces.append(piece)
        limit -= piece.num_rows
        if limit < 0:
            return None
    if sum(piece.nbytes for piece in pieces) <= KEPT_BYTES:
        _KEPT.appendleft(_Slice(of, wanted, pieces))
    return pieces


def _read_pieces(path: Path, column: str, wanted: pa.Array, names: list[str]) -> Iterator[pa.Table]:
    """The key is read first, the other columns only where it is met."""
    with pq.ParquetFile(path, memory_map=True) as file:
        for group in _groups_with(file, column, wanted):
            keys = file.read_row_group(group, columns=[column])
            is_met = pc.is_in(keys.column(0), value_set=wanted)
            if pc.any(is_met).as_py():
                yield file.read_row_group(group, columns=names).filter(is_met)


def _groups_with(file: pq.ParquetFile, column: str, wanted: pa.Array) -> list[int]:
    """Row groups that can hold a wanted value, told by their statistics."""
    count = file.metadata.num_row_groups
    leaves = range(file.metadata.num_columns)
    # Statistics are kept by leaf: a struct before the column moves it.
    place = next((i for i in leaves if file.metadata.schema.column(i).path == column), None)
    has_null = wanted.null_count > 0
    present = wanted.drop_null()
    if count <= 1 or place is None:
        return list(range(count))
    groups = []
    for group in range(count):
        statistics = file.metadata.row_group(group).column(place).statistics
        is_unknown = statistics is None or not statistics.has_min_max
        if (
            is_unknown
            or (has_null and statistics.null_count)
            or _meets(present, statistics.min, statistics.max)
        ):
            groups.append(group)
    return groups


def _meets(present: pa.Array, low: object, high: object) -> bool:
    inside = pc.and_(
        pc.greater_equal(present, pa.scalar(low, present.type)),
        pc.less_equal(present, pa.scalar(high, present.type)),
    )
    return bool(pc.any(inside).as_py())
