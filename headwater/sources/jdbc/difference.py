"""What changed between two reads of a table, found by the digests of its rows.

A read is a folder of Parquet files: `rows-*` with the rows, and beside each `digests-*` with their digests. Only these
are compared, in as many passes as keep memory bounded; then the rows that went or came are cut out of the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

DIGEST, BUCKET = "__hw_digest", "__hw_bucket"
"""The digest of each row, and its first byte, by which passes divide rows."""

ROWS, DIGESTS = "rows", "digests"
"""How the files of a read begin; those of one number belong together."""

MOST_PASSES = 256
ROWS_AT_ONCE = 2_000_000
BATCH_ROWS = 65_536


def digests_of(rows: Sequence[bytes]) -> pa.Table:
    """The digests of some rows, and their buckets."""
    digests = [hashlib.blake2b(row, digest_size=16).digest() for row in rows]
    buckets = pa.array([digest[0] for digest in digests], pa.uint8())
    return pa.table({DIGEST: pa.array(digests, pa.binary(16)), BUCKET: buckets})


@dataclass(frozen=True)
class Piece:
    """Some rows, with all columns of the files, that came (+1) or went (-1)."""

    rows: pa.Table
    weight: int


def difference(old: Path, new: Path, *, rows_at_once: int = ROWS_AT_ONCE) -> Iterator[Piece]:
    """The rows that only one of two reads has, each as often as the reads differ in it."""
    total = sum(pq.read_metadata(path).num_rows for read in (old, new) for path in _files(read, DIGESTS))
    passes = 1
    while passes < MOST_PASSES and total / passes > rows_at_once:
        passes *= 2
    for number in range(passes):
        counted = _counted(old, new, passes=passes, number=number)
        for read, weight, side in ((old, -1, "old"), (new, +1, "new")):
            chosen = counted.filter(pc.greater(pc.multiply(counted.column("weight_sum"), weight), 0))
            rows = pa.table(
                {"row": chosen.column(f"{side}_min"), "times": pc.abs(chosen.column("weight_sum"))}
            )
            for cut in _cut(_files(read, ROWS), rows.sort_by("row")):
                yield Piece(cut, weight)


def _files(read: Path, kind: str) -> list[Path]:
    """The files of a read; however the numbers are sorted, both kinds are sorted alike."""
    return sorted(read.glob(f"{kind}-*.parquet"))


def _counted(old: Path, new: Path, *, passes: int, number: int) -> pa.Table:
    """For each digest of a pass: how much more often the new read has it, and its first row in each."""
    sides = [_digests(_files(read, DIGESTS), passes=passes, number=number) for read in (old, new)]
    parts = []
    for weight, (digests, rows) in zip((-1, +1), sides, strict=True):
        nothing = pa.nulls(len(rows), pa.int64())
        parts.append(
            pa.table(
                {
                    "digest": digests,
                    "weight": pa.repeat(pa.scalar(weight, pa.int64()), len(rows)),
                    "old": rows if weight < 0 else nothing,
                    "new": nothing if weight < 0 else rows,
                }
            )
        )
    whole = pa.concat_tables(parts)
    # With threads each one groups by itself first, which for keys that hardly repeat costs ten times as much.
    grouped = whole.group_by("digest", use_threads=False)
    return grouped.aggregate([("weight", "sum"), ("old", "min"), ("new", "min")])


def _digests(files: Sequence[Path], *, passes: int, number: int) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """The digests of a pass and the numbers of their rows, counted over all files."""
    digests, rows, begin = [pa.array([], pa.binary(16))], [pa.array([], pa.int64())], 0
    for batch in (b for path in files for b in pq.ParquetFile(path).iter_batches(BATCH_ROWS)):
        numbers = pa.array(range(begin, begin + batch.num_rows), pa.int64())
        begin += batch.num_rows
        mine = pc.equal(pc.bit_wise_and(batch.column(BUCKET), pa.scalar(passes - 1, pa.uint8())), number)
        digests.append(batch.column(DIGEST).filter(mine))
        rows.append(numbers.filter(mine))
    return pa.chunked_array(digests), pa.chunked_array(rows)


def _cut(files: Sequence[Path], wanted: pa.Table) -> Iterator[pa.Table]:
    """The wanted rows of some files, each as many times as it is wanted; parts without any are not read."""
    begin = 0
    for path in files if wanted.num_rows else ():
        file = pq.ParquetFile(path)
        for group in range(file.num_row_groups):
            end = begin + file.metadata.row_group(group).num_rows
            row = wanted.column("row")
            found = wanted.filter(pc.and_(pc.greater_equal(row, begin), pc.less(row, end)))
            if found.num_rows:
                yield file.read_row_group(group).take(_repeated(found, begin))
            begin = end


def _repeated(found: pa.Table, begin: int) -> pa.Array:
    rows = pc.subtract(found.column("row"), begin).combine_chunks()
    if pc.max(found.column("times")).as_py() == 1:
        return rows
    pairs = zip(rows.to_pylist(), found.column("times").to_pylist(), strict=True)
    return pa.array([row for row, times in pairs for _ in range(times)], pa.int64())
