"""What a step takes, as a sum of parts that grow with changes, State and views: fitted to steps that were measured.

A small step is done by the driver alone, from rows in memory; a large one by executors, who share a part of the work.

    model = fitted(measured, search)
    model.seconds(Load(changes=1_000, state=4_000_000, views=2, cores=2), "driver")

State is the rows of the changed table; what it is joined with has a tenth of them (`bench/scale/grid.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from headwater.log.events import SMALL_ROWS
from headwater.tables.lookup import PART_ROWS

SPLIT_BYTES = 128 << 20
"""Spark reads files in pieces of so many bytes, one task each."""

DRIVER, EXECUTORS = "driver", "executors"

HELD_OUT_WITHIN = 0.3
"""So far from the truth the model may be where it was not fitted."""


JOINED = 10
"""The table that State is joined with has one row for so many."""


@dataclass(frozen=True)
class Load:
    """What a step has to do, and who there is to do it: changes, rows of State, views, cores of executors."""

    changes: int
    state: int
    views: int
    cores: int
    row_bytes: float = 0.0
    """What a row of State takes in its files."""

    @property
    def is_many(self) -> bool:
        """True if executors find the rows that were there before; the driver looks up fewer."""
        return self.changes > SMALL_ROWS

    @property
    def read(self) -> int:
        """The rows that executors read: for each view all that State is joined with, and State for many changes."""
        return self.views * self.state // JOINED + (self.state if self.is_many else 0)

    @property
    def readers(self) -> int:
        """So many cores can read at once: a piece of a file that is one task is read by one."""
        return max(1, min(self.cores, self.pieces))

    @property
    def pieces(self) -> int:
        """In so many tasks they are read."""
        return max(1, math.ceil(self.read * self.row_bytes / SPLIT_BYTES))

    def looked_into(self, way: str) -> tuple[int, ...]:
        """The rows of each table in which the driver looks up the keys of all changes."""
        if way == EXECUTORS:
            return () if self.is_many else (self.state,)
        return self.state, self.state // JOINED

    def parts(self, way: str) -> int:
        """In so many parts of them."""
        return sum(map(parts_of, self.looked_into(way)))


def parts_of(rows: int) -> int:
    """The parts of a run of so many rows."""
    return math.ceil(rows / PART_ROWS)


@dataclass(frozen=True)
class Measured:
    """A step that was done: how, with what, and the seconds it took; one that is held out is no part of the fit."""

    way: str
    load: Load
    seconds: float
    is_held_out: bool = False


@dataclass(frozen=True)
class Term:
    """One part of the time: what it grows with, in words and as a number."""

    words: str
    of: Callable[[Load], float]
    is_shared: bool = False
    """True if executors share it."""


TERMS: Mapping[str, Sequence[Term]] = {
    DRIVER: (
        Term("each step", lambda load: 1.0),
        Term("each view", lambda load: load.views),
        Term("each change", lambda load: load.changes),
        Term("each change and view", lambda load: load.changes * load.views),
    ),
    EXECUTORS: (
        Term("each step", lambda load: 1.0),
        Term("each view", lambda load: load.views),
        Term("rows before that executors find", lambda load: float(load.is_many)),
        Term("each change", lambda load: load.changes),
        Term("each change and view, shared", lambda load: load.changes * load.views / load.cores, True),
        Term("each row that is read, shared", lambda load: load.read / load.readers, True),
    ),
}


@dataclass(frozen=True)
class Search:
    """Seconds of the driver to look keys up in a part of State: for the part, and for each key."""

    part: float
    key: float


@dataclass(frozen=True)
class Model:
    """Seconds for each term of each way, and to look keys up."""

    costs: Mapping[str, tuple[float, ...]]
    search: Search

    def seconds(self, load: Load, way: str) -> float:
        """What a step takes."""
        return self.serial(load, way) + self._sum(load, way, is_shared=True)

    def serial(self, load: Load, way: str) -> float:
        """The part of it that no executor takes from the driver."""
        return looked_up(self.search, load, way) + self._sum(load, way, is_shared=False)

    def _sum(self, load: Load, way: str, *, is_shared: bool) -> float:
        pairs = zip(self.costs[way], TERMS[way], strict=True)
        return sum(cost * term.of(load) for cost, term in pairs if term.is_shared == is_shared)


def looked_up(search: Search, load: Load, way: str) -> float:
    """Seconds until the driver has looked up the keys of a step."""
    return load.parts(way) * (search.part + search.key * load.changes)


def fitted(measured: Sequence[Measured], search: Search) -> Model:
    """The model that is the least wrong, as a share of what was measured, about all that is not held out."""
    costs = {}
    for way, terms in TERMS.items():
        taken = [each for each in measured if each.way == way and not each.is_held_out]
        rows = [[term.of(each.load) / each.seconds for term in terms] for each in taken]
        wanted = [1 - looked_up(search, each.load, way) / each.seconds for each in taken]
        costs[way] = tuple(least_squares(rows, wanted))
    return Model(costs, search)


def error(model: Model, one: Measured) -> float:
    """By what share of the truth the model is wrong; below nothing if it says too little."""
    return model.seconds(one.load, one.way) / one.seconds - 1


def least_squares(rows: Sequence[Sequence[float]], wanted: Sequence[float]) -> list[float]:
    """Factors, none below nothing, by which the columns of some rows add up to what is wanted, as nearly as can be.

    One factor after the other is made the best there is beside the others, until none moves any more.

    >>> [round(x, 3) for x in least_squares([[1, 0], [1, 1], [1, 2]], [1, 3, 5])]
    [1.0, 2.0]
    """
    count = len(rows[0]) if rows else 0
    scale = [math.sqrt(sum(row[i] ** 2 for row in rows)) or 1.0 for i in range(count)]
    columns = [[row[i] / scale[i] for row in rows] for i in range(count)]
    gram = [[_dot(one, other) for other in columns] for one in columns]
    aims = [_dot(column, wanted) for column in columns]
    found = [0.0] * count
    for _ in range(MOST_SWEEPS):
        moved = 0.0
        for i in range(count):
            if gram[i][i] == 0:
                continue
            best = max(0.0, found[i] + (aims[i] - _dot(gram[i], found)) / gram[i][i])
            moved, found[i] = max(moved, abs(best - found[i])), best
        if moved < STILL:
            break
    return [value / scale[i] for i, value in enumerate(found)]


MOST_SWEEPS, STILL = 200_000, 1e-12


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
