"""Every Spark type keeps its value on the way into Postgres. Oracle: what psycopg2 reads back."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from headwater.sinks.jdbc.postgres import write
from headwater.sinks.jdbc.postgres.types import TargetColumn, fits
from tests.ends.postgres_world import Database, changes, schema, sink

NOON = datetime(2024, 2, 29, 12, 30, 15, 123456)
WIDE = Decimal("1234567890.0000000001")
QUOTED = "a\"b,\n\\c'd{}%s"

CASES: list[tuple[str, str, object, object]] = [
    ("boolean", "boolean", True, True),
    ("tinyint", "smallint", -128, -128),
    ("smallint", "integer", 32767, 32767),
    ("int", "bigint", -(2**31), -(2**31)),
    ("bigint", "bigint", 2**63 - 1, 2**63 - 1),
    ("bigint", "numeric", 2**63 - 1, Decimal(2**63 - 1)),
    ("float", "real", 0.1, 0.1),
    ("float", "double precision", 0.5, 0.5),
    ("double", "double precision", 1e-300, 1e-300),
    ("double", "double precision", math.inf, math.inf),
    ("double", "double precision", -math.inf, -math.inf),
    ("double", "numeric", 0.25, Decimal("0.25")),
    ("decimal(38,10)", "numeric(38,10)", -WIDE, -WIDE),
    ("decimal(10,2)", "numeric", Decimal("0.01"), Decimal("0.01")),
    ("decimal(10,0)", "bigint", Decimal(7), 7),
    ("string", "text", QUOTED, QUOTED),
    ("string", "text", "", ""),
    ("string", "varchar(40)", "\\N", "\\N"),
    ("string", "char(3)", "ab", "ab "),
    ("string", "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("string", "jsonb", '{"a": [1, 2]}', {"a": [1, 2]}),
    ("string", "mood", "sad", "sad"),
    ("string", "short", "abc", "abc"),
    ("binary", "bytea", b"\x00\xff\\x", b"\x00\xff\\x"),
    ("date", "date", date(1, 1, 1), date(1, 1, 1)),
    ("date", "timestamp", date(2024, 2, 29), datetime(2024, 2, 29)),
    ("timestamp", "timestamptz", NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=UTC)),
    ("timestamp", "timestamp", NOON.replace(tzinfo=UTC), NOON),
    ("timestamp_ntz", "timestamp", NOON, NOON),
    ("timestamp_ntz", "timestamptz", NOON, NOON.replace(tzinfo=UTC)),
    ("array<int>", "int[]", [1, None, 3], [1, None, 3]),
    ("array<int>", "int[]", [], []),
    ("array<string>", "text[]", ["", "NULL", QUOTED, None], ["", "NULL", QUOTED, None]),
    ("array<array<int>>", "int[]", [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    ("array<decimal(10,2)>", "numeric[]", [Decimal("1.50")], [Decimal("1.50")]),
    ("array<timestamp>", "timestamptz[]", [NOON.replace(tzinfo=UTC)], [NOON.replace(tzinfo=UTC)]),
    ("array<boolean>", "boolean[]", [True, False], [True, False]),
    ("array<int>", "jsonb", [1, None], [1, None]),
    ("array<string>", "text", ["a", QUOTED], '["a","a\\"b,\\n\\\\c\'d{}%s"]'),
    ("map<string,int>", "jsonb", [("a", 1), ("b", None)], {"a": 1, "b": None}),
    ("map<int,string>", "json", [(1, "x")], {"1": "x"}),
    ("struct<a:int,b:string>", "jsonb", {"a": 1, "b": QUOTED}, {"a": 1, "b": QUOTED}),
    ("struct<a:decimal(20,2),b:timestamp_ntz>", "text", {"a": Decimal("1.50"), "b": NOON},
     '{"a":1.50,"b":"2024-02-29T12:30:15.123456"}'),
    ("struct<a:double,b:binary,c:array<boolean>>", "jsonb", {"a": math.nan, "b": b"\x01", "c": [True]},
     {"a": "NaN", "b": "AQ==", "c": [True]}),
    ("array<struct<a:int>>", "jsonb", [{"a": 1}, None], [{"a": 1}, None]),
    ("array<struct<a:int>>", "jsonb[]", [{"a": 1}], [{"a": 1}]),
]  # fmt: skip


@pytest.mark.services
@pytest.mark.parametrize("few", [1_000, 0], ids=["values", "copy"])
def test_every_type_keeps_its_value(database: Database, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """One wide table holds all cases, with a second row of NULLs."""
    monkeypatch.setattr(write, "SMALL_ROWS", few)
    database.run("CREATE TYPE mood AS ENUM ('sad')")
    database.run("CREATE DOMAIN short AS varchar(3)")
    columns = ", ".join(f"c{n} {kind}" for n, (_, kind, _, _) in enumerate(CASES))
    database.run(f"CREATE TABLE wide (id int PRIMARY KEY, {columns})")
    declared = ", ".join(["id int", *(f"c{n} {kind}" for n, (kind, _, _, _) in enumerate(CASES))])
    table = database.table("wide", schema(declared, "id"))
    with sink(table) as to:
        to.write([changes(table, (1, 1, *[value for _, _, value, _ in CASES]))], 1)
        to.write([changes(table, (1, 2, *[None for _ in CASES]), (-1, 3, *[None for _ in CASES]))], 2)
        first, second = database.run("SELECT * FROM wide ORDER BY id")
        seen = [bytes(value) if isinstance(value, memoryview) else value for value in first[1:]]
        assert seen == [expected for _, _, _, expected in CASES]
        assert set(second[1:]) == {None}


@pytest.mark.services
@pytest.mark.parametrize("kind", ["real", "double precision", "numeric"])
def test_not_a_number_stays_not_a_number(database: Database, kind: str) -> None:
    database.run(f"CREATE TABLE t (id int PRIMARY KEY, n {kind})")
    table = database.table("t", schema("id int, n float", "id"))
    with sink(table) as to:
        to.write([changes(table, (1, 1, math.nan))], 1)
    assert database.run("SELECT n = 'NaN' FROM t") == [(True,)]


@pytest.mark.services
def test_odd_names_are_quoted(database: Database) -> None:
    database.run('CREATE SCHEMA "Odd %s"')
    database.run('CREATE TABLE "Odd %s"."T ""x" ("the id" int PRIMARY KEY, "%s" int, "Select" int)')
    table = database.table('Odd %s.T "x', schema("the id int, %s int, select int", "the id"))
    with sink(table) as to:
        to.write([changes(table, (1, 1, 2, 3), (1, 4, 5, 6))], 1)
        to.write([changes(table, (-1, 1, 2, 3))], 2)
    assert database.run('SELECT * FROM "Odd %s"."T ""x"') == [(4, 5, 6)]


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("string", TargetColumn("c", "integer", "int4", "N")),
        ("string", TargetColumn("c", "date", "date", "D")),
        ("string", TargetColumn("c", "bytea", "bytea", "U")),
        ("int", TargetColumn("c", "text", "text", "S")),
        ("double", TargetColumn("c", "real", "float4", "N")),
        ("double", TargetColumn("c", "numeric", "numeric", "N", 2)),
        ("decimal(10,2)", TargetColumn("c", "integer", "int4", "N")),
        ("decimal(10,2)", TargetColumn("c", "numeric", "numeric", "N", 0)),
        ("timestamp", TargetColumn("c", "date", "date", "D")),
        ("array<int>", TargetColumn("c", "text[]", "_text", "A")),
        ("map<string,int>", TargetColumn("c", "text[]", "_text", "A")),
        ("struct<a:int>", TargetColumn("c", "integer", "int4", "N")),
    ],
)
def test_what_would_lose_or_change_a_value_does_not_fit(kind: str, target: TargetColumn) -> None:
    assert not fits(kind, target)
