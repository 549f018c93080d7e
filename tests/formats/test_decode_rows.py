"""Messages that are rows: json, csv, raw, keys, metadata, upserts.

Oracle: values written out by hand, and for the round trips the rows that were encoded.
"""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from headwater.errors import OptionError
from headwater.formats.decode import decoding
from tests.formats.decoded import complaints, decoded, own, reading, told

pytestmark = pytest.mark.jvm

COLUMNS = {
    "id": "int",
    "Name": "string",
    "amount": "decimal(10,2)",
    "at": "timestamp_ntz",
    "items": "array<struct<a:int,b:date>>",
    "scores": "map<string,double>",
    "topic": "string",
    "small": "tinyint",
    "single": "float",
    "ok": "boolean",
    "photo": "binary",
    "moment": "timestamp",
    "nested": "struct<Q:struct<w:bigint>>",
}
JSON = reading(COLUMNS, options={"format": "json"}, metadata={"topic": "topic"})
HALF_DAY = datetime(2020, 1, 1, 12, 30, 15, 123456)

GOOD: list[tuple[str, dict[str, Any]]] = [
    (
        '{"id":1,"Name":"ä","amount":1.10,"at":"2020-01-01 12:30:15.1234569","items":[{"a":1,"b":"2020-01-02"},null],'
        '"scores":{"k":1.5,"l":null},"small":-128,"single":1.5,"ok":true,"photo":"YWJj",'
        '"moment":"2020-01-01 12:30:15.123456Z","nested":{"Q":{"w":9007199254740993}},"more":[1]}',
        {
            "id": 1,
            "Name": "ä",
            "amount": Decimal("1.10"),
            "at": HALF_DAY,
            "items": [{"a": 1, "b": date(2020, 1, 2)}, None],
            "scores": {"k": 1.5, "l": None},
            "small": -128,
            "single": 1.5,
            "ok": True,
            "photo": b"abc",
            "moment": HALF_DAY.replace(tzinfo=UTC),
            "nested": {"Q": {"w": 9007199254740993}},
        },
    ),
    # Numbers and truth values in texts are read as Flink reads them, also inside.
    (
        '{"id":" +007","amount":"12345678.99","small":"7","single":"2.5","ok":"TRUE","nested":{"Q":{"w":"5"}},'
        '"items":[{"a":"3","b":"2020-01-02"}],"scores":{"k":"1.5"}}',
        {
            "id": 7,
            "amount": Decimal("12345678.99"),
            "small": 7,
            "single": 2.5,
            "ok": True,
            "nested": {"Q": {"w": 5}},
            "items": [{"a": 3, "b": date(2020, 1, 2)}],
            "scores": {"k": 1.5},
        },
    ),
    ('{"amount":99999999.994999999999999999999999}', {"amount": Decimal("99999999.99")}),
    ('{"amount":1.5E3,"id":null}', {"amount": Decimal("1500.00")}),
    (
        '{"moment":"2020-01-01 12:30:15.123456+02:00"}',
        {"moment": datetime(2020, 1, 1, 10, 30, 15, 123456, UTC)},
    ),
    ('{"Name":{"a":[1,"x"]}}', {"Name": '{"a":[1,"x"]}'}),
    ('{"Name":5}', {"Name": "5"}),
    ('{"Name":"a\tb \\u00e9 \\ud83d\\ude00 \\" \'"}', {"Name": "a\tb é 😀 \" '"}),
    ('{"id":1,"id":2} \r\n', {"id": 2}),
    ('{"name":"another field"}', {}),
    ('{"single":"-Infinity"}', {"single": float("-inf")}),
]
BAD: list[tuple[str | bytes, str]] = [
    ('{"id":"x"}', 'field "id" cannot be read as int: x'),
    ('{"id":"null"}', 'field "id" cannot be read as int: null'),
    ('{"id":""}', 'field "id" cannot be read as int: '),
    ('{"id":1.5}', 'field "id" cannot be read as int: 1.5'),
    ('{"id":3000000000}', 'field "id" cannot be read as int: 3000000000'),
    ('{"Name":"fine","amount":123456789012}', 'field "amount" cannot be read as decimal(10,2): 123456789012'),
    ('{"amount":"1,5"}', 'field "amount" cannot be read as decimal(10,2): 1,5'),
    ('{"small":200}', 'field "small" cannot be read as tinyint: 200'),
    ('{"single":1e300}', 'field "single" cannot be read as float: 1.0E300'),
    ('{"ok":1}', 'field "ok" cannot be read as boolean: 1'),
    ('{"photo":"**"}', 'field "photo" cannot be read as binary (base64): **'),
    (
        '{"at":"2020-01-01T00:00:00"}',
        'field "at" cannot be read as timestamp_ntz (2020-12-30 12:13:14.123): 2020-01-01T00:00:00',
    ),
    (
        '{"at":"2020-01-01"}',
        'field "at" cannot be read as timestamp_ntz (2020-12-30 12:13:14.123): 2020-01-01',
    ),
    ('{"at":"2020-13-01 00:00:00"}', 'field "at" cannot be read as timestamp_ntz'),
    (
        '{"moment":"2020-01-01 00:00:00"}',
        'field "moment" cannot be read as timestamp (2020-12-30 12:13:14.123Z): 2020-01-01 00:00:00',
    ),
    ('{"items":5}', 'field "items" is not an array: 5'),
    ('{"items":[{"a":1},5]}', 'field "items[]" is not an object: 5'),
    ('{"items":[{"a":1},{"a":"y"}]}', 'field "items[].a" cannot be read as int: y'),
    ('{"items":[{"b":"y"}]}', 'field "items[].b" cannot be read as date (2020-12-30): y'),
    ('{"scores":[1]}', 'field "scores" is not an object: [1]'),
    ('{"scores":{"k":"q"}}', 'field "scores{}" cannot be read as double: q'),
    ('{"nested":[]}', 'field "nested" is not an object: []'),
    ('{"nested":{"Q":5}}', 'field "nested.Q" is not an object: 5'),
    ('{"nested":{"Q":{"w":"k"}}}', 'field "nested.Q.w" cannot be read as bigint: k'),
    ('{"id":1', 'the value is not JSON: {"id":1'),
    ("{'id':1}", "the value is not JSON: {'id':1}"),
    ('{"id":1} x', 'something follows the JSON object of the value: {"id":1} x'),
    ("", "the value is empty"),
    ('[{"id":1}]', 'the value is not a JSON object: [{"id":1}]'),
    ("5", "the value is not a JSON object: 5"),
    (b'{"Name":"\xff"}', "the value is not UTF-8"),
]


