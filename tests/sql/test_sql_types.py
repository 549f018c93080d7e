"""Flink's types as Spark's.

Oracle: the table of types in docs/sql.md and, for the shape of the text, `schema.arrow_type`.
"""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.schema import arrow_type
from headwater.sql.script import parse_script
from headwater.sql.statements import CreateTable
from headwater.sql.types import MEANT, REFUSED, TYPES


def type_of(text: str) -> str:
    (statement,) = parse_script(f"CREATE TABLE t (a {text}, z INT)")
    assert isinstance(statement, CreateTable) and statement.columns is not None
    assert [column.name for column in statement.columns] == ["a", "z"]
    return statement.columns[0].type


def failure(text: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        type_of(text)
    return caught.value


@pytest.mark.parametrize(
    ("flink", "spark"),
    [
        ("STRING", "string"),
        ("varchar(50)", "string"),
        ("VARCHAR", "string"),
        ("CHAR(3)", "string"),
        ("BOOLEAN", "boolean"),
        ("TINYINT", "tinyint"),
        ("SMALLINT", "smallint"),
        ("INT", "int"),
        ("INTEGER", "int"),
        ("BIGINT", "bigint"),
        ("FLOAT", "float"),
        ("DOUBLE", "double"),
        ("DOUBLE PRECISION", "double"),
        ("DECIMAL", "decimal(10,0)"),
        ("DEC(4)", "decimal(4,0)"),
        ("NUMERIC(38, 18)", "decimal(38,18)"),
        ("BYTES", "binary"),
        ("VARBINARY(10)", "binary"),
        ("BINARY(2)", "binary"),
        ("DATE", "date"),
        ("TIME", "string"),
        ("TIME(3) WITHOUT TIME ZONE", "string"),
        ("TIMESTAMP", "timestamp_ntz"),
        ("TIMESTAMP(3)", "timestamp_ntz"),
        ("TIMESTAMP(9) WITHOUT TIME ZONE", "timestamp_ntz"),
        ("TIMESTAMP_LTZ", "timestamp"),
        ("TIMESTAMP_LTZ(3)", "timestamp"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "timestamp"),
        ("ARRAY<INT>", "array<int>"),
        ("ARRAY<INT NOT NULL>", "array<int>"),
        ("INT ARRAY", "array<int>"),
        ("MAP<STRING, ARRAY<DEC(4, 2)>>", "map<string,array<decimal(4,2)>>"),
        ("ROW<a INT, b STRING NOT NULL>", "struct<a:int,b:string>"),
        ("ROW(a INT 'the first', `table` string)", "struct<a:int,table:string>"),
        ("ROW<`a b` INT, `c``d` ROW<`select` INT>>", "struct<`a b`:int,`c``d`:struct<`select`:int>>"),
    ],
)
def test_each_type_has_its_spark_text(flink: str, spark: str) -> None:
    assert type_of(flink) == spark
    assert arrow_type(spark) is not None


def test_a_row_keeps_its_field_names_into_arrow() -> None:
    names = [
        field.name for field in arrow_type(type_of("ROW<`select` INT, `a b` INT, `not` INT, order_ INT>"))
    ]
    assert names == ["select", "a b", "not", "order_"]


@pytest.mark.parametrize(("kind", "hint"), REFUSED.items())
def test_types_without_a_body_say_what_to_use(kind: str, hint: str) -> None:
    error = failure(f"{kind}<INT>")
    assert error.message == f"type {kind} is not supported yet"
    assert error.hint == hint


@pytest.mark.parametrize(("other", "meant"), MEANT.items())
def test_other_databases_types_are_understood_in_the_hint(other: str, meant: str) -> None:
    assert meant in TYPES
    error = failure(other)
    assert (error.message, error.hint) == (f"unknown type {other}", f"Did you mean {meant}?")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("STRNG", "unknown type STRNG", "Did you mean STRING?"),
        ("xyzzy", "unknown type xyzzy", "The types are"),
        (
            "DECIMAL(39, 0)",
            "a decimal of precision 39 and scale 0 does not exist",
            "The precision is 1 to 38",
        ),
        ("DECIMAL(4, 5)", "a decimal of precision 4 and scale 5 does not exist", "The precision is 1 to 38"),
        ("DECIMAL(4, 5, 6)", "unexpected 6", "Give the type fewer"),
        ("VARCHAR(x)", "expected a whole number", ""),
        ("VARCHAR(99999999999999999999)", "unexpected 99999999999999999999", "Give the type fewer"),
        ("TIMESTAMP(10)", "a timestamp has at most 9 digits of a second", "Write TIMESTAMP(6)."),
        (
            "TIMESTAMP WITH TIME ZONE",
            "type TIMESTAMP WITH TIME ZONE is not supported yet",
            "Write TIMESTAMP_LTZ",
        ),
        ("ARRAY", "expected <", "Write it as ARRAY<INT>."),
        ("MAP<STRING>", "expected ,", "A map has a key type"),
        ("ROW<INT>", "expected a type", "Give each column a type"),
        ("ROW<a INT)", "expected >", ""),
        ("ARRAY<" * 60 + "INT" + ">" * 60, "the type is nested too deeply", "At most 50 levels"),
        ("INT MULTISET", "type MULTISET is not supported yet", "Use ARRAY"),
    ],
)
def test_a_wrong_type_says_why(text: str, message: str, hint: str) -> None:
    error = failure(text)
    assert error.message == message
    assert error.hint.startswith(hint)
    assert error.place is not None
