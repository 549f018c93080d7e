"""Every Spark type keeps its value on the way into MySQL and MariaDB. Oracle: what the driver reads back."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from headwater.errors import SinkError
from headwater.sinks.jdbc.mysql.types import MysqlColumn, fits
from tests.ends.mysql_world import MysqlDatabase
from tests.ends.postgres_world import changes, schema, sink

NOON = datetime(2024, 2, 29, 12, 30, 15, 123456)
WIDE = Decimal("1234567890.0000000001")
QUOTED = "a\"b,\n\\c'd{}%s\0☃"

CASES: list[tuple[str, str, object, object]] = [
    ("boolean", "tinyint(1)", True, 1),
    ("boolean", "bit(1)", True, b"\x01"),
    ("tinyint", "tinyint", -128, -128),
    ("smallint", "int", 32767, 32767),
    ("int", "mediumint", -(2**23), -(2**23)),
    ("bigint", "bigint", 2**63 - 1, 2**63 - 1),
    ("bigint", "bigint unsigned", 2**63 - 1, 2**63 - 1),
    ("bigint", "decimal(20)", -(2**63), Decimal(-(2**63))),
    ("float", "float", 0.1, 0.1),
    ("float", "double", 0.5, 0.5),
    ("double", "double", 1e-300, 1e-300),
    ("double", "double", 1.7976931348623157e308, 1.7976931348623157e308),
    ("double", "double", 0.1 + 0.2, 0.1 + 0.2),
    ("decimal(38,10)", "decimal(38,10)", -WIDE, -WIDE),
    ("decimal(38,10)", "decimal(50,12)", Decimal("0.0000000001"), Decimal("0.000000000100")),
    ("decimal(10,0)", "bigint", Decimal(7), 7),
    ("string", "text", QUOTED, QUOTED),
    ("string", "varchar(40)", "", ""),
    ("string", "char(3)", "ab", "ab"),
    ("string", "enum('sad','gay')", "gay", "gay"),
    ("string", "set('a','b')", "a,b", "a,b"),
    ("string", "varchar(40) CHARACTER SET latin1", "Straße", "Straße"),
    ("binary", "blob", b"\x00\xff\\x'", b"\x00\xff\\x'"),
    ("binary", "varbinary(4)", b"", b""),
    ("binary", "binary(2)", b"\x00\x01", b"\x00\x01"),
    ("date", "date", date(2024, 2, 29), date(2024, 2, 29)),
    ("date", "datetime", date(1000, 1, 1), datetime(1000, 1, 1)),
    ("timestamp", "timestamp(6) NULL", NOON.replace(tzinfo=UTC), NOON),
    ("timestamp", "datetime(6)", NOON.replace(tzinfo=UTC), NOON),
    ("timestamp_ntz", "datetime(6)", datetime(9999, 12, 31, 23, 59, 59, 999999),
     datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ("timestamp_ntz", "datetime", NOON.replace(microsecond=0), NOON.replace(microsecond=0)),
    ("timestamp_ntz", "datetime(3)", NOON.replace(microsecond=123000), NOON.replace(microsecond=123000)),
    ("timestamp_ntz", "timestamp(6) NULL", NOON, NOON),
    ("array<string>", "text", ["a", None, "'"], '["a",null,"\'"]'),
    ("struct<a:decimal(20,2),b:timestamp_ntz>", "longtext", {"a": Decimal("1.50"), "b": NOON},
     '{"a":1.50,"b":"2024-02-29T12:30:15.123456"}'),
]  # fmt: skip
DOCUMENTS: list[tuple[str, str, object, object]] = [
    ("string", "json", '{"a": [1, 2]}', {"a": [1, 2]}),
    ("array<int>", "json", [1, None], [1, None]),
    ("map<string,int>", "json", [("a", 1), ("b\\\"'", None)], {"a": 1, "b\\\"'": None}),
    ("struct<a:int,b:string>", "json", {"a": 1, "b": QUOTED}, {"a": 1, "b": QUOTED}),
]


@pytest.mark.services
@pytest.mark.timeout(1800)
def test_every_type_keeps_its_value(maria: MysqlDatabase) -> None:
    cases = CASES + DOCUMENTS
    made = ", ".join(f"c{n} {kind}" for n, (_, kind, _, _) in enumerate(cases))
    maria.run(f"CREATE TABLE wide (id int PRIMARY KEY, {made}) CHARACTER SET utf8mb4")
    declared = ", ".join(["id int", *(f"c{n} {kind}" for n, (kind, *_) in enumerate(cases))])
    table = maria.table("wide", schema(declared, "id"))
    with sink(table) as to:
        to.write([changes(table, (1, 1, *[value for _, _, value, _ in cases]))], 1)
        to.write([changes(table, (1, 2, *[None for _ in cases]), (-1, 3, *[None for _ in cases]))], 2)
    first, second = maria.run("SELECT * FROM wide ORDER BY id")
    assert list(first[1 : len(CASES) + 1]) == [expected for *_, expected in CASES]
    assert [json.loads(text) for text in first[len(CASES) + 1 :]] == [expected for *_, expected in DOCUMENTS]
    assert set(second[1:]) == {None}


@pytest.mark.services
@pytest.mark.timeout(1800)
def test_keys_of_every_type_are_found_again(maria: MysqlDatabase) -> None:
    """Each row is written, and then deleted by its key."""
    keys: list[tuple[str, object]] = [
        ("boolean", True),
        ("bigint", 2**63 - 1),
        ("double", 0.1 + 0.2),
        ("decimal(38,10)", WIDE),
        ("string", QUOTED),
        ("binary", b"\x00'\xff"),
        ("date", date(2024, 2, 29)),
        ("timestamp", NOON.replace(tzinfo=UTC)),
        ("timestamp_ntz", NOON),
    ]
    alone = [
        maria.table(f"k{n}", schema(f"k {kind}, v int", "k"), sink__create_table="true")
        for n, (kind, _) in enumerate(keys)
    ]
    columns = ", ".join(f"k{n} {kind}" for n, (kind, _) in enumerate(keys))
    together = maria.table(
        "together", schema(columns, *(f"k{n}" for n in range(len(keys)))), sink__create_table="true"
    )
    values = tuple(value for _, value in keys)
    with sink(*alone, together) as to:
        come = [changes(table, (1, value, 1)) for table, value in zip(alone, values, strict=True)]
        to.write([*come, changes(together, (1, *values))], 1)
        assert all(maria.run(f"SELECT count(*) FROM {t.name}") == [(1,)] for t in (*alone, together))
        gone = [changes(table, (-1, value, 1)) for table, value in zip(alone, values, strict=True)]
        to.write([*gone, changes(together, (-1, *values))], 2)
    assert [t.name for t in (*alone, together) if maria.run(f"SELECT count(*) FROM {t.name}") != [(0,)]] == []


WITHOUT_A_PLACE: list[tuple[str, str, object, str]] = [
    ("double", "double", math.nan, "Replace NaN and infinity in the query"),
    ("timestamp_ntz", "datetime", NOON, "Alter the column to DATETIME(6)"),
    ("timestamp", "timestamp(3) NULL", NOON.replace(tzinfo=UTC), "Alter the column to TIMESTAMP(6)"),
    (
        "timestamp",
        "timestamp NULL",
        datetime(2050, 1, 1, tzinfo=UTC),
        "See which values the column's type",
    ),
    ("binary", "binary(4)", b"\x01", "Alter the column to VARBINARY"),
    ("timestamp", "timestamp(6) NOT NULL", None, "Make the column nullable, or replace NULL"),
    ("string", "varchar(3)", "long", "Widen the column, or shorten the value"),
    ("string", "varchar(9) CHARACTER SET latin1", "☃", "Give the column the character set utf8mb4"),
    ("string", "enum('a')", "b", "Cast the value in the query to what the column takes"),
    ("int", "tinyint", 1000, "Widen the column's type"),
    ("decimal(10,2)", "decimal(4,2)", Decimal("100.00"), "Widen the column's type"),
]


@pytest.mark.services
@pytest.mark.timeout(1800)
def test_a_value_without_a_place_is_an_error(maria: MysqlDatabase) -> None:
    for kind, there, value, hint in WITHOUT_A_PLACE:
        maria.run("DROP TABLE IF EXISTS t")
        maria.run(f"CREATE TABLE t (id int PRIMARY KEY, v {there})")
        table = maria.table("t", schema(f"id int, v {kind}", "id"))
        with sink(table) as to, pytest.raises(SinkError) as caught:
            to.write([changes(table, (1, 1, value))], 1)
        assert caught.value.hint.startswith(hint), (there, caught.value.to_json())
        assert maria.run("SELECT * FROM t") == []


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("string", MysqlColumn("c", "int", "int")),
        ("string", MysqlColumn("c", "date", "date")),
        ("string", MysqlColumn("c", "blob", "blob")),
        ("boolean", MysqlColumn("c", "bit", "bit(8)", length=8)),
        ("int", MysqlColumn("c", "text", "text")),
        ("double", MysqlColumn("c", "float", "float")),
        ("double", MysqlColumn("c", "double", "double(10,2)", 2)),
        ("double", MysqlColumn("c", "decimal", "decimal(10,2)", 2)),
        ("decimal(10,2)", MysqlColumn("c", "int", "int", 0)),
        ("decimal(10,2)", MysqlColumn("c", "decimal", "decimal(10,1)", 1)),
        ("timestamp", MysqlColumn("c", "date", "date")),
        ("binary", MysqlColumn("c", "text", "text")),
        ("map<string,int>", MysqlColumn("c", "blob", "blob")),
    ],
)
def test_what_would_lose_or_change_a_value_does_not_fit(kind: str, target: MysqlColumn) -> None:
    assert not fits(kind, target)