def test_json_is_read_with_its_types_or_the_field_is_named() -> None:
    said = [text for text, _ in GOOD] + [text for text, _ in BAD] + [None, "null"]
    rows = decoded(JSON, said)
    assert told(rows)[: len(GOOD)] == [
        (number, "insert", row | {"topic": "orders"}) for number, (_, row) in enumerate(GOOD)
    ]
    found = complaints(rows)
    for number, (text, complaint) in enumerate(BAD, start=len(GOOD)):
        assert found[number].startswith(complaint), text
    assert len(rows) == len(GOOD) + len(BAD), "a message without a value is no row"
    bad = rows[len(GOOD)]
    assert (bad["__hw_kind"], bad["__hw_value"]) == (
        None,
        BAD[0][0].encode() if isinstance(BAD[0][0], str) else b"",
    )
    assert rows[0]["__hw_value"] is None
    assert [row["__hw_seq"] for row in rows[:2]] == [3 * 2, (4096 + 3) * 2]


def test_parse_errors_are_ignored_by_choice_only() -> None:
    ignoring = reading(
        COLUMNS, options={"format": "json", "json.ignore-parse-errors": "true"}, metadata={"topic": "topic"}
    )
    rows = decoded(ignoring, [text for text, _ in BAD])
    whole = [number for number, (text, _) in enumerate(BAD) if str(text).startswith("{") and number < 24]
    assert [row["__hw_offset"] for row in rows] == whole
    assert complaints(rows) == {}
    assert own(rows[5]) == {"Name": "fine", "topic": "orders"}


