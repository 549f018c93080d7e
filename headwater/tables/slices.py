"""Slices of State: the few rows a small step needs, cut by Arrow: looked up in large runs, read from the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.changes.change_set import weighted_schema
from headwater.schema import WEIGHT, Schema, arrow_schema
from headwater.tables import lookup
from headwater.tables.small_runs import is_small_run, read_run
from headwater.tables.state import Run, State

LOOKED_UP_SHARE = 20
"""Of every so many rows of a large run one at most is looked up; for more of them it is read from end to end. The
limit is not measured."""

MOST_KEYS = 500_000
"""Up to so many values a slice is cut by Arrow; beyond, Spark joins."""

KEPT_BYTES = 64 << 20
"""Up to so many bytes of what was cut last from large runs are kept: what is cut from the State before a step is cut from
the State after it too, and by the next view, which may want more columns."""

MOST_KEPT = 256
"""So many slices are kept at most, however small: each is looked at by whoever looks for one."""

GROUPS_AT_ONCE = 16
"""So many row groups are in memory at the same time."""


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
    wanted = _in_order(pc.unique(values.cast(weighted_schema(state.schema).field(column).type)))
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


def went(state: State, runs: tuple[Run, ...], column: str) -> pa.ChunkedArray:
    """The values of a column in rows that went, each once; all such rows are in these runs."""
    kind = weighted_schema(state.schema).field(column).type
    found: list[pa.Array] = []
    for run in runs:
        table = read_run(run, [column, WEIGHT])
        gone = table.filter(pc.less(table.column(WEIGHT), 0)).column(column)
        found.append(gone.unique().cast(kind))
    return pa.chunked_array([pa.chunked_array(found, kind).unique()])


def whole(state: State, columns: tuple[str, ...]) -> pa.Table:
    """All weighted rows; only for States known to be small."""
    schema = weighted_schema(state.schema)
    names = [*columns, WEIGHT]
    typed = pa.schema([schema.field(name) for name in names])
    pieces = [read_run(run, names).cast(typed) for run in state.runs]
    return pa.concat_tables(pieces).combine_chunks() if pieces else typed.empty_table()


@dataclass(frozen=True)
class _Slice:
    """Rows that were cut from a run: of which file and when it was written, by which column and which values of it."""

    of: tuple[Path, int, str]
    wanted: pa.Array
    places: Mapping[int, pa.Array]
    """Where they are in each row group that has some; in each part of the run, if they were looked up."""
    rows: int
    is_whole: bool
    """False if there were too many and nobody has looked for the rest."""
    columns: Mapping[str, pa.ChunkedArray]
    """What was read of them so far."""
    is_looked_up: bool = False

    @cached_property
    def bytes(self) -> int:
        """What it takes to keep it."""
        return int(
            sum(values.nbytes for values in (*self.columns.values(), *self.places.values(), self.wanted))
        )


_KEPT: list[_Slice] = []
"""The newest one first."""


def _cut_run(
    run: Run, column: str, wanted: pa.Array, names: list[str], *, limit: int
) -> list[pa.Table] | None:
    """The rows of a run; None if there are more than the limit."""
    if is_small_run(run):
        table = read_run(run, names)
        kept = table.filter(pc.is_in(table.column(column), value_set=wanted))
        return None if kept.num_rows > limit else [kept] if kept.num_rows else []
    of = (run.path, run.path.stat().st_mtime_ns, column)
    found = _kept(of, wanted)
    if found is None or (found.rows <= limit and not found.is_whole):
        found = _looked_up(run, of, wanted, limit=limit) or _found(of, wanted, limit=limit)
    if found.rows <= limit:
        found = _with_columns(run, found, names)
    _keep(found)
    if found.rows > limit:
        return None
    return [pa.table({name: found.columns[name] for name in names})] if found.rows else []


def _in_order(wanted: pa.Array) -> pa.Array:
    """The same values in the same order, whoever asks for them."""
    kind = wanted.type
    if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_date(kind)):
        return wanted
    return wanted.take(pc.array_sort_indices(wanted))


def _kept(of: tuple[Path, int, str], wanted: pa.Array) -> _Slice | None:
    return next((s for s in tuple(_KEPT) if s.of == of and s.wanted.equals(wanted)), None)


def _keep(made: _Slice) -> None:
    """Keep a slice, and of the others as many as there is room for."""
    others = [s for s in _KEPT if s.of != made.of or not s.wanted.equals(made.wanted)]
    room, kept = KEPT_BYTES, list[_Slice]()
    for one in (made, *others):
        if one.bytes <= room and len(kept) < MOST_KEPT:
            room -= one.bytes
            kept.append(one)
    _KEPT[:] = kept


def _looked_up(run: Run, of: tuple[Path, int, str], wanted: pa.Array, *, limit: int) -> _Slice | None:
    """Where the rows are, if that can be looked up."""
    if run.rows < max(lookup.LEAST_ROWS, LOOKED_UP_SHARE * len(wanted)) or not lookup.has_order(wanted.type):
        return None
    places = lookup.places(run, of[2], wanted, limit=limit)
    match places:
        case lookup.Missed.TOO_WIDE:
            return None
        case lookup.Missed.TOO_MANY:
            return _Slice(of, wanted, {}, limit + 1, False, {}, is_looked_up=True)
    return _Slice(of, wanted, places, sum(map(len, places.values())), True, {}, is_looked_up=True)


def _found(of: tuple[Path, int, str], wanted: pa.Array, *, limit: int) -> _Slice:
    """Where the rows are; the looking ends where there are more than the limit."""
    groups: dict[int, pa.Array] = {}
    rows = 0
    with pq.ParquetFile(of[0], memory_map=True) as file:
        for group in _groups_with(file, of[2], wanted):
            keys = file.read_row_group(group, columns=[of[2]]).column(0)
            places = pc.indices_nonzero(pc.is_in(keys, value_set=wanted))
            if len(places):
                groups[group] = places
                rows += len(places)
            if rows > limit:
                break
    return _Slice(of, wanted, groups, rows, rows <= limit, {})


def _with_columns(run: Run, found: _Slice, names: list[str]) -> _Slice:
    """The slice with columns that nobody has wanted before."""
    missing = [name for name in names if name not in found.columns]
    if not missing:
        return found
    if not found.is_looked_up:
        return replace(found, columns={**found.columns, **_read(found, missing)})
    more = lookup.values(run, missing, found.places)
    if isinstance(more, lookup.Missed):
        return _with_columns(run, _found(found.of, found.wanted, limit=found.rows), names)
    return replace(found, columns={**found.columns, **more})


def _read(found: _Slice, names: list[str]) -> dict[str, pa.ChunkedArray]:
    """Columns of a slice, read from the row groups it lies in."""
    chunks: dict[str, list[pa.Array]] = {name: [] for name in names}
    hit = list(found.places)
    with pq.ParquetFile(found.of[0], memory_map=True) as file:
        kinds = file.schema_arrow
        for begin in range(0, len(hit), GROUPS_AT_ONCE):
            some = hit[begin : begin + GROUPS_AT_ONCE]
            read = file.read_row_groups(some, columns=names)
            offset, places = 0, list[pa.Array]()
            for group in some:
                places.append(pc.add(found.places[group].cast(pa.int64()), offset))
                offset += file.metadata.row_group(group).num_rows
            taken = read.take(pa.concat_arrays(places))
            for name in names:
                chunks[name] += taken.column(name).chunks
    return {name: pa.chunked_array(chunks[name], kinds.field(name).type) for name in names}


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
