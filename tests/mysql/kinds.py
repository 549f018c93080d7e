"""Every type of a column, with values as they are put in and as they are read; times are of a server in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

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
            ("'2020-01-01 12:30:15.123456'", datetime(2020, 1, 1, 12, 30, 15, 123456, UTC)),
            ("'0000-00-00 00:00:00'", None),
        ],
    ),
    "moment_local": (
        "timestamp(2) null",
        "timestamp_ntz",
        [("'2020-07-01 12:30:15.12'", datetime(2020, 7, 1, 12, 30, 15, 120000))],
    ),
    "moment_text": (
        "timestamp null",
        "string",
        [(f"'{text}'", text) for text in ("2020-01-01 00:30:15", "2020-07-01 00:30:15")],
    ),
    "local_moment": (
        "datetime",
        "timestamp",
        [("'2020-07-01 12:30:15'", datetime(2020, 7, 1, 12, 30, 15, tzinfo=UTC))],
    ),
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

_TIMES = "cast('2020-07-01 12:30:15' AS datetime), cast('2020-07-01' AS date), cast('-01:02:03' AS time)"
KINDS["document"] = (
    "json",
    "string",
    [
        *(("'" + text.replace("\\", "\\\\").replace("'", "''") + "'", "AS SHOWN") for text in DOCUMENTS),
        (f"JSON_ARRAY({_TIMES}, cast(1.50 AS decimal(5,2)), 1e0)", "AS SHOWN"),
    ],
)
