"""Changes in pieces that fit in memory. Oracle: the rows that were put in."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.changes.change_set import ChangeSet, Files, weighted_schema
from headwater.schema import Column, Schema
from headwater.sinks import keyed

COLUMNS = Schema((Column("id", "int"), Column("body", "string")), ("id",))


@pytest.mark.parametrize(("rows", "size"), [(100, keyed.PIECE_BYTES), (keyed.PIECE_ROWS, 100_000)])
def test_no_piece_is_larger_than_memory_may_be_and_none_parts_what_belongs_together(
    rows: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyed, "PIECE_ROWS", rows)
    monkeypatch.setattr(keyed, "PIECE_BYTES", size)
    ids = [number % 500 for number in range(1000)]
    # No two alike, so that the file cannot tell less of them than there is.
    bodies = [f"{number:0>1000}" for number in range(1000)]
    table = pa.table([ids, bodies, [1] * 1000], schema=weighted_schema(COLUMNS))
    pq.write_table(table, tmp_path / "rows.parquet", compression="zstd")
    changes = ChangeSet("t", COLUMNS, (Files((tmp_path / "rows.parquet",), 1000),))
    found = list(keyed.together(changes, lambda batch: batch.column("id").cast(pa.string())))
    assert max(piece.num_rows for piece in found) < 300
    assert sorted(body for piece in found for body in piece.column("body").to_pylist()) == sorted(bodies)
    inside = [set(piece.column("id").to_pylist()) for piece in found]
    assert sum(map(len, inside)) == len(set(ids)) == 500
