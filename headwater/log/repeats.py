"""Events that a broker holds twice, told by their position at the database.

A connector that is killed sends again what it had not noted as sent. In a partition the positions of events only
grow, so one that is not above the highest seen before is a repeat:

    position  1 2 3 4   3 4 5          the second 3 and 4 are dropped

Several events can share a position (rows of one COPY); of these a repeat is known by being the same row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
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


def new_events(told: pa.Table, marks: Marks, *, subject: str) -> tuple[npt.NDArray[np.bool_], Marks]:
    """Which events are no repeats, and the marks after them.

    `told` has the columns named above, in any order of rows; `__hw_hash` is there if events carry whole rows.
    """
    keep = np.ones(len(told), dtype=bool)
    known = dict(marks.of)
    names = pc.binary_join_element_wise(told[TOPIC], told[PARTITION].cast(pa.string()), "/").combine_chunks()
    for name in names.unique().to_pylist():
        places = np.flatnonzero(pc.equal(names, name).to_numpy(zero_copy_only=False))
        part = told.take(pa.array(places))
        order = pc.sort_indices(part, [(OFFSET, "ascending")]).to_numpy()
        fresh, mark = _of_partition(part.take(order), known.get(name), subject)
        keep[places[order]] = fresh
        if mark is not None:
            known[name] = mark
    return keep, Marks(known)


def _of_partition(
    part: pa.Table, mark: Mark | None, subject: str
) -> tuple[npt.NDArray[np.bool_], Mark | None]:
    """The same for one partition, whose rows are in order."""
    keep = np.ones(len(part), dtype=bool)
    is_told = pc.is_valid(part[SOURCE_AT]).to_numpy(zero_copy_only=False)
    if not is_told.any():
        return keep, mark
    places = np.flatnonzero(is_told)
    told = part.take(pa.array(places))
    at = np.asarray(told[SOURCE_AT].to_pylist(), dtype=np.int64)
    ms = told[SOURCE_MS].fill_null(0).to_numpy()
    first = [mark.at] if mark is not None and len(mark.at) == at.shape[1] else []
    ranks = _ranks(np.vstack([np.asarray(first, dtype=np.int64).reshape(len(first), at.shape[1]), at]))
    highest = np.maximum.accumulate(ranks)
    own = ranks[len(first) :]
    before = np.concatenate([[-1], highest[:-1]])[len(first) :] if len(own) else own
    repeated = own < before
    _refuse_back(told, repeated, ms, mark, subject)
    top = highest[-1]
    rows: tuple[int, ...] = ()
    if HASH in told.column_names:
        hashes = told[HASH].to_numpy()
        same = mark.rows if mark is not None and first and ranks[0] == top else ()
        repeated |= _same_rows(own, hashes, ranks[0] if first else -1, mark.rows if mark and first else ())
        rows = (*same, *map(int, hashes[(own == top) & ~repeated]))
    keep[places] = ~repeated
    if first and ranks[0] == top:
        assert mark is not None
        return keep, Mark(mark.at, mark.ms, rows)
    last = int(np.flatnonzero(own == top)[0])
    return keep, Mark(tuple(map(int, at[last])), int(ms[last]), rows)


def _ranks(at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Positions of several numbers as one number each, in the same order."""
    _, ranks = np.unique(at, axis=0, return_inverse=True)
    return np.asarray(ranks, dtype=np.int64).reshape(-1)


def _same_rows(
    own: npt.NDArray[np.int64], hashes: npt.NDArray[np.int64], marked: int, rows: tuple[int, ...]
) -> npt.NDArray[np.bool_]:
    """Which events say what another of the same position has said before."""
    pairs = np.stack([own, hashes], axis=1)
    _, firsts = np.unique(pairs, axis=0, return_index=True)
    repeated = np.ones(len(own), dtype=bool)
    repeated[firsts] = False
    return np.asarray(repeated | ((own == marked) & np.isin(hashes, list(rows))), dtype=bool)


def _refuse_back(
    told: pa.Table, repeated: npt.NDArray[np.bool_], ms: npt.NDArray[np.int64], mark: Mark | None, subject: str
) -> None:
    """A repeat was committed before the highest position was; what is later comes from a source that went back."""
    so_far = np.maximum.accumulate(np.where(repeated, 0, ms))
    so_far = np.maximum(so_far, mark.ms if mark is not None else 0)
    wrong = np.flatnonzero(repeated & (ms > so_far + BACK_MS))
    if len(wrong):
        place = int(wrong[0])
        raise SourceError(
            f"{subject} goes back behind what was read of the database",
            detail=f"Partition {told[PARTITION][place]}, message {told[OFFSET][place]}: its position at the database is "
            "below one that was read before, yet it was committed later. The database was restored or replaced.",
            hint="Remove the state with headwater drop, and start again with a new snapshot.",
        )
