"""Values of every type are the same in snapshot and stream, and none is lost in silence.

Oracle: the values as Python writes them, by hand.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from headwater.errors import SourceError
from headwater.sources.postgres.catalog import describe, resolving_key
from tests.postgres.world import Database, World, brief, read_now

pytestmark = pytest.mark.services

UTC = dt.UTC

# Postgres type, value in SQL, Spark type, value as it must come out.
VALUES: list[tuple[str, str, str, Any]] = [
    ("bool", "true", "boolean", True),
    ("int2", "-32768", "smallint", -32768),
    ("int4", "2147483647", "int", 2147483647),
    ("int8", "-9223372036854775808", "bigint", -(2**63)),
    ("float4", "0.5", "float", 0.5),
    ("float8", "1e-300", "double", 1e-300),
    ("float8", "'-Infinity'", "double", -math.inf),
    ("numeric(10,2)", "12345678.90", "decimal(10,2)", Decimal("12345678.90")),
    ("numeric", "1.5", "decimal(38,18)", Decimal("1.5")),
    ("numeric(1000,500)", "1.5", "decimal(38,18)", Decimal("1.5")),
    ("numeric(5,-2)", "12345", "decimal(7,0)", Decimal(12300)),
    ("text", "''", "string", ""),
    ("text", r"E'a\"b,\\n\n\r\t\\.{}NULL'", "string", 'a"b,\\n\n\r\t\\.{}NULL'),
    ("text", "'NULL'", "string", "NULL"),
    ("text", "'  wide ÄÖÜ 漢字 🐙 '", "string", "  wide ÄÖÜ 漢字 🐙 "),
    ("varchar(5)", "'abc'", "string", "abc"),
    ("char(4)", "'ab'", "string", "ab  "),
    ("bytea", r"'\x00ff0a'", "binary", b"\x00\xff\x0a"),
    ("bytea", "''", "binary", b""),
    ("date", "'2024-02-29'", "date", dt.date(2024, 2, 29)),
    ("timestamp", "'2024-01-01 10:00:00.123456'", "timestamp_ntz", dt.datetime(2024, 1, 1, 10, 0, 0, 123456)),
    ("timestamp(0)", "'1900-01-01 00:00:00'", "timestamp_ntz", dt.datetime(1900, 1, 1)),
    ("timestamptz", "'2024-07-01 10:00:00.5+05:30'", "timestamp", dt.datetime(2024, 7, 1, 4, 30, 0, 500000, UTC)),
    # The hour that New York has twice.
    ("timestamptz", "'2024-11-03 01:30:00-04'", "timestamp", dt.datetime(2024, 11, 3, 5, 30, tzinfo=UTC)),
    ("timestamptz", "'2024-11-03 01:30:00-05'", "timestamp", dt.datetime(2024, 11, 3, 6, 30, tzinfo=UTC)),
    ("uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "string", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("json", """'{"b" : 1}'""", "string", '{"b" : 1}'),
    ("jsonb", """'{"b" : [1, null]}'""", "string", '{"b": [1, null]}'),
    ("inet", "'10.0.0.1/8'", "string", "10.0.0.1/8"),
    ("time", "'10:00'", "string", "10:00:00"),
    ("interval", "'1 day 2 hours'", "string", "1 day 02:00:00"),
    ("int4range", "'[1,5)'", "string", "[1,5)"),
    ("money", "'12.50'", "string", "$12.50"),
    ("mood", "'sad'", "string", "sad"),
    ("price", "1.25", "decimal(6,2)", Decimal("1.25")),
    ("int4[]", "'{1,NULL,3}'", "array<int>", [1, None, 3]),
    ("int4[]", "'{}'", "array<int>", []),
    ("int4[]", "'[0:1]={7,8}'", "array<int>", [7, 8]),
    ("text[]", """ARRAY['a b', 'c"d', '', NULL, 'NULL', 'e\\f', 'g,{h}']""", "array<string>",
     ["a b", 'c"d', "", None, "NULL", "e\\f", "g,{h}"]),
    ("numeric(6,2)[]", "'{1.5,2}'", "array<decimal(6,2)>", [Decimal("1.50"), Decimal("2.00")]),
    ("bool[]", "'{t,f,NULL}'", "array<boolean>", [True, False, None]),
    ("bytea[]", r"""ARRAY['\x01'::bytea, NULL]""", "array<binary>", [b"\x01", None]),
    ("timestamptz[]", "'{2024-01-01 00:00:00+01}'", "array<timestamp>", [dt.datetime(2023, 12, 31, 23, tzinfo=UTC)]),
    ("oid", "4294967295", "bigint", 4294967295),
    ("name", "'a'", "string", "a"),
    ("cidr", "'10.1.0.0/16'", "string", "10.1.0.0/16"),
    ("macaddr", "'08:00:2b:01:02:03'", "string", "08:00:2b:01:02:03"),
    ("bit(4)", "B'1010'", "string", "1010"),
    ("varbit", "B'101'", "string", "101"),
    ("timetz", "'10:00:00+02'", "string", "10:00:00+02"),
    ("pg_lsn", "'0/16B3748'", "string", "0/16B3748"),
    ("tsvector", "'b a'", "string", "'a' 'b'"),
    ("point", "'(1,2.5)'", "string", "(1,2.5)"),
    ("tstzrange", "'[2024-01-01 00:00+00,)'", "string", '["2024-01-01 00:00:00+00",)'),
    ("int4multirange", "'{[1,2),[5,8)}'", "string", "{[1,2),[5,8)}"),
    ("pair", "ROW(1, 'a b')", "string", '(1,"a b")'),
    ("pair[]", "ARRAY[ROW(1, 'x')::pair]", "array<string>", ["(1,x)"]),
    ("hstore", "'b=>NULL, a=>1'", "string", '"a"=>"1", "b"=>NULL'),
    ("timestamp", "'0001-01-01 00:00:00'", "timestamp_ntz", dt.datetime(1, 1, 1)),
    ("box[]", "'{(1,1),(0,0)}'", "string", "{(1,1),(0,0)}"),
    ("geometry[]", "'{a:b}'", "string", "{a:b}"),
    ("int2vector", "'1 2'", "string", "1 2"),
    ("oidvector", "'1 2'", "string", "1 2"),
    ("ages", "'{1,2}'", "array<int>", [1, 2]),
    ("mood[]", "'{sad,ok}'", "array<string>", ["sad", "ok"]),
    ("uuid[]", "'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'", "array<string>", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    ("numeric(3,5)", "0.00123", "decimal(5,5)", Decimal("0.00123")),
]  # fmt: skip

XML = ("xml", "'<a b=\"c\">&amp;</a>'", "string", '<a b="c">&amp;</a>')


@pytest.fixture
def typed(database: Database) -> Database:
    database.run("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (n int, s text)")
    database.run("CREATE EXTENSION hstore")
    database.run("CREATE DOMAIN amount AS numeric(6,2); CREATE DOMAIN price AS amount CHECK (VALUE > 0)")
    database.run("CREATE DOMAIN ages AS int[]")
    # PostGIS is not here: its arrays are written with colons.
    database.run("CREATE TYPE geometry")
    for name, arguments, result in (("in", "cstring", "geometry"), ("out", "geometry", "cstring")):
        database.run(
            f"CREATE FUNCTION geometry_{name}({arguments}) RETURNS {result} AS 'text{name}' LANGUAGE internal"
            " IMMUTABLE STRICT"
        )
    database.run("CREATE TYPE geometry (INPUT = geometry_in, OUTPUT = geometry_out, DELIMITER = ':')")
    return database


def known_values(database: Database) -> list[tuple[str, str, str, Any]]:
    """Those that a server can take: not every one is built with xml."""
    has_xml = "SELECT count(*) FROM pg_config() WHERE name = 'CONFIGURE' AND setting LIKE '%--with-libxml%'"
    return [*VALUES, *([XML] if database.run(has_xml)[0][0] else [])]


def test_every_type_is_equal_in_snapshot_and_stream(
    typed: Database, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = known_values(typed)
    columns = ", ".join(f"c{i} {kind}" for i, (kind, *_) in enumerate(known))
    values = ", ".join(value for _, value, *_ in known)
    typed.run(f"CREATE TABLE t (id int PRIMARY KEY, {columns})")
    typed.run("ALTER TABLE t REPLICA IDENTITY FULL")
    typed.run(f"INSERT INTO t VALUES (1, {values}); INSERT INTO t (id) VALUES (2)")
    # Whatever the role, or our environment, prefers to see must not matter.
    monkeypatch.setenv("PGTZ", "America/New_York")
    monkeypatch.setenv("PGDATESTYLE", "German")
    name = typed.name
    for setting in ("TimeZone = 'Asia/Tokyo'", "DateStyle = 'SQL, DMY'", "bytea_output = 'escape'"):
        typed.run(f"ALTER DATABASE {name} SET {setting}")
    typed.run(f"ALTER DATABASE {name} SET extra_float_digits = -5")

    described = describe(typed.options("t"))
    assert [c.type for c in described.columns[1:]] == [spark for _, _, spark, _ in known]
    assert described.key == ("id",)
    declared = ", ".join(f"{c.name} {c.type}" for c in described.columns)
    expected = [value for *_, value in known]
    with world.source(typed.table("t", declared, "id")) as source:
        first = read_now(source)
        typed.run(f"INSERT INTO t VALUES (3, {values})")
        typed.run("INSERT INTO t (id) VALUES (4); DELETE FROM t WHERE id = 3")
        then = read_now(source, after=first[-1].position)
    nothing = [None] * len(known)
    assert brief(first, "t") == [("insert", 1, *expected), ("insert", 2, *nothing)]
    assert brief(then, "t") == [
        ("insert", 3, *expected),
        ("insert", 4, *nothing),
        ("delete", 3, *expected),
    ]


def test_nan_is_a_number_to_a_double(typed: Database, world: World) -> None:
    typed.run(
        "CREATE TABLE t (id int PRIMARY KEY, x float8, y float4); INSERT INTO t VALUES (1, 'NaN', 'NaN')"
    )
    with world.source(typed.table("t", "id int, x double, y float", "id")) as source:
        typed.run("INSERT INTO t VALUES (2, 'NaN', 'NaN')")
        said = brief(read_now(source), "t")
    assert [row[:2] for row in said] == [("insert", 1), ("insert", 2)]
    assert all(math.isnan(value) for row in said for value in row[2:])


def test_what_no_type_holds_is_read_as_a_double_or_as_text(typed: Database, world: World) -> None:
    kinds = ("numeric", "numeric", "numeric", "date", "timestamp", "timestamptz", "int[]")
    row = "'NaN', '-Infinity', 'Infinity', 'infinity', '0044-03-15 12:00 BC', '-infinity', '{{1,2},{3,4}}'"
    typed.run(f"CREATE TABLE t (id int PRIMARY KEY, {', '.join(f'c{i} {k}' for i, k in enumerate(kinds))})")
    typed.run(f"INSERT INTO t VALUES (1, {row})")
    texts = ", ".join(f"c{i} string" for i in (0, 1, 3, 4, 5, 6))
    with world.source(typed.table("t", f"id int, {texts}, c2 double", "id")) as source:
        typed.run(f"INSERT INTO t VALUES (2, {row})")
        said = brief(read_now(source), "t")
    shown = ("NaN", "-Infinity", "infinity", "0044-03-15 12:00:00 BC", "-infinity", "{{1,2},{3,4}}")
    # A table that logs its key alone tells a change as the new row.
    assert [row[0] for row in said] == ["insert", "insert"]
    assert [row[1:] for row in said] == [(id, *shown, math.inf) for id in (1, 2)]


def test_values_are_read_as_declared(typed: Database, world: World) -> None:
    typed.run("CREATE TABLE t (a int, b float8, c bool, d text, e timestamptz, f text, g numeric)")
    typed.run("ALTER TABLE t REPLICA IDENTITY FULL")
    row = "(1, 0.1, true, '2024-01-02', '2024-01-02 03:04:05+00', '17', 12345678901234567890123.5)"
    typed.run(f"INSERT INTO t VALUES {row}")
    columns = "a decimal(10,2), b float, c string, d date, e timestamp_ntz, f bigint, g string"
    with world.source(typed.table("t", columns)) as source:
        typed.run(f"INSERT INTO t VALUES {row}")
        said = brief(read_now(source), "t")
    expected = (
        "insert",
        Decimal("1.00"),
        pytest.approx(0.1),
        "true",
        dt.date(2024, 1, 2),
        dt.datetime(2024, 1, 2, 3, 4, 5),
        17,
        "12345678901234567890123.5",
    )
    assert said == [expected, expected]


@pytest.mark.parametrize(
    ("kind", "value", "declared", "shown"),
    [
        ("numeric", "'NaN'", "decimal(38,18)", "NaN"),
        ("numeric", "'Infinity'", "decimal(38,18)", "Infinity"),
        ("float8", "1e300", "float", "1e+300"),
        ("timestamp", "'0044-03-15 00:00:00 BC'", "timestamp_ntz", "0044-03-15 00:00:00 BC"),
        ("date", "'infinity'", "date", "infinity"),
        ("timestamptz", "'-infinity'", "timestamp", "-infinity"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error(
    typed: Database, world: World, kind: str, value: str, declared: str, shown: str
) -> None:
    typed.run(f"CREATE TABLE t (id int PRIMARY KEY, x {kind}); INSERT INTO t VALUES (1, NULL)")
    with world.source(typed.table("t", f"id int, x {declared}", "id")) as source:
        assert brief(read_now(source), "t") == [("insert", 1, None)]
        typed.run(f"INSERT INTO t VALUES (2, {value})")
        with pytest.raises(SourceError) as raised:
            read_now(source, after=source.read(None, 10).position)  # type: ignore[union-attr]  # it was read
    assert raised.value.message == f"a value of column 'x' of table 't' does not fit its type {declared}"
    assert f"'{shown}'" in raised.value.detail
    assert "x STRING" in raised.value.hint


def test_a_value_that_does_not_fit_stops_the_snapshot_and_leaves_nothing(
    typed: Database, world: World
) -> None:
    typed.run("CREATE TABLE t (id int PRIMARY KEY, x numeric); INSERT INTO t VALUES (1, 'NaN')")
    with (
        pytest.raises(SourceError, match="column 'x' of table 't' does not fit") as raised,
        world.source(typed.table("t", "id int, x decimal(38,18)", "id")),
    ):
        pass
    assert "'NaN'" in raised.value.detail
    assert typed.slots() == [] and typed.publications() == []


def test_the_resolving_key_is_the_replica_identity(typed: Database) -> None:
    typed.run("CREATE TABLE t (id int PRIMARY KEY, code text NOT NULL UNIQUE)")
    assert resolving_key(typed.options("t")) == ("id",)
    typed.run("ALTER TABLE t REPLICA IDENTITY USING INDEX t_code_key")
    assert resolving_key(typed.options("t")) == ("code",)
    typed.run("ALTER TABLE t REPLICA IDENTITY FULL")
    assert resolving_key(typed.options("t")) == ()
