"""State: the rows of a relation that are true now, as a set of runs.

A run is a Parquet file of weighted rows. What is true is the sum of all runs; nothing is ever changed in place, so
the State before a step is still there while the step is computed, and a step that fails leaves files that nobody names.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.changes.change_set import ChangeSet, Files, Rows, weighted_schema
from headwater.schema import WEIGHT, Schema, with_bounds

ROW_GROUP_ROWS = 65_536


@dataclass(frozen=True)
class Run:
    """One Parquet file of weighted rows."""

    path: Path
    rows: int


@dataclass(frozen=True)
class State:
    """All runs of a relation. `folder` is where new ones go."""

    relation: str
    schema: Schema
    folder: Path
    runs: tuple[Run, ...] = ()

    @property
    def rows(self) -> int:
        """How many weighted rows are stored, before any cancel."""
        return sum(run.rows for run in self.runs)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of all runs."""
        return tuple(run.path for run in self.runs)


def appended(state: State, changes: ChangeSet, batch_id: int) -> State:
    """The State after a change; its files are on disk and synced when this returns.

    >>> appended(state, changes, 7).runs[-1].path.name
    '000000000007-0.parquet'
    """
    kept = () if _starts_over(changes) else state.runs
    made: list[Run] = []
    for part in changes.parts:
        match part:
            case Rows(table) if table.num_rows:
                path = _fresh(state.folder, batch_id, len(made))
                write_rows(path, table.select(weighted_schema(state.schema).names), state.schema)
                made.append(Run(path, table.num_rows))
            case Files(paths, _, negated) if not negated:
                for source in paths:
                    path = _fresh(state.folder, batch_id, len(made))
                    link(source, path)
                    made.append(Run(path, row_count(path)))
    if made:
        sync_folder(state.folder)
    return replace(state, runs=(*kept, *made))


def row_count(path: Path) -> int:
    """How many rows a file has."""
    return int(pq.read_metadata(path).num_rows)


def has_only_come(state: State) -> bool:
    """True if the files say that no row of a State ever went."""
    return not runs_with_gone(state)


def runs_with_gone(state: State) -> tuple[Run, ...]:
    """The runs in which rows go, or may go: those whose files do not say."""
    return tuple(run for run in state.runs if _least_weight(run.path, run.path.stat().st_mtime_ns) <= 0)


@lru_cache(maxsize=4096)
def _least_weight(path: Path, changed: int) -> int:
    """The least weight in a file; -1 if it does not say."""
    del changed  # part of the key alone: a file that was written anew under its old name is another one
    try:
        told = pq.read_metadata(path)
    except pa.ArrowInvalid as broken:
        raise pa.ArrowInvalid(f"{path.name}: {broken}") from broken
    # Events that became a run as they are have more columns than the relation.
    place = next(i for i in range(told.num_columns) if told.schema.column(i).path == WEIGHT)
    found = [told.row_group(number).column(place).statistics for number in range(told.num_row_groups)]
    return min((-1 if s is None or not s.has_min_max else int(s.min) for s in found), default=1)


def _starts_over(changes: ChangeSet) -> bool:
    """A part that takes everything back (TRUNCATE) lets all former runs go."""
    return any(isinstance(part, Files) and part.negated for part in changes.parts)


def _fresh(folder: Path, batch_id: int, number: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{batch_id:012d}-{number}.parquet"


def write_rows(path: Path, table: pa.Table, schema: Schema) -> None:
    """Write weighted rows as a synced Parquet file of the relation's types."""
    typed = table.cast(weighted_schema(schema))
    with path.open("wb") as file:
        pq.write_table(
            typed,
            file,
            row_group_size=ROW_GROUP_ROWS,
            compression="zstd",
            write_statistics=with_bounds(typed.schema),
        )
        file.flush()
        os.fsync(file.fileno())


def link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the file system has no links."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    with target.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
