"""Rows as JSON, CSV and Arrow. Oracle: the texts, written by hand, and the rows themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

from headwater.schema import Column, Schema, arrow_schema
from headwater.server.forms import written

SCHEMA = Schema(
    (
        Column("b", "boolean"),
        Column("d", "double"),
        Column("x", "decimal(38,18)"),
        Column("on", "date"),
        Column("at", "timestamp"),
        Column("y", "binary"),
        Column("a", "array<int>"),
        Column("r", "struct<p:int,q:string>"),
        Column('s "s"', "string"),
    )
)
ROWS = [
    (
        True,
        float("inf"),
        Decimal("0.000000000000000001"),
        date(2024, 2, 29),
        datetime(2024, 1, 1, 12, tzinfo=UTC),
        b"\x00\xff",
        [1, None],
        {"p": 1, "q": 'a"b'},
        "",
    ),
    (None,) * 9,
]


def batches() -> Iterator[pa.RecordBatch]:
    """One row in each."""
    for row in ROWS:
        columns = [
            pa.array([value], field.type) for value, field in zip(row, arrow_schema(SCHEMA), strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=arrow_schema(SCHEMA))


def text(form: str) -> str:
    return b"".join(written(form, SCHEMA, batches(), head={"cut": "é"})).decode()


def test_json_has_the_head_and_then_the_rows() -> None:
    said = json.loads(text("json"), parse_float=Decimal)
    assert said["cut"] == "é"
    assert list(said["rows"][0].values()) == [
        True,
        "Infinity",
        Decimal("0.000000000000000001"),
        "2024-02-29",
        "2024-01-01T12:00:00Z",
        "AP8=",
        [1, None],
        {"p": 1, "q": 'a"b'},
        "",
    ]
    assert list(said["rows"][1].values()) == [None] * 9
    assert json.loads(b"".join(written("json", SCHEMA, iter(()), head={"cut": ""})))["rows"] == []


def test_csv_tells_null_from_empty_text() -> None:
    assert text("csv").splitlines() == [
        'b,d,x,on,at,y,a,r,"s ""s"""',
        "true,inf,0.000000000000000001,2024-02-29,2024-01-01T12:00:00Z,AP8=,"
        '"[1,null]","{""p"":1,""q"":""a\\""b""}",""',
        ",,,,,,,,",
    ]


def test_arrow_is_the_rows_themselves() -> None:
    found = pa.ipc.open_stream(b"".join(written("arrow", SCHEMA, batches(), head={}))).read_all()
    assert found.schema == arrow_schema(SCHEMA)
    assert [tuple(row.values()) for row in found.to_pylist()] == ROWS


def test_csv_tells_null_from_no_bytes() -> None:
    schema = Schema((Column("n", "int"), Column("y", "binary")))
    rows = pa.RecordBatch.from_pydict({"n": [1, 2], "y": [b"", None]}, schema=arrow_schema(schema))
    assert b"".join(written("csv", schema, iter([rows]), head={})) == b'n,y\n1,""\n2,\n'
