"""Segments: Parquet files of events, durable once `sync` returned."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headwater.log.events import DELETE, INSERT, KIND, SEQ
from headwater.schema import RESERVED_PREFIX, with_bounds

COMPRESSION = "zstd"
ROW_GROUP = 100_000


@dataclass(frozen=True)
class Segment:
    """A file of events of one table; `whole` if all of them are insert or delete."""

    table: str
    file: str
    rows: int
    whole: bool


def write_segment(folder: Path, file: str, *, table: str, events: pa.Table) -> Segment:
    """Write one file of events; not durable before `sync`."""
    pq.write_table(
        events,
        folder / file,
        compression=COMPRESSION,
        compression_level=1,
        row_group_size=ROW_GROUP,
        write_statistics=with_bounds(events.schema),
    )
    return Segment(table, file, events.num_rows, is_whole(events))


def is_whole(events: pa.Table) -> bool:
    """True if no event needs a look-up in State."""
    kinds = pc.unique(events.column(KIND)).to_pylist()
    return all(kind in (INSERT, DELETE) for kind in kinds)


def sync(folder: Path, files: Sequence[str]) -> None:
    """Force files and the folder that names them to disk."""
    for file in files:
        _sync_path(folder / file)
    if files:
        _sync_path(folder)


def _sync_path(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


class SegmentStream:
    """Rows without end into segments of bounded size: the snapshot of a table.

    Files take their names from `stem`: `stem-0.parquet`, `stem-1.parquet`, ...
    """

    def __init__(self, folder: Path, stem: str, *, table: str, rows_per_file: int) -> None:
        self._folder, self._stem, self._table = folder, stem, table
        self._rows_per_file = rows_per_file
        self._writer: pq.ParquetWriter | None = None
        self._rows = 0
        self._done: list[Segment] = []

    def write(self, events: pa.Table) -> None:
        """Add rows, all of them inserts."""
        if self._writer is None:
            path = self._folder / self._file()
            # What stands beside the columns is one value for all rows. The columns themselves are written faster
            # without a dictionary, and compress better: it took a third more time and twice the space.
            beside = [
                name for name in events.schema.names if name.startswith(RESERVED_PREFIX) and name != SEQ
            ]
            self._writer = pq.ParquetWriter(
                path,
                events.schema,
                compression=COMPRESSION,
                compression_level=1,
                use_dictionary=beside,
                write_statistics=with_bounds(events.schema),
            )
        self._writer.write_table(events, row_group_size=ROW_GROUP)
        self._rows += events.num_rows
        if self._rows >= self._rows_per_file:
            self._finish()

    def close(self) -> tuple[Segment, ...]:
        """Finish the last file; all segments, forced to disk."""
        self._finish()
        sync(self._folder, [segment.file for segment in self._done])
        return tuple(self._done)

    def _file(self) -> str:
        return f"{self._stem}-{len(self._done)}.parquet"

    def _finish(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        self._done.append(Segment(self._table, self._file(), self._rows, True))
        self._writer, self._rows = None, 0
