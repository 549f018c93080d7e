"""Small runs in memory: runs never change, and the newest ones are read at every step."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.tables.state import Run, State

SMALL_RUN_ROWS, SMALL_RUN_BYTES = 20_000, 8 << 20
"""Runs up to so many rows, in files up to so many bytes, are kept in memory once read, those that were read last:
a refresh of TPC-H at scale 1 brings 12,000 lines."""

SMALL_RUNS_BYTES = 128 << 20
"""So much of them is kept at most."""


def is_small(state: State) -> bool:
    """True if all of a State is quickly read, and has room in memory."""
    size = sum(path.stat().st_size for path in state.paths)
    return state.rows <= SMALL_RUN_ROWS and size <= SMALL_RUN_BYTES


def is_small_run(run: Run) -> bool:
    """True if a run is kept in memory once it was read."""
    return run.rows <= SMALL_RUN_ROWS and run.path.stat().st_size <= SMALL_RUN_BYTES


def read_run(run: Run, names: list[str]) -> pa.Table:
    """Some columns of a run."""
    if is_small_run(run):
        return _KEPT.table(run.path).select(names)
    return pq.read_table(run.path, columns=names, partitioning=None)


@dataclass
class SmallRuns:
    """Those that were read last, as many as there is room for."""

    _tables: OrderedDict[tuple[Path, int], pa.Table] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Compaction reads too, in a thread of its own."""

    def table(self, path: Path) -> pa.Table:
        """All of a run; a file that was written anew under its old name is another one."""
        known = (path, path.stat().st_mtime_ns)
        with self._lock:
            if known in self._tables:
                self._tables.move_to_end(known)
                return self._tables[known]
        read = pq.read_table(path, partitioning=None)
        with self._lock:
            if known not in self._tables:
                self._tables[known] = read
                self._bytes += read.nbytes
            while self._bytes > SMALL_RUNS_BYTES:
                self._bytes -= self._tables.popitem(last=False)[1].nbytes
        return read


_KEPT = SmallRuns()
