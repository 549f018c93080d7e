"""A value is the same whether it came with the first rows or with a change, for every type and in two zones.

Oracle: the value that was put in, written by hand, and each way against the other.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.mysql.world import Database, World
from tests.postgres.world import read_now, rows_of

pytestmark = [pytest.mark.services, pytest.mark.timeout(1800)]

POINT = {"type": "Point", "coordinates": [1.5, -2.0], "srid": 0}
Kind = tuple[str, str, list[tuple[str, Any]]]
"""What the column is at the server, as what it is declared, and values: as SQL, and as they are read."""

KINDS: dict[str, Kind] = {
    "tiny": ("tinyint", "tinyint", [("-128", -128), ("127", 127)]),
    "tiny_u": ("tinyint unsigned", "smallint", [("255", 255)]),
    "truth": ("tinyint(1)", "boolean", [("1", True), ("0", False), ("5", True)]),
    "small": ("smallint", "smallint", [("-32768", -32768)]),
    "small_u": ("smallint unsigned", "int", [("65535", 65535)]),
    "medium": ("mediumint", "int", [("-8388608", -8388608), ("8388607", 8388607)]),
    "medium_u": ("mediumint unsigned", "int", [("16777215", 16777215)]),
    "whole": ("int", "int", [("-2147483648", -(2**31)), ("0", 0)]),
    "whole_u": ("int unsigned", "bigint", [("4294967295", 2**32 - 1)]),
    "big": ("bigint", "bigint", [("-9223372036854775808", -(2**63))]),
    "big_u": ("bigint unsigned", "decimal(20,0)", [("18446744073709551615", Decimal(2**64 - 1))]),
    "money": (
        "decimal(12,3)",
        "decimal(12,3)",
        [("-123456789.125", Decimal("-123456789.125")), ("0.001", Decimal("0.001")), ("0", Decimal("0.000"))],
    ),
    "wide": (
        "decimal(38,0)",
        "decimal(38,0)",
        [("9" * 38, Decimal("9" * 38)), ("-" + "9" * 38, Decimal("-" + "9" * 38))],
    ),
    "wider": ("decimal(65,30)", "string", [("-1." + "3" * 30, "-1." + "3" * 30)]),
    "single": (
        "float",
        "float",
        [("0.5", 0.5), ("16777216", 16777216.0), ("-1.5e20", -1.500000030061316e20)],
    ),
    "twice": ("double", "double", [("0.1", 0.1), ("-1e300", -1e300), ("1e-5", 1e-5)]),
    "twice_text": ("double", "string", [("0.1", "0.1"), ("1e-5", "1e-05"), ("1e20", "1e+20")]),
    "bit1": ("bit(1)", "boolean", [("b'1'", True), ("b'0'", False)]),
    "bits": ("bit(12)", "binary", [("b'100000000001'", b"\x08\x01")]),
    "bits64": ("bit(64)", "decimal(20,0)", [("b'" + "1" * 64 + "'", Decimal(2**64 - 1))]),
    "letters": (
        "varchar(40)",
        "string",
        [("'Straße, ☃ 😀'", "Straße, ☃ 😀"), ("''", ""), ("'a\\nb'", "a\nb")],
    ),
    "long_letters": ("varchar(300)", "string", [("repeat('ü', 300)", "ü" * 300)]),
    "fixed": ("char(10)", "string", [("'ab'", "ab"), ("'  c'", "  c")]),
    "fixed_long": ("char(255)", "string", [("repeat('é', 255)", "é" * 255)]),
    "latin": ("varchar(20) character set latin1", "string", [("'Größe €'", "Größe €")]),
    "wide_letters": ("varchar(20) character set utf16", "string", [("'Größe 😀'", "Größe 😀")]),
    "tiny_text": ("tinytext", "string", [("'t'", "t")]),
    "text_": ("text", "string", [("repeat('x', 70000 % 65536)", "x" * (70000 % 65536))]),
    "medium_text": ("mediumtext", "string", [("repeat('y', 70000)", "y" * 70000)]),
    "long_text": ("longtext", "string", [("'l'", "l")]),
    "bytes8": ("binary(8)", "binary", [("x'00ff00'", b"\x00\xff\x00\x00\x00\x00\x00\x00")]),
    "bytes_v": ("varbinary(20)", "binary", [("x'00ff00'", b"\x00\xff\x00"), ("''", b"")]),
    "tiny_blob": ("tinyblob", "binary", [("x'ff'", b"\xff")]),
    "blob_": ("blob", "binary", [("x'00'", b"\x00")]),
    "medium_blob": ("mediumblob", "binary", [("repeat(x'fe', 70000)", b"\xfe" * 70000)]),
    "long_blob": ("longblob", "binary", [("x'fd'", b"\xfd")]),
    "choice": ("enum('a','it''s','ü')", "string", [("'it''s'", "it's"), ("'ü'", "ü"), ("''", "")]),
    "choices": ("set('a','b','c')", "string", [("'c,a'", "a,c"), ("''", "")]),
    "day": (
        "date",
        "date",
        [
            ("'2020-02-29'", date(2020, 2, 29)),
            ("'1000-01-01'", date(1000, 1, 1)),
            ("'0000-00-00'", None),
            ("'2020-00-10'", None),
        ],
    ),
    "clock": (
        "time(3)",
        "string",
        [
            ("'12:34:56.789'", "12:34:56.789"),
            ("'-838:59:59'", "-838:59:59.000"),
            ("'-00:00:00.5'", "-00:00:00.500"),
        ],
    ),
    "clock0": ("time", "string", [("'-01:02:03'", "-01:02:03")]),
    "clock6": ("time(6)", "string", [("'-01:02:03.000001'", "-01:02:03.000001")]),
    "local": (
        "datetime(6)",
        "timestamp_ntz",
        [
            ("'2020-07-01 12:30:15.123456'", datetime(2020, 7, 1, 12, 30, 15, 123456)),
            ("'0000-00-00 00:00:00'", None),
            ("'9999-12-31 23:59:59.999999'", datetime(9999, 12, 31, 23, 59, 59, 999999)),
        ],
    ),
    "local0": ("datetime", "timestamp_ntz", [("'2020-07-01 12:30:15'", datetime(2020, 7, 1, 12, 30, 15))]),
    "local3": ("datetime(3)", "string", [("'2020-07-01 12:30:15.12'", "2020-07-01 12:30:15.120")]),
    "moment": (
        "timestamp(6) null",
        "timestamp",
        [
            ("'2020-07-01 12:30:15.123456'", datetime(2020, 7, 1, 12, 30, 15, 123456, UTC)),
            ("'0000-00-00 00:00:00'", None),
        ],
    ),
    "moment_local": ("timestamp(2) null", "timestamp_ntz", [("'2020-07-01 12:30:15.12'", "AT SERVER")]),
    "moment_text": ("timestamp null", "string", [("'2020-01-01 00:30:15'", "TEXT AT SERVER")]),
    "year_": ("year", "int", [("2020", 2020), ("'0000'", 0), ("1901", 1901)]),
    "shape": ("point", "string", [("ST_GeomFromText('POINT(1.5 -2)')", POINT)]),
    "shapes": (
        "geometry",
        "string",
        [
            (
                "ST_GeomFromText('MULTIPOLYGON(((0 0,1 0,1 1,0 0)))')",
                {
                    "type": "MultiPolygon",
                    "coordinates": [[[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]]],
                    "srid": 0,
                },
            ),
            (
                "ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))')",
                {
                    "type": "GeometryCollection",
                    "geometries": [
                        {"type": "Point", "coordinates": [1.0, 2.0]},
                        {"type": "LineString", "coordinates": [[0.0, 0.0], [1.0, 1.0]]},
                    ],
                    "srid": 0,
                },
            ),
        ],
    ),
}
DOCUMENTS = [
    '{"b": [1, -1, 1.5, true, false, null], "a": {"ü": "q\\"\\\\n"}, "": ""}',
    "[]",
    "{}",
    '"text"',
    "18446744073709551615",
    "-9223372036854775808",
    "70000",
    "[0.00001, 1e20, 123456789012345680000.0, 1.0, -0.5, 1e-10, 1e14, 1e15, 1e16, 1e17]",
    "[1e-15, 1e-16, 0.1, 3e-14, 1.25e-15, 1.7976931348623157e308, 0.0, -0.0]",
]
"""JSON as it is put in; what is read is what the server shows."""

ZONES = ["UTC", "America/New_York"]


def insert(database: Database, number: int, values: dict[str, str]) -> None:
    """Put a row in by hand."""
    names = ", ".join(f"`{name}`" for name in values)
    database.run(f"INSERT INTO t (id, {names}) VALUES ({number}, {', '.join(values.values())})")


def rows_by_id(said: Any) -> dict[int, dict[str, Any]]:
    """The inserted rows of table t."""
    found = [row for delivery in said if "t" in delivery.tables for row in rows_of(delivery.tables["t"])]
    assert all(row["__hw_kind"] == "insert" for row in found)
    return {row["id"]: {name: v for name, v in row.items() if not name.startswith("__hw")} for row in found}


@pytest.mark.parametrize("zone", ZONES)
def test_snapshot_and_stream_give_equal_values(database: Database, world: World, zone: str) -> None:
    columns = ", ".join(f"`{name}` {kind}" for name, (kind, _, _) in KINDS.items())
    database.run(
        "SET SESSION sql_mode = '', time_zone = '+00:00'",
        f"CREATE TABLE t (id int PRIMARY KEY, {columns}) CHARACTER SET utf8mb4",
    )
    longest = max(len(values) for _, _, values in KINDS.values())
    rows = [
        {
            name: (values[place] if place < len(values) else ("NULL", None))
            for name, (_, _, values) in KINDS.items()
        }
        for place in range(longest)
    ] + [dict.fromkeys(KINDS, ("NULL", None))]
    for number, row in enumerate(rows):
        insert(database, number, {name: sql for name, (sql, _) in row.items()})
    declared = ", ".join(["id int", *(f"{name} {kind}" for name, (_, kind, _) in KINDS.items())])
    with world.source(database.table("t", declared, "id", server_time_zone=zone)) as source:
        first = read_now(source)
        for number, row in enumerate(rows):
            insert(database, 100 + number, {name: sql for name, (sql, _) in row.items()})
        then = read_now(source, after=first[-1].position)
    snapshot, stream = rows_by_id(first), rows_by_id(then)
    at_server = {
        "UTC": datetime(2020, 7, 1, 12, 30, 15, 120000),
        ZONES[1]: datetime(2020, 7, 1, 8, 30, 15, 120000),
    }
    texts = {"UTC": "2020-01-01 00:30:15", ZONES[1]: "2019-12-31 19:30:15"}
    for number, row in enumerate(rows):
        for name, (sql, value) in row.items():
            wanted = (
                {"AT SERVER": at_server[zone], "TEXT AT SERVER": texts[zone]}.get(value, value)
                if isinstance(value, str)
                else value
            )
            for found in (snapshot[number][name], stream[100 + number][name]):
                if isinstance(wanted, dict):
                    found = json.loads(found)
                assert found == wanted, (name, sql)


def test_documents_read_as_the_server_shows_them(database: Database, world: World) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, d json)")
    shown: dict[int, str] = {}
    with world.source(database.table("t", "id int, d string", "id")) as source:
        for number, text in enumerate(DOCUMENTS):
            literal = text.replace("\\", "\\\\").replace("'", "''")
            database.run(f"INSERT INTO t VALUES ({number}, '{literal}')")
        shown |= dict(database.run("SELECT id, d FROM t"))
        streamed = {number: row["d"] for number, row in rows_by_id(read_now(source)).items()}
    assert streamed == shown
