"""Lines of separated values."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.formats.decoded import complaints, decoded, reading, told

pytestmark = pytest.mark.jvm

HALF_DAY = datetime(2020, 1, 1, 12, 30, 15, 123456)
COLUMNS = {
    "id": "int",
    "name": "string",
    "at": "timestamp_ntz",
    "tags": "array<int>",
    "r": "struct<a:int,b:string>",
}
TABLE = reading(
    COLUMNS,
    options={
        "format": "csv",
        "csv.allow-comments": "true",
        "csv.null-literal": "n/a",
        "csv.field-delimiter": "\\t",
    },
)


def test_csv_is_read_in_the_order_of_the_columns() -> None:
    said = [
        '1\t"a ""b""\t,"\t2020-01-01 12:30:15.123456\t1;2\t5;x',
        "n/a\t\tn/a\t\tn/a\n",
        "2\tx\tn/a\t7\t;y\t",
        "# nothing",
        None,
        "",
        "x\ty\tn/a\tn/a\tn/a",
        "1\ty",
        "1\ty\tn/a\t1;q\tn/a",
        "1\ty\t2020-01-01\tn/a\tn/a",
    ]
    rows = decoded(TABLE, said)
    assert told(rows)[:3] == [
        (0, "insert", {"id": 1, "name": 'a "b"\t,', "at": HALF_DAY, "tags": [1, 2], "r": {"a": 5, "b": "x"}}),
        (1, "insert", {"name": "", "tags": []}),
        (2, None, {"id": 2, "name": "x", "tags": [7], "r": {"a": None, "b": "y"}}),
    ]
    found = complaints(rows)
    assert found[2] == 'field "r.a" cannot be read as int: '
    assert found[6] == 'field "id" cannot be read as int: x'
    assert found[7].startswith("the value has not 5 values: 1\ty")
    assert found[8] == 'field "tags[]" cannot be read as int: q'
    assert found[9].startswith('field "at" cannot be read as timestamp_ntz (2020-12-30 12:13:14.123)')
    assert [row["__hw_offset"] for row in rows] == [0, 1, 2, 6, 7, 8, 9]


def test_csv_without_quotes_and_with_an_escape() -> None:
    bare = reading(
        {"a": "string", "b": "string"}, options={"format": "csv", "csv.disable-quote-character": "true"}
    )
    assert told(decoded(bare, ['"x",y"'])) == [(0, "insert", {"a": '"x"', "b": 'y"'})]
    escaped = reading(
        {"a": "string", "b": "int"},
        options={"format": "csv", "csv.escape-character": "\\", "csv.ignore-parse-errors": "true"},
    )
    rows = decoded(escaped, ['"x\\"y",1', "z,w", "1,2,3"])
    assert told(rows) == [(0, "insert", {"a": 'x"y', "b": 1}), (1, "insert", {"a": "z"})]