def test_missing_fields_are_errors_by_choice() -> None:
    columns = {"id": "int", "nested": "struct<Q:struct<w:bigint>>", "items": "array<struct<a:int>>"}
    strict = reading(columns, options={"format": "json", "json.fail-on-missing-field": "true"})
    said = [
        '{"id":1,"nested":{"Q":{"w":null}},"items":[{"a":1}]}',
        '{"id":null,"nested":null,"items":null}',
        '{"nested":null,"items":null}',
        '{"id":1,"nested":{},"items":null}',
        '{"id":1,"nested":{"Q":{}},"items":null}',
        '{"id":1,"nested":null,"items":[{"a":1},{}]}',
        '{"id":1,"nested":5,"items":null}',
    ]
    assert complaints(decoded(strict, said)) == {
        2: 'field "id" is missing',
        3: 'field "nested.Q" is missing',
        4: 'field "nested.Q.w" is missing',
        5: 'field "items[].a" is missing',
        6: 'field "nested" is not an object: 5',
    }


def test_timestamps_of_the_other_standard() -> None:
    iso = reading(
        {"at": "timestamp_ntz", "moment": "timestamp"},
        options={"value.format": "json", "value.json.timestamp-format.standard": "ISO-8601"},
    )
    rows = decoded(iso, ['{"at":"2020-01-01T12:30:15.123456","moment":"2020-01-01T12:30:15.123456Z"}'])
    assert told(rows) == [(0, "insert", {"at": HALF_DAY, "moment": HALF_DAY.replace(tzinfo=UTC)})]


RAW: list[tuple[dict[str, str], str, list[tuple[bytes | None, Any]]]] = [
    ({}, "string", [("ä☃".encode(), "ä☃"), (b"", ""), (None, None), (b"\xff", ValueError)]),
    ({"raw.charset": "ISO-8859-1"}, "string", [(b"\xe4\xff", "äÿ")]),
    (
        {"raw.charset": "US-ASCII"},
        "string",
        [(b"abc", "abc"), (b"\xe4", ValueError), ("ä".encode(), ValueError)],
    ),
    (
        {"raw.charset": "UTF-16BE"},
        "string",
        [("a😀".encode("utf-16-be"), "a😀"), (b"\xd8\x00", ValueError), (b"a", ValueError)],
    ),
    ({"raw.charset": "UTF-16LE"}, "string", [("a😀".encode("utf-16-le"), "a😀"), (b"\x00\xdc", ValueError)]),
    ({}, "binary", [(b"\x00\xff", b"\x00\xff")]),
    ({}, "boolean", [(b"\x01", True), (b"\x00", False), (b"", ValueError)]),
    ({}, "tinyint", [(b"\xff", -1), (b"\x7f", 127)]),
    ({}, "smallint", [(b"\x80\x00", -(2**15)), (b"\x00\x01", 1), (b"\x01", ValueError)]),
    ({"raw.endianness": "little-endian"}, "int", [(struct.pack("<i", -123456), -123456)]),
    ({}, "bigint", [(struct.pack(">q", -(2**63)), -(2**63)), (struct.pack(">q", 2**63 - 1), 2**63 - 1)]),
    ({}, "float", [(struct.pack(">f", 1.5), 1.5), (struct.pack(">f", float("inf")), float("inf"))]),
    (
        {"raw.endianness": "little-endian"},
        "double",
        [(struct.pack("<d", -0.1), -0.1), (struct.pack("<d", 5e-324), 5e-324)],
    ),
]


