"""Rows become messages. Oracles: Python's json, csv and struct read back what was written; texts as Flink writes them."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.formats.encode import envelopes, messages
from headwater.formats.encode_csv import raw
from headwater.formats.encode_json import Fields
from headwater.formats.kinds import CsvFormat, DebeziumJson, JsonFormat, RawFormat

TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.none() | st.integers(-(2**63), 2**63 - 1)
FLOATS = st.none() | st.floats()
DECIMALS = st.none() | st.decimals(-(10**9), 10**9, places=10, allow_nan=False)
TIMES = st.none() | st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))
ROW = pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))])


def written(fields: Fields, kind: JsonFormat | CsvFormat | None = None) -> list[Any]:
    return list(messages(kind or JsonFormat(), fields).to_pylist())


@given(st.lists(st.tuples(TEXTS, NUMBERS, FLOATS, st.none() | st.booleans()), min_size=1, max_size=20))
def test_json_reads_back_what_was_written(rows: list[tuple[Any, ...]]) -> None:
    kinds = {'te"xt': pa.string(), "whole": pa.int64(), "half": pa.float64(), "yes": pa.bool_()}
    columns = list(zip(*rows, strict=True))
    fields = [(name, pa.array(c, kind)) for (name, kind), c in zip(kinds.items(), columns, strict=True)]
    for text, row in zip(written(fields), rows, strict=True):
        read = json.loads(text)
        assert list(read) == list(kinds)
        half = float(read["half"]) if isinstance(read["half"], str) else read["half"]
        assert half == row[2] or (row[2] is not None and math.isnan(row[2]) and math.isnan(half))
        assert (read['te"xt'], read["whole"], read["yes"]) == (row[0], row[1], row[3])


@given(st.lists(DECIMALS, min_size=1, max_size=20))
def test_decimals_are_plain_and_keep_every_digit(values: list[Decimal | None]) -> None:
    for text, value in zip(written([("d", pa.array(values, pa.decimal128(20, 10)))]), values, strict=True):
        assert json.loads(text, parse_float=Decimal)["d"] == value
        assert "E" not in text and "e" not in text


@given(st.lists(TIMES, min_size=1, max_size=20), st.sampled_from(["SQL", "ISO-8601"]))
def test_times_read_back_in_both_standards_alone_and_nested(
    values: list[datetime | None], standard: str
) -> None:
    alone = pa.array(values, pa.timestamp("us"))
    nested = pa.array([[value] for value in values], pa.list_(pa.timestamp("us")))
    for text, value in zip(
        written([("t", alone), ("n", nested)], JsonFormat(timestamp_format=standard)), values, strict=True
    ):
        read = json.loads(text)
        assert read["n"] == [read["t"]]
        assert (read["t"] and datetime.fromisoformat(read["t"])) == value
        assert value is None or ("T" in read["t"]) == (standard == "ISO-8601")
        assert value is None or not (read["t"].endswith("0") and "." in read["t"])


def test_json_as_flink_writes_it() -> None:
    noon = datetime(2020, 12, 30, 12, 13, 14, 123000)
    fields = [
        ("f", pa.array([1.0, math.nan, None])),
        ("z", pa.array([noon.replace(tzinfo=UTC), None, None], pa.timestamp("us", "UTC"))),
        ("d", pa.array([date(2020, 12, 30), None, None])),
        ("b", pa.array([b"\x00\xff", b"", None])),
        ("m", pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int32()))),
        ("r", pa.array([{"a": None, "b": ["x", None]}, None, None], ROW)),
    ]
    assert written(fields) == [
        '{"f":1.0,"z":"2020-12-30 12:13:14.123Z","d":"2020-12-30","b":"AP8=","m":{"k":1},"r":{"a":null,"b":["x",null]}}',
        '{"f":"NaN","z":null,"d":null,"b":"","m":{},"r":null}',
        '{"f":null,"z":null,"d":null,"b":null,"m":null,"r":null}',
    ]
    assert written(fields, JsonFormat(ignore_null_fields=True, timestamp_format="ISO-8601")) == [
        '{"f":1.0,"z":"2020-12-30T12:13:14.123Z","d":"2020-12-30","b":"AP8=","m":{"k":1},"r":{"b":["x",null]}}',
        '{"f":"NaN","b":"","m":{}}',
        "{}",
    ]


def test_debezium_events_as_flink_writes_them() -> None:
    fields = [("id", pa.array([1])), ("name", pa.array(["a"]))]
    kind = DebeziumJson()
    assert envelopes(kind, fields, come=True).to_pylist() == [
        '{"before":null,"after":{"id":1,"name":"a"},"op":"c"}'
    ]
    assert envelopes(kind, fields, come=False).to_pylist() == [
        '{"before":{"id":1,"name":"a"},"after":null,"op":"d"}'
    ]


@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), NUMBERS),
        min_size=1,
    )
)
def test_csv_reads_back_what_was_written(rows: list[tuple[str, int | None]]) -> None:
    texts, numbers = zip(*rows, strict=True)
    fields = [("a", pa.array(texts, pa.string())), ("b", pa.array(numbers, pa.int64()))]
    for line, (text, number) in zip(written(fields, CsvFormat()), rows, strict=True):
        read = list(csv.reader(io.StringIO(line, newline=""), strict=True))
        assert read == [[text, "" if number is None else str(number)]]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (CsvFormat(), '"a,b",1.50,x;y,"q""q",'),
        (CsvFormat(null_literal="NULL"), '"a,b",1.50,x;y,"q""q",NULL'),
        (CsvFormat(field_delimiter="\\t", array_element_delimiter="|"), 'a,b\t1.50\tx|y\t"q""q"\t'),
        (CsvFormat(field_delimiter=";", escape_character="\\"), 'a,b;1.50;"x;y";"q\\"q";'),
        (CsvFormat(disable_quote_character=True), 'a,b,1.50,x;y,q"q,'),
    ],
)
def test_csv_options(kind: CsvFormat, line: str) -> None:
    fields = [
        ("t", pa.array(["a,b"])),
        ("d", pa.array([Decimal("1.50")], pa.decimal128(10, 2))),
        ("l", pa.array([["x", "y"]])),
        ("q", pa.array(['q"q'])),
        ("n", pa.nulls(1, pa.string())),
    ]
    assert written(fields, kind) == [line]


@pytest.mark.parametrize(
    ("kind", "layout", "value"),
    [
        (pa.int8(), "b", -3),
        (pa.int16(), "h", -300),
        (pa.int32(), "i", 70_000),
        (pa.int64(), "q", 2**40),
        (pa.float32(), "f", 1.5),
        (pa.float64(), "d", -2.25),
        (pa.bool_(), "?", True),
    ],
)
def test_raw_numbers_are_laid_out_as_java_does(kind: pa.DataType, layout: str, value: object) -> None:
    there = pa.array([value, None], kind)
    assert messages(RawFormat(), [("v", there)]).to_pylist() == [struct.pack(f">{layout}", value), None]
    assert raw(there, endianness="little-endian").to_pylist() == [struct.pack(f"<{layout}", value), None]


def test_raw_text_and_bytes() -> None:
    assert raw(pa.array(["é", None])).to_pylist() == ["é".encode(), None]
    assert raw(pa.array(["é"]), charset="ISO-8859-1").to_pylist() == [b"\xe9"]
    assert raw(pa.array([base64.b64decode("AP8=")])).to_pylist() == [b"\x00\xff"]
