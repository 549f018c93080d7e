"""A folder with a file a batch. Oracle: the names and rows below."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.errors import SinkError
from tests.ends.filesystem_world import opened, table_of
from tests.ends.postgres_world import changes, schema

ROWS = schema("id int, name string")
KINDS = schema(
    "a boolean, b decimal(10,2), c binary, d date, e timestamp, f timestamp_ntz, g array<string>, "
    "h map<string,int>, i struct<x:int,y:string>, j double, k string, l tinyint, m bigint, n float"
)
NOON = datetime(2024, 2, 29, 12, 0, 0, 7)
VALUES = (
    True, Decimal("1.50"), b"\x01\xff", date(2024, 2, 29), NOON.replace(tzinfo=UTC), NOON, ["a", None],
    [("k", 1)], {"x": 1, "y": "z"}, 0.1, "", -3, 2**62, 0.5,
)  # fmt: skip


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_every_batch_with_rows_is_a_file(tmp_path: Path) -> None:
    table = table_of(f"{tmp_path}/out/", ROWS, append_only=True, format="csv", csv__write_header="true")
    sink = opened(table)
    sink.write([changes(table, (1, 1, "ann"), (1, 2, "bob"))], 1)
    sink.write([], 2)
    sink.write([changes(table, (1, 3, "cy"))], 12)
    folder = tmp_path / "out"
    assert names(folder) == ["_headwater.json", "batch-000000000001.csv", "batch-000000000012.csv"]
    assert (folder / "batch-000000000001.csv").read_text() == "id,name\n1,ann\n2,bob\n"
    assert opened(table).last_batch() == 12


def test_a_batch_whose_note_a_crash_prevented_replaces_its_own_file(tmp_path: Path) -> None:
    table = table_of(tmp_path, ROWS, append_only=True, format="json")
    sink = opened(table)
    sink.write([changes(table, (1, 1, "ann"))], 1)
    before = (tmp_path / "_headwater.json").read_bytes()
    second = changes(table, (1, 2, "bob"))
    sink.write([second], 2)
    (tmp_path / "_headwater.json").write_bytes(before)
    (tmp_path / ".batch-000000000002.json.tmp").write_text("half")
    (tmp_path / "of others.txt").write_text("stays")
    sink = opened(table)
    assert sink.last_batch() == 1
    sink.write([second], 2)
    sink.write([second], 2)
    assert names(tmp_path) == [
        "_headwater.json", "batch-000000000001.json", "batch-000000000002.json", "of others.txt",
    ]  # fmt: skip
    assert (tmp_path / "batch-000000000002.json").read_text() == '{"id":2,"name":"bob"}\n'


def test_parquet_has_the_types_as_they_are(tmp_path: Path) -> None:
    table = table_of(tmp_path, KINDS, format="parquet", parquet__compression="ZSTD")
    nothing = (None,) * len(VALUES)
    opened(table).write([changes(table, (1, *VALUES), (-1, *nothing))], 3)
    path = tmp_path / "batch-000000000003.parquet"
    found = pq.read_table(path)
    assert found.schema.field("e").type == pa.timestamp("us", tz="UTC")
    assert found.schema.field("b").type == pa.decimal128(10, 2)
    assert [tuple(row.values()) for row in found.to_pylist()] == [("-D", *nothing), ("+I", *VALUES)]
    assert pq.read_metadata(path).row_group(0).column(0).compression == "ZSTD"


def test_batches_without_a_note_are_refused(tmp_path: Path) -> None:
    (tmp_path / "batch-000000000003.csv").write_text("1,ann\n")
    with pytest.raises(SinkError) as caught:
        opened(table_of(tmp_path, ROWS, append_only=True, format="csv"))
    assert caught.value.message == f"'{tmp_path}' holds batches, and no note of who wrote them"
    assert caught.value.detail == "There is batch-000000000003.csv, and no _headwater.json."
