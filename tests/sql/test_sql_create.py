"""CREATE TABLE.

Oracle: the dataclass written out by hand; Flink's documentation of the clauses.
"""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.options import Secret
from headwater.sql.script import parse_script
from headwater.sql.statements import ColumnDef, CreateTable


def table(text: str) -> CreateTable:
    (statement,) = parse_script(text)
    assert isinstance(statement, CreateTable)
    return statement


def failure(text: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        parse_script(text, "f.sql")
    return caught.value


def test_all_clauses_at_once() -> None:
    statement = table("""
        CREATE TEMPORARY TABLE IF NOT EXISTS shop.orders (
            id INT NOT NULL COMMENT 'the key',
            total DECIMAL(10, 2) NULL,
            `with tax` AS total * 1.19 COMMENT 'computed, with a comma',
            label AS CONCAT('a', ', (', CAST(id AS STRING)),
            paid TIMESTAMP(3),
            WATERMARK FOR paid AS paid - INTERVAL '5' SECOND,
            CONSTRAINT orders_key PRIMARY KEY (id, Paid) NOT ENFORCED
        ) COMMENT 'orders' WITH ('connector' = 'values', 'a' = 'it''s')
    """)
    assert (statement.name, statement.temporary, statement.if_not_exists) == ("shop.orders", True, True)
    assert statement.columns == (
        ColumnDef("id", "int", True),
        ColumnDef("total", "decimal(10,2)"),
        ColumnDef("paid", "timestamp_ntz", True),
    )
    assert [(column.name, column.index) for column in statement.computed] == [("with tax", 2), ("label", 3)]
    assert statement.computed[0].expression.sql("headwater") == "total * 1.19"
    assert statement.key == ("id", "paid")
    assert statement.options == {"connector": "values", "a": "it's"}


def test_a_key_may_stand_with_its_column() -> None:
    statement = table("CREATE TABLE t (es_key STRING PRIMARY KEY NOT ENFORCED, a INT)")
    assert statement.key == ("es_key",)
    named = table("CREATE TABLE t (es_key STRING CONSTRAINT k PRIMARY KEY NOT ENFORCED, a INT)")
    assert named == statement


def test_a_key_may_hold_the_name_of_the_table_a_row_is_of() -> None:
    statement = table(
        "CREATE TABLE t (shard STRING METADATA FROM 'table_name' VIRTUAL, schema_name STRING METADATA, id INT,"
        " PRIMARY KEY (SHARD, schema_name, id) NOT ENFORCED)"
    )
    assert statement.key == ("shard", "schema_name", "id")


def test_without_a_list_the_columns_are_the_sources_own() -> None:
    assert table("CREATE TABLE t WITH ('connector' = 'postgres-cdc')").columns is None
    assert table("CREATE TABLE t WITH ()").options == {}


def test_a_column_may_be_called_like_a_clause() -> None:
    statement = table(
        "CREATE TABLE t (`primary` INT, watermark INT, `constraint` INT, comment STRING, `table` INT)"
    )
    assert statement.columns is not None
    names = [column.name for column in statement.columns]
    assert names == ["primary", "watermark", "constraint", "comment", "table"]


def test_options_remember_their_places() -> None:
    statement = table("CREATE TABLE t WITH (\n  'connector' = 'values',\n  'port' = '1'\n)")
    place = statement.option_places["port"]
    assert (place.line, place.column, place.text, place.width) == (3, 3, "  'port' = '1'", 6)


def test_a_password_is_a_secret_and_a_reference_is_not() -> None:
    statement = table("CREATE TABLE t WITH ('password' = 'hunter2', 'token' = '${env:TOKEN}')")
    password = statement.options["password"]
    assert isinstance(password, Secret) and password.reveal() == "hunter2"
    assert statement.options["token"] == "${env:TOKEN}"
    assert not isinstance(statement.options["token"], Secret)
    assert "hunter2" not in repr(statement)


@pytest.mark.parametrize(
    ("columns", "message", "column"),
    [
        ("a INT, A STRING", 'column "A" is declared twice', 24),
        ("a INT, b AS 1, b AS 2", 'column "b" is declared twice', 32),
        ("a INT, PRIMARY KEY (b) NOT ENFORCED", 'the primary key names column "b", which', 37),
        (
            "a INT, b AS 1, PRIMARY KEY (b) NOT ENFORCED",
            'computed column "b" cannot be in the primary key',
            45,
        ),
        (
            "a INT PRIMARY KEY NOT ENFORCED, PRIMARY KEY (a) NOT ENFORCED",
            "the table has two primary keys",
            49,
        ),
        ("a INT PRIMARY KEY", "expected NOT", 34),
        ("a INT PRIMARY KEY ENFORCED", "a primary key cannot be enforced here", 35),
        ("a INT, PRIMARY KEY NOT ENFORCED", "expected (", 36),
        ("a INT UNIQUE", "UNIQUE is not supported yet", 23),
        ("a INT, UNIQUE (a)", "UNIQUE is not supported yet", 24),
        ("a INT DEFAULT 1", "DEFAULT is not supported yet", 23),
        ("a METADATA", "expected a type", 19),
        ("a INT METADATA FROM x", "expected what the column is taken from", 37),
        (
            "a INT METADATA, b INT, PRIMARY KEY (a) NOT ENFORCED",
            'metadata column "a" cannot be in the primary key',
            53,
        ),
        ("a INT b INT", "expected )", 23),
        ("a INT,", "expected a column name", 23),
        ("a", "expected a type", 18),
        ("", "expected a column name", 17),
        ("a AS 1", 'table "t" lists no columns of its own', 16),
        ("a INT, b AS", "expected an expression", 28),
        ("a INT, b AS a +", "unexpected", 32),
        ("'a' INT", "expected a column name", 17),
        ("`` INT", "expected a column name", 17),
        ("__hw_a INT", 'column name "__hw_a" is reserved', 17),
        ("a ROW<__HW_b INT>", 'column name "__HW_b" is reserved', 23),
    ],
)
def test_a_wrong_column_list_is_placed(columns: str, message: str, column: int) -> None:
    error = failure(f"CREATE TABLE t ({columns})")
    assert error.message.startswith(message)
    assert error.place is not None and error.place.column == column
    assert error.hint or error.detail


@pytest.mark.parametrize("ending", ["__old", "__NEW", "__change"])
@pytest.mark.parametrize(
    "text", ["CREATE TABLE {} (a INT)", "CREATE VIEW {} AS SELECT 1", "SELECT * FROM {}"]
)
def test_names_that_belong_to_headwater_are_refused(text: str, ending: str) -> None:
    error = failure(text.format("orders" + ending))
    assert error.message == f'table name "orders{ending}" is reserved'
    assert error.hint == 'Call it "orders" or something else.'
    assert error.place is not None and error.place.width == len("orders" + ending)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'a' = 'b', 'a' = 'c'", "option 'a' is given twice"),
        ("a = 'b'", "expected an option name"),
        ("'a' = 5", "expected a value for option 'a'"),
        ("'a' 'b'", "expected ="),
        ("'a' = 'b' 'c' = 'd'", "expected )"),
        ("'a' = 'b',", "expected an option name"),
    ],
)
def test_wrong_options_say_what_is_missing(options: str, message: str) -> None:
    error = failure(f"CREATE TABLE t WITH ({options})")
    assert error.message == message
    assert error.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("CREATE TABEL t (a INT)", "Did you mean TABLE?"),
        ("CREATE VEIW v AS SELECT 1", "Did you mean VIEW?"),
        ("CREATE MATERIALISED VIEW v AS SELECT 1", "Did you mean MATERIALIZED?"),
        ("CREATE VIEW v WITH ('a' = 'b') AS SELECT 1", "Remove the WITH clause"),
        ("CREATE VIEW v SELECT 1", "Write CREATE VIEW v AS SELECT ..."),
    ],
)
def test_a_misspelt_create_gets_a_hint(text: str, hint: str) -> None:
    assert failure(text).hint.startswith(hint)


def test_what_follows_the_options_is_an_error() -> None:
    assert failure("CREATE TABLE t WITH ('a' = 'b') SELECT 1").message == "unexpected SELECT"