@pytest.mark.parametrize(("options", "kind", "cases"), RAW)
def test_raw_bytes_are_one_value(
    options: dict[str, str], kind: str, cases: list[tuple[bytes | None, Any]]
) -> None:
    rows = decoded(reading({"a": kind}, options={"format": "raw"} | options), [said for said, _ in cases])
    assert len(rows) == len(cases), "a message without a value is a NULL"
    for row, (said, wanted) in zip(rows, cases, strict=True):
        if wanted is ValueError:
            assert said is not None
            assert row["__hw_error"].startswith(f'field "a" cannot be read as {kind}')
            assert row["__hw_error"].endswith(f": {said.hex().upper()}")
        else:
            assert (row["a"], row["__hw_error"]) == (wanted, None)


def test_columns_of_the_key_and_metadata() -> None:
    columns = {
        "k_id": "bigint",
        "name": "string",
        "at": "timestamp",
        "how": "string",
        "place": "bigint",
        "part": "string",
        "heads": "map<string,binary>",
        "epoch": "int",
        "raw_key": "binary",
    }
    metadata = {"at": "timestamp", "how": "timestamp-type", "place": "offset", "part": "partition"}
    metadata |= {"heads": "headers", "epoch": "leader-epoch", "raw_key": "key"}
    options = {"value.format": "json", "key.format": "json", "key.fields": "k_id", "key.fields-prefix": "k_"}
    table = reading(columns, options=options | {"value.fields-include": "EXCEPT_KEY"}, metadata=metadata)
    headers = [{"key": "a", "value": b"1"}, {"key": "b", "value": None}, {"key": "a", "value": b"2"}]
    said = [('{"id":7}', '{"name":"x","k_id":8}'), (None, "{}"), ('{"id":"x"}', "{}"), ("{", "{}")]
    rows = decoded(table, said, headers=headers)
    always = {"at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "how": "LogAppendTime", "part": "3"}
    always |= {"heads": {"b": None, "a": b"2"}}
    assert told(rows)[:2] == [
        (0, "insert", {"k_id": 7, "name": "x", "place": 0, "raw_key": b'{"id":7}'} | always),
        (1, "insert", {"place": 1} | always),
    ]
    assert complaints(rows) == {2: 'field "id" cannot be read as bigint: x', 3: "the key is not JSON: {"}
    with_key = reading({"id": "int"}, options={"format": "json", "key.format": "raw", "key.fields": "id"})
    both = decoded(with_key, [(b"\x00\x00\x00\x01", '{"id":2}')])
    assert told(both) == [(0, "insert", {"id": 2})], "the value is written over the key, as by Flink"


def test_unknown_metadata_is_named() -> None:
    table = reading({"a": "int", "at": "timestamp"}, options={"format": "json"}, metadata={"at": "timestmp"})
    with pytest.raises(OptionError, match="column 'at' is taken from 'timestmp'") as caught:
        decoding(table)
    assert caught.value.hint == "Did you mean 'timestamp'?"


def test_upserts_are_rows_of_their_keys() -> None:
    table = reading(
        {"id": "int", "Name": "string", "n": "int"},
        key=("id",),
        kind="upsert",
        options={"value.format": "json", "key.format": "json", "key.json.ignore-parse-errors": "false"},
    )
    said = [
        ('{"id":1}', '{"id":1,"Name":"a","n":5}'),
        ('{"id":1}', None),
        ('{"id":2}', '{"Name":"b"}'),
        (None, '{"id":3}'),
        ('{"id":null}', '{"id":3}'),
        ('{"id":4}', '{"n":"x"}'),
        ('{"id":5}', "null"),
    ]
    rows = decoded(table, said)
    assert told(rows)[:3] == [
        (0, "upsert", {"id": 1, "Name": "a", "n": 5}),
        (1, "delete_key", {"id": 1}),
        (2, "upsert", {"id": 2, "Name": "b"}),
    ]
    assert complaints(rows) == {
        3: "the message has no key, so it is not known which row it is about",
        4: 'key: field "id" is NULL or missing',
        5: 'field "n" cannot be read as int: x',
    }
