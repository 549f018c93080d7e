"""A batch of the feed as a file: a line of JSON that says what is in it, then the rows of each view as Arrow writes them.

Rows that are in files already are linked beside it, and named in the line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.schema import schema_from_json
from headwater.tables.state import link

SUFFIX = ".feed"


@dataclass(frozen=True)
class Entry:
    """A batch that is kept."""

    batch_id: int
    cut: str
    path: Path
    begin: int
    """Where in the file the rows begin."""
    relations: Mapping[str, Any]
    """What the line says of each view that changed."""
    linked: tuple[Path, ...]
    bytes: int
    written_at: float
    """In seconds since 1970."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """All its files."""
        return (self.path, *self.linked)


def write_entry(
    folder: Path, batch_id: int, cut: str, *, changes: Mapping[str, ChangeSet], anew: Collection[str]
) -> Entry:
    """Write the changes of a batch; all of it is synced when this returns, but for the names in the folder."""
    relations: dict[str, Any] = {}
    rows: list[pa.Buffer] = []
    linked: list[Path] = []
    at = 0
    for name, change in changes.items():
        small = ChangeSet(name, change.schema, tuple(p for p in change.parts if isinstance(p, Rows)))
        buffer = _written(small.table())
        files = [_linked(p, folder, batch_id, linked) for p in change.parts if isinstance(p, Files)]
        relations[name] = {
            "schema": change.schema.to_json(),
            "anew": name in anew,
            "begin": at,
            "bytes": buffer.size,
            "files": files,
        }
        rows.append(buffer)
        at += buffer.size
    path = folder / f"{batch_id:012d}{SUFFIX}"
    said = {"batch": batch_id, "cut": cut, "bytes": at, "relations": relations}
    with path.open("wb") as file:
        file.write(json.dumps(said).encode() + b"\n")
        for buffer in rows:
            file.write(buffer)
        file.flush()
        os.fsync(file.fileno())
    entry = entry_in(path)
    assert entry is not None
    return entry


def entry_in(path: Path) -> Entry | None:
    """What a file says of itself; None if it is not whole."""
    with path.open("rb") as file:
        line = file.readline()
        stat = os.fstat(file.fileno())
    if not line.endswith(b"\n"):
        return None
    said = json.loads(line)
    named = [name for one in said["relations"].values() for part in one["files"] for name in part["names"]]
    linked = tuple(path.parent / name for name in named)
    if stat.st_size != len(line) + said["bytes"] or not all(one.exists() for one in linked):
        return None
    total = stat.st_size + sum(one.stat().st_size for one in linked)
    relations = said["relations"]
    return Entry(said["batch"], said["cut"], path, len(line), relations, linked, total, stat.st_mtime)


def read_changes(entry: Entry, relation: str) -> tuple[ChangeSet | None, bool]:
    """What a batch did to a view, and whether it begins anew there."""
    said = entry.relations.get(relation)
    if said is None:
        return None, False
    schema = schema_from_json(said["schema"])
    with entry.path.open("rb") as file:
        file.seek(entry.begin + said["begin"])
        table = pa.ipc.open_stream(file.read(said["bytes"])).read_all()
    parts: list[Rows | Files] = [Rows(table)] if table.num_rows else []
    for part in said["files"]:
        paths = tuple(entry.path.parent / name for name in part["names"])
        parts.append(Files(paths, part["count"], negated=part["negated"]))
    return ChangeSet(relation, schema, tuple(parts)), bool(said["anew"])


def _written(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _linked(part: Files, folder: Path, batch_id: int, linked: list[Path]) -> dict[str, Any]:
    """Give the files of a part second names in the feed."""
    names = []
    for source in part.paths:
        target = folder / f"{batch_id:012d}-{len(linked)}.parquet"
        link(source, target)
        linked.append(target)
        names.append(target.name)
    return {"names": names, "count": part.count, "negated": part.negated}
