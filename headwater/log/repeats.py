"""Events that a broker holds twice, told by their position at the database.

A connector that is killed sends again what it had not noted as sent. In a partition the positions of events only
grow, so one that is not above the highest seen before is a repeat:

    position  1 2 3 4   3 4 5          the second 3 and 4 are dropped

Several events can share a position (rows of one COPY); of these a repeat is known by being the same row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SourceError

TOPIC, PARTITION, OFFSET = "__hw_topic", "__hw_partition", "__hw_offset"
SOURCE_AT, SOURCE_MS, HASH = "__hw_source_at", "__hw_source_ms", "__hw_hash"

BACK_MS = 60_000
"""An event below the highest position that is later than it by more than this is no repeat: the source went back."""


@dataclass(frozen=True)
class Mark:
    """The highest position seen in a partition, when it was committed, and which rows were seen there."""

    at: tuple[int, ...]
    ms: int
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Marks:
    """The marks of all partitions of a table, by `topic/number`."""

    of: Mapping[str, Mark] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """The form in which progress keeps them."""
        return {name: [list(mark.at), mark.ms, list(mark.rows)] for name, mark in self.of.items()}


def marks_from_json(said: dict[str, list[object]]) -> Marks:
    """The marks that `Marks.to_json` wrote."""
    found = {}
    for name, (at, ms, rows) in said.items():
        assert isinstance(at, list) and isinstance(ms, int) and isinstance(rows, list)
        found[name] = Mark(tuple(at), ms, tuple(rows))
    return Marks(found)


def new_events(told: pa.Table, marks: Marks, *, subject: str) -> tuple[pa.Array, Marks]:
    """The places of the events that are no repeats, in the order of the messages, and the marks after them.

    `told` has the columns named above; `__hw_hash` is there if events carry whole rows.
    """
    known = dict(marks.of)
    told = told.append_column(_PLACE, pa.array(range(len(told)), pa.int64()))
    told = told.sort_by(
        [(TOPIC, "ascending"), (PARTITION, "ascending"), (OFFSET, "ascending"), (_PLACE, "ascending")]
    )
    names = pc.binary_join_element_wise(told[TOPIC], told[PARTITION].cast(pa.string()), "/")
    kept = []
    for name in names.unique().to_pylist():
        part = told.filter(pc.equal(names, name)).combine_chunks()
        repeated, mark = _of_partition(part, known.get(name), subject)
        kept.append(part.column(_PLACE).filter(pc.invert(repeated)).combine_chunks())
        if mark is not None:
            known[name] = mark
    return pa.concat_arrays(kept) if kept else pa.array([], pa.int64()), Marks(known)


_PLACE = "__hw_place"


def _of_partition(part: pa.Table, mark: Mark | None, subject: str) -> tuple[pa.Array, Mark | None]:
    """Which events of one partition, in order, are repeats, and its mark after them."""
    at = part.column(SOURCE_AT).combine_chunks()
    if at.null_count == len(at):
        return pa.array([False] * len(at), pa.bool_()), mark
    width = pc.max(pc.list_value_length(at)).as_py()
    if mark is not None and len(mark.at) != width:
        mark = None
    begin = [list(mark.at)] if mark is not None else []
    ranks = _ranks(pa.concat_arrays([pa.array(begin, at.type), at]), width)
    highest = pc.cumulative_max(ranks, skip_nulls=True)
    skip = len(begin)
    own = ranks.slice(skip)
    above = pa.concat_arrays([pa.array([-1], pa.int64()), highest])[: len(ranks)].slice(skip)
    # An event without a position has no rank; it neither is a repeat nor says how far we are.
    repeated = pc.fill_null(pc.less(own, pc.fill_null(pc.fill_null_forward(above), -1)), False)
    _refuse_back(part, repeated, mark, subject)
    top = pc.max(ranks).as_py()
    is_marked = mark is not None and ranks[0].as_py() == top
    rows: tuple[int, ...] = ()
    if HASH in part.column_names:
        marked = ranks[0].as_py() if mark is not None else -1
        repeated = pc.or_(repeated, _same_rows(part, own, marked, mark.rows if mark is not None else ()))
        here = pc.and_(pc.fill_null(pc.equal(own, top), False), pc.invert(repeated))
        rows = (*(mark.rows if is_marked and mark is not None else ()), *part[HASH].filter(here).to_pylist())
    if is_marked and mark is not None:
        return repeated, Mark(mark.at, mark.ms, rows)
    last = pc.index(own, top).as_py()
    ms = part[SOURCE_MS][last].as_py() or 0
    return repeated, Mark(tuple(at[last].as_py()), ms, rows)


def _ranks(at: pa.Array, width: int) -> pa.Array:
    """Positions of several numbers as one number each, in the same order; NULL for none."""
    columns = {str(n): pc.list_element(at, n) for n in range(width)}
    table = pa.table(columns)
    order = pc.sort_indices(table, [(name, "ascending") for name in columns])
    ordered = table.take(order)
    grows = pa.array([False] * max(0, len(at) - 1), pa.bool_())
    for name in columns:
        column = ordered[name].combine_chunks()
        grows = pc.or_(grows, pc.fill_null(pc.not_equal(column[1:], column[:-1]), True))
    steps = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(grows.cast(pa.int64()))])
    ranks = steps.take(pc.inverse_permutation(order.cast(pa.int64())))
    return pc.if_else(pc.is_valid(at), ranks, None)


def _same_rows(part: pa.Table, own: pa.Array, marked: int, rows: tuple[int, ...]) -> pa.Array:
    """Which events say what another of the same position has said before."""
    pairs = pa.table({"at": own, "row": part[HASH], "place": pa.array(range(len(own)), pa.int64())})
    firsts = pairs.group_by(["at", "row"]).aggregate([("place", "min")])["place_min"].combine_chunks()
    again = pc.invert(pc.is_in(pairs["place"].combine_chunks(), value_set=firsts))
    known = pc.and_(
        pc.fill_null(pc.equal(own, marked), False),
        pc.is_in(part[HASH].combine_chunks(), value_set=pa.array(rows, pa.int64())),
    )
    return pc.or_(pc.and_(again, pc.is_valid(own)), known)


def _refuse_back(part: pa.Table, repeated: pa.Array, mark: Mark | None, subject: str) -> None:
    """A repeat was committed before the highest position was; what is later comes from a source that went back."""
    ms = pc.fill_null(part[SOURCE_MS], 0).combine_chunks()
    latest = pc.cumulative_max(pc.if_else(repeated, 0, ms))
    latest = pc.max_element_wise(latest, mark.ms if mark is not None else 0)
    wrong = pc.and_(repeated, pc.greater(ms, pc.add(latest, BACK_MS)))
    place = pc.index(wrong, True).as_py()
    if place >= 0:
        raise SourceError(
            f"{subject} goes back behind what was read of the database",
            detail=f"Partition {part[PARTITION][place]}, message {part[OFFSET][place]}: its position at the database is "
            "below one that was read before, yet it was committed later. The database was restored or replaced.",
            hint="Remove the state with headwater drop, and start again with a new snapshot.",
        )
