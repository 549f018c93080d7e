"""CREATE TABLE ... LIKE, and METADATA columns.

Oracle: Flink's documentation of LIKE and of metadata columns, written out by hand.
"""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.sql.like import DEFAULTS, merged
from headwater.sql.script import parse_script
from headwater.sql.statements import ColumnDef, CreateTable

BASE = """
CREATE TABLE base (
  id INT,
  double_id AS id * 2,
  at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  name STRING,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'kafka', 'topic' = 'a', 'password' = 'secret')
"""


def table(text: str) -> CreateTable:
    (statement,) = parse_script(text, "f.sql")
    assert isinstance(statement, CreateTable)
    return statement


def like(text: str, base: str = BASE) -> CreateTable:
    """What a CREATE TABLE ... LIKE base declares."""
    return merged(table(text), table(base))


def columns(statement: CreateTable) -> list[str]:
    """All columns in order, computed ones in brackets, metadata with what it is taken from."""
    shown = [f"{c.name}<{c.metadata}" if c.metadata else c.name for c in statement.columns or ()]
    for computed in statement.computed:
        shown.insert(computed.index, f"[{computed.name}]")
    return shown


def failure(text: str, base: str | None = BASE) -> SqlError:
    with pytest.raises(SqlError) as caught:
        like(text, base) if base else table(text)
    return caught.value


def test_without_options_everything_comes_and_own_options_win() -> None:
    made = like("CREATE TABLE t WITH ('topic' = 'b', 'x' = 'y') LIKE base")
    assert columns(made) == ["id", "[double_id]", "at<timestamp", "name"]
    assert (made.name, made.key, made.like) == ("t", ("id",), None)
    assert made.options == {"connector": "kafka", "topic": "b", "password": "secret", "x": "y"}
    assert "secret" not in repr(made)


def test_own_columns_stand_behind_those_that_come() -> None:
    made = like("CREATE TABLE t (more STRING, sum AS id + double_id, last INT) LIKE base")
    assert columns(made) == ["id", "[double_id]", "at<timestamp", "name", "more", "[sum]", "last"]


@pytest.mark.parametrize(
    ("options", "shown", "key"),
    [
        ("EXCLUDING GENERATED", ["id", "at<timestamp", "name"], ("id",)),
        ("EXCLUDING METADATA", ["id", "[double_id]", "name"], ("id",)),
        ("EXCLUDING CONSTRAINTS", ["id", "[double_id]", "at<timestamp", "name"], ()),
        ("EXCLUDING ALL", ["id", "name"], ()),
        ("EXCLUDING ALL INCLUDING GENERATED", ["id", "[double_id]", "name"], ()),
        ("INCLUDING METADATA EXCLUDING ALL", ["id", "at<timestamp", "name"], ()),
        ("INCLUDING ALL", ["id", "[double_id]", "at<timestamp", "name"], ("id",)),
        ("EXCLUDING WATERMARKS, EXCLUDING PARTITIONS EXCLUDING DISTRIBUTION",
         ["id", "[double_id]", "at<timestamp", "name"], ("id",)),
        ("", ["id", "[double_id]", "at<timestamp", "name"], ("id",)),
    ],
)  # fmt: skip
def test_what_comes_along(options: str, shown: list[str], key: tuple[str, ...]) -> None:
    made = like(f"CREATE TABLE t WITH ('a' = 'b') LIKE base ({options})")
    assert (columns(made), made.key) == (shown, key)


def test_excluded_options_leave_only_the_own_ones() -> None:
    made = like("CREATE TABLE t WITH ('connector' = 'print') LIKE base (EXCLUDING OPTIONS)")
    assert made.options == {"connector": "print"}
    assert like("CREATE TABLE t LIKE base (EXCLUDING ALL)").options == {}


def test_a_key_of_its_own_may_name_a_column_that_comes() -> None:
    made = like("CREATE TABLE t (PRIMARY KEY (NAME) NOT ENFORCED) LIKE base (EXCLUDING CONSTRAINTS)")
    assert made.key == ("name",)
    assert [c.name for c in made.columns or () if c.not_null] == ["id", "name"]


