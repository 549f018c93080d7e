"""What a source keeps in its folder: facts so that a restart goes on, and events too many for memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.errors import StateError
from headwater.log.events import DELETE, INSERT, KIND, SMALL_ROWS, Events
from headwater.schema import with_bounds
from headwater.storage.place import files_of


def load(folder: Path, name: str) -> dict[str, float] | None:
    """The numbers saved under a name, None if nothing was."""
    path = files_of(folder) / f"{name}.json"
    if not path.exists():
        return None
    try:
        said = json.loads(path.read_text())
        return {str(key): float(value) for key, value in said.items()}
    except (ValueError, TypeError, AttributeError) as wrong:
        raise StateError(
            f"what a source saved is unreadable: {path.name}",
            detail=f"{path}: {wrong}",
            hint="Start again from an empty state folder.",
        ) from wrong


def save(folder: Path, name: str, numbers: dict[str, float]) -> None:
    """Keep numbers under a name; whoever reads sees all of them or what was there before."""
    folder = files_of(folder)
    path, new = folder / f"{name}.json", folder / f"{name}.json.new"
    with new.open("w") as file:
        json.dump(numbers, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def as_events(folder: Path, name: str, table: pa.Table) -> Events:
    """Events of a table: in memory if they are few, else in a file of that name."""
    whole = set(table.column(KIND).unique().to_pylist()) <= {INSERT, DELETE}
    if len(table) <= SMALL_ROWS:
        return Events(len(table), rows=table.combine_chunks(), whole_rows=whole)
    folder = files_of(folder)
    path = folder / f"{quote(name, safe='')}.parquet"
    new = path.with_suffix(".new")
    pq.write_table(table, new, compression="zstd", write_statistics=with_bounds(table.schema))
    return Events(len(table), files=(new.replace(path),), whole_rows=whole)
