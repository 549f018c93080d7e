"""A transaction of a million rows, a part of it rolled back: told as a whole, and in little memory.

Oracle: the server, which adds up the rows of the table; and what the kernel says the capture held at most.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.postgres.world import Database, World, parts, read_now

pytestmark = pytest.mark.services

ROWS = 1_000_000

NOTE = "repeat(md5(i::text), 10)"

BYTES = 256 << 20
"""The capture holds no more, while the rows take 320 MB as text alone."""


def test_a_million_rows_in_one_transaction_are_told_whole_and_held_in_little_memory(
    database: Database, world: World
) -> None:
    database.run("CREATE TABLE t (id int, note text); ALTER TABLE t REPLICA IDENTITY FULL")
    with world.source(database.table("t", "id int, note string")) as source:
        database.together(
            f"INSERT INTO t SELECT i, {NOTE} FROM generate_series(1, {ROWS // 2}) i",
            "SAVEPOINT s",
            f"INSERT INTO t SELECT -i, {NOTE} FROM generate_series(1, {ROWS // 20}) i",
            "ROLLBACK TO s",
            f"INSERT INTO t SELECT i, {NOTE} FROM generate_series({ROWS // 2 + 1}, {ROWS}) i",
        )
        told = parts(read_now(source), "t")
        status = Path(f"/proc/{source.capture_pid}/status").read_text()
        assert [part.count for part in told] == [ROWS], "it came at once"
        added = [0, 0]
        for path in told[0].files:
            rows = pq.ParquetFile(path).read(["id", "note"])
            added[0] += pc.sum(rows["id"]).as_py()
            added[1] += pc.sum(pc.utf8_length(rows["note"])).as_py()
    assert [tuple(added)] == database.run("SELECT sum(id), sum(length(note)) FROM t")
    (most,) = [int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM")]
    assert most < BYTES, f"{most >> 20} MB"