def test_overwriting_takes_the_place_of_what_was_there() -> None:
    made = like(
        "CREATE TABLE t (double_id AS id * 3, at TIMESTAMP(3) METADATA) LIKE base"
        " (OVERWRITING GENERATED OVERWRITING METADATA)"
    )
    assert columns(made) == ["id", "[double_id]", "at<at", "name"]
    assert made.computed[0].expression.sql("headwater") == "id * 3"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("(id INT)", 'column "id" is in table "base" already', "physical columns always come"),
        ("(Name AS id)", 'column "Name" is in table "base" already', "physical columns always come"),
        ("(double_id AS id)", 'column "double_id" is in table "base" already', "OVERWRITING GENERATED"),
        ("(double_id INT)", 'column "double_id" is in table "base" already', "EXCLUDING GENERATED"),
        ("(at INT METADATA)", 'column "at" is in table "base" already', "OVERWRITING METADATA"),
        (
            "(x INT, PRIMARY KEY (x) NOT ENFORCED)",
            '"base" has a primary key already',
            "EXCLUDING CONSTRAINTS",
        ),
        (
            "WITH ('topic' = 'b')",
            "option 'topic' is given here and by table \"base\"",
            "OVERWRITING OPTIONS",
        ),
    ],
)
def test_what_is_there_twice_is_an_error(text: str, message: str, hint: str) -> None:
    options = " (INCLUDING OPTIONS)" if text.startswith("WITH") else ""
    error = failure(f"CREATE TABLE t {text} LIKE base{options}")
    assert error.message == message and hint in error.hint
    assert error.place is not None and error.place.line == 1


def test_an_own_key_has_to_be_there() -> None:
    error = failure("CREATE TABLE t (PRIMARY KEY (nme) NOT ENFORCED) LIKE base (EXCLUDING CONSTRAINTS)")
    assert error.message == 'the primary key names column "nme", which the table does not have'
    assert error.hint == 'Did you mean "name"?'
    assert error.place is not None and error.place.column == 30


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("LIKE", "expected the name of a table", 20),
        ("LIKE base (", "expected INCLUDING, EXCLUDING or )", 27),
        ("LIKE base (INCLUDE ALL)", "expected INCLUDING, EXCLUDING or )", 27),
        ("LIKE base (INCLUDING)", "expected a part of the table", 36),
        ("LIKE base (INCLUDING OPTION)", "expected a part of the table", 37),
        ("LIKE base (OVERWRITING ALL)", "ALL cannot be overwritten", 39),
        ("LIKE base (OVERWRITING CONSTRAINTS)", "CONSTRAINTS cannot be overwritten", 39),
        ("LIKE base (INCLUDING ALL EXCLUDING ALL)", "ALL is named twice", 51),
        ("LIKE base WITH ('a' = 'b')", "WITH stands after LIKE", 26),
        ("LIKE base AS SELECT 1", "CREATE TABLE ... AS is not supported yet", 26),
        ("LIKE base x", "unexpected x", 26),
    ],
)
def test_a_wrong_like_is_placed(text: str, message: str, column: int) -> None:
    error = failure(f"CREATE TABLE t {text}", base=None)
    assert error.message == message
    assert error.place is not None and error.place.column == column


def test_a_misspelt_part_gets_the_nearest() -> None:
    assert failure("CREATE TABLE t LIKE b (INCLUDE ALL)", base=None).hint == "Did you mean INCLUDING?"
    assert failure("CREATE TABLE t LIKE b (INCLUDING OPTION)", base=None).hint == "Did you mean OPTIONS?"


def test_the_defaults_are_all_and_overwriting_options() -> None:
    statement = table("CREATE TABLE t LIKE base")
    assert statement.like is not None and statement.like.ways == DEFAULTS
    every = table("CREATE TABLE t LIKE base (INCLUDING ALL)")
    assert every.like is not None and set(every.like.ways.values()) == {"including"}


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        ("at TIMESTAMP(3) METADATA", ColumnDef("at", "timestamp_ntz", metadata="at")),
        (
            "at STRING METADATA FROM 'value.source.table'",
            ColumnDef("at", "string", metadata="value.source.table"),
        ),
        ("at INT METADATA VIRTUAL", ColumnDef("at", "int", metadata="at", virtual=True)),
        (
            "at INT NOT NULL METADATA FROM 'offset' VIRTUAL COMMENT 'x'",
            ColumnDef("at", "int", True, metadata="offset", virtual=True),
        ),
        ("metadata INT METADATA", ColumnDef("metadata", "int", metadata="metadata")),
        ("metadata INT", ColumnDef("metadata", "int")),
    ],
)
def test_a_metadata_column_says_what_it_is_taken_from(column: str, wanted: ColumnDef) -> None:
    assert table(f"CREATE TABLE t ({column}, a INT)").columns == (wanted, ColumnDef("a", "int"))
