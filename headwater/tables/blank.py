"""Columns that are lost, set to NULL: in the rows of a State, and in events that still tell them.

What a row was before a column went and what is told of it afterwards must be equal, or it could never go.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.log.events import Events
from headwater.schema import with_bounds
from headwater.tables.state import Run, State, sync_folder


def blanked(state: State, columns: Collection[str], batch_id: int) -> State:
    """The State with nothing in some columns; its files are on disk and synced when this returns."""
    runs = []
    for number, run in enumerate(state.runs):
        path = state.folder / f"{batch_id:012d}-blank-{number}.parquet"
        _rewrite(run.path, path, columns)
        runs.append(Run(path, run.rows))
    if runs:
        sync_folder(state.folder)
    return replace(state, runs=tuple(runs))


def blanked_events(events: Events, columns: Collection[str], folder: Path) -> Events:
    """Events with nothing in some columns; files are written anew to a folder of things that need not stay."""
    if not columns:
        return events
    if events.rows is not None:
        return replace(events, rows=_without(events.rows, columns))
    folder.mkdir(parents=True, exist_ok=True)
    files = [(path, folder / f"blank-{uuid4().hex}.parquet") for path in events.files]
    for source, target in files:
        _rewrite(source, target, columns)
    return replace(events, files=tuple(target for _, target in files))


def _rewrite(source: Path, target: Path, columns: Collection[str]) -> None:
    """Copy a file, row group by row group."""
    opened = pq.ParquetFile(source)
    with target.open("wb") as file:
        told = with_bounds(opened.schema_arrow)
        with pq.ParquetWriter(file, opened.schema_arrow, compression="zstd", write_statistics=told) as writer:
            for number in range(opened.num_row_groups):
                group = _without(opened.read_row_group(number), columns)
                writer.write_table(group, row_group_size=max(1, group.num_rows))
        file.flush()
        os.fsync(file.fileno())


def _without(rows: pa.Table, columns: Collection[str]) -> pa.Table:
    for name in columns:
        field = rows.schema.field(name)
        nothing = pa.nulls(rows.num_rows, field.type)
        rows = rows.set_column(rows.schema.get_field_index(name), field, nothing)
    return rows
