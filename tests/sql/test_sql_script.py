"""Statements of a script.

Oracle: the dataclasses written out by hand.
"""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from headwater.errors import SqlError
from headwater.sql.refusals import KNOWN
from headwater.sql.script import PARSERS, parse_script
from headwater.sql.statements import (
    CreateView,
    Describe,
    Drop,
    Explain,
    InsertInto,
    Reset,
    Select,
    Set,
    Show,
    Statement,
    StatementSet,
    Verify,
)


def one(text: str) -> Statement:
    (statement,) = parse_script(text)
    return statement


def failure(text: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        parse_script(text, "f.sql")
    return caught.value


def spark(statement: Statement) -> str:
    query = getattr(statement, "query", None)
    assert isinstance(query, exp.Query)
    return query.sql(dialect="headwater")


@pytest.mark.parametrize("text", ["", "   \n", ";", " ; -- nothing\n /* here; */ ;"])
def test_an_empty_script_has_no_statements(text: str) -> None:
    assert parse_script(text) == []


def test_statements_end_at_semicolons_outside_of_strings_names_and_comments() -> None:
    text = """
        SELECT ';' AS a, `b;` FROM t; -- one; two
        /* SELECT 1; */ SHOW TABLES;
        SELECT "x;y" """
    statements = parse_script(text)
    assert [type(statement) for statement in statements] == [Select, Show, Select]
    assert statements[0].text == "SELECT ';' AS a, `b;` FROM t"
    assert [statement.place.line for statement in statements] == [2, 3, 4]
    assert [statement.place.column for statement in statements] == [9, 25, 9]


def test_equal_statements_are_equal_wherever_they_stand() -> None:
    first, second = parse_script("select a from t;\n\n  SELECT  a FROM t")
    assert first == second
    assert first.place != second.place


def test_insert_into_names_target_columns_and_query() -> None:
    statement = one("INSERT INTO a.`b.c` (x, `y z`) SELECT 1, 2")
    assert isinstance(statement, InsertInto)
    assert (statement.target, statement.columns) == ("a.b.c", ("x", "y z"))
    assert spark(statement) == "SELECT 1, 2"


@pytest.mark.parametrize("query", ["(SELECT 1)", "((SELECT 1))", "(WITH a AS (SELECT 1) SELECT * FROM a)"])
def test_a_query_in_parentheses_is_no_column_list(query: str) -> None:
    statement = one(f"INSERT INTO t {query}")
    assert isinstance(statement, InsertInto)
    assert statement.columns == ()


def test_values_are_a_query() -> None:
    assert spark(one("INSERT INTO t VALUES (1, 'x'), (2, 'y')")) == (
        "SELECT * FROM VALUES (1, 'x'), (2, 'y') AS v(col1, col2)"
    )
    assert spark(one("VALUES (1)")) == "SELECT * FROM VALUES (1) AS v(col1)"
    assert spark(one("SELECT * FROM (VALUES (1)) AS x(a)")) == "SELECT * FROM VALUES (1) AS x(a)"
    assert failure("VALUES (1, 2), (3)").message == "the rows of VALUES have different lengths"


@pytest.mark.parametrize(
    "text",
    ["WITH a AS (SELECT 1) SELECT * FROM a", "(SELECT 1) UNION ALL (SELECT 2)", "SELECT 1 EXCEPT SELECT 2"],
)
def test_every_kind_of_query_is_live(text: str) -> None:
    assert isinstance(one(text), Select)


def test_create_view_in_all_its_forms() -> None:
    plain = one("CREATE VIEW v AS SELECT 1")
    assert isinstance(plain, CreateView)
    assert (plain.name, plain.columns, plain.materialized, plain.temporary) == ("v", (), False, False)
    full = one(
        "CREATE OR REPLACE TEMPORARY VIEW IF NOT EXISTS v (a COMMENT 'x', b) COMMENT 'y' AS SELECT 1, 2"
    )
    assert isinstance(full, CreateView)
    assert (full.columns, full.temporary, full.or_replace, full.if_not_exists) == (
        ("a", "b"),
        True,
        True,
        True,
    )
    kept = one("CREATE MATERIALIZED VIEW v AS SELECT 1")
    assert isinstance(kept, CreateView) and kept.materialized


@pytest.mark.parametrize(
    "text",
    [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
        "BEGIN STATEMENT SET;\nINSERT INTO a SELECT 1;\nINSERT INTO b SELECT 2;\nEND",
    ],
)
def test_a_statement_set_holds_its_inserts(text: str) -> None:
    statements = parse_script(text + "; SHOW TABLES;")
    assert [type(statement) for statement in statements] == [StatementSet, Show]
    assert isinstance(statements[0], StatementSet)
    assert [insert.target for insert in statements[0].statements] == ["a", "b"]
    assert statements[0].text == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BEGIN STATEMENT SET; INSERT INTO a SELECT 1", "the statement set that begins here does not end"),
        ("BEGIN STATEMENT SET; END", "the statement set is empty"),
        ("EXECUTE STATEMENT SET BEGIN SELECT 1; END", "expected INSERT INTO or END"),
        ("BEGIN STATEMENT SET INSERT INTO a SELECT 1; END", "unexpected INSERT"),
    ],
)
def test_a_broken_statement_set_says_what_it_lacks(text: str, message: str) -> None:
    assert failure(text).message == message


def test_explain_holds_the_statement() -> None:
    assert one("EXPLAIN PLAN FOR SELECT 1") == one("EXPLAIN SELECT 1")
    explained = one("EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END")
    assert isinstance(explained, Explain) and isinstance(explained.statement, StatementSet)
    assert failure("EXPLAIN SHOW TABLES").message == "SHOW cannot be explained"
    assert failure("EXPLAIN").message == "expected a statement to explain"


def test_an_executed_insert_is_an_insert() -> None:
    assert one("EXECUTE INSERT INTO a SELECT 1") == one("INSERT INTO a SELECT 1")


def test_small_statements() -> None:
    where: dict[str, Any] = {"place": one("SHOW TABLES").place, "text": ""}
    for text, expected in {
        "VERIFY totals": Verify("totals", **where),
        "show tables": Show("tables", **where),
        "SHOW VIEWS": Show("views", **where),
        "SHOW CONNECTORS": Show("connectors", **where),
        "SHOW CREATE TABLE a.b": Show("create table", "a.b", **where),
        "SHOW CREATE VIEW v": Show("create view", "v", **where),
        "DESCRIBE t": Describe("t", **where),
        "DESC TABLE t": Describe("t", **where),
        "DROP TABLE t": Drop("table", "t", **where),
        "DROP MATERIALIZED VIEW IF EXISTS v": Drop("view", "v", True, **where),
        "SET": Set(**where),
        "SET 'a'": Set("a", **where),
        "SET 'a' = 'b c'": Set("a", "b c", **where),
        "SET a.b-c = d e": Set("a.b-c", "d e", **where),
        "RESET": Reset(**where),
        "RESET 'a'": Reset("a", **where),
    }.items():
        assert one(text) == expected


@pytest.mark.parametrize(
    "text",
    ["SHOW", "SHOW CREATE TABLE", "DESCRIBE", "DROP", "VERIFY", "SET = 1", "SET 'a' =", "DROP TABLE a, b"],
)
def test_what_is_not_complete_is_an_error_with_a_place(text: str) -> None:
    error = failure(text)
    assert error.place is not None and error.place.line == 1
    assert error.place.column <= len(text) + 1


@pytest.mark.parametrize(("name", "hint"), KNOWN)
def test_a_known_statement_without_a_body_names_what_works(name: str, hint: str) -> None:
    error = failure(f"SHOW TABLES;\n  {name} something 'x'")
    assert error.message == f"{name} is not supported yet"
    assert error.hint == hint
    assert str(error.place) == "f.sql:2:3"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CREATE TABLE t AS SELECT 1", "CREATE TABLE ... AS"),
        ("CREATE OR REPLACE TABLE t (a INT)", "CREATE OR REPLACE TABLE"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (a)", "PARTITIONED BY"),
        ("INSERT INTO t PARTITION (a = 1) SELECT 1", "PARTITION"),
        ("DESCRIBE EXTENDED t", "DESCRIBE EXTENDED"),
        ("SELECT 1 FROM t /*+ OPTIONS('a' = 'b') */", "hints"),
    ],
)
def test_clauses_without_a_body_are_named(text: str, name: str) -> None:
    error = failure(text)
    assert error.message.startswith(name)
    assert "not supported yet" in error.message
    assert error.hint


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("CRAETE TABLE t", "CREATE"),
        ("SELCT 1", "SELECT"),
        ("INSRET INTO t", "INSERT"),
        ("UPDAET t", "UPDATE"),
    ],
)
def test_an_unknown_first_word_gets_the_nearest_one(text: str, meant: str) -> None:
    error = failure(text)
    assert error.hint == f"Did you mean {meant}?"
    assert error.place is not None and (error.place.column, error.place.width) == (1, len(text.split()[0]))


def test_what_is_like_nothing_gets_the_list() -> None:
    hint = failure("xyzzy").hint
    assert all(word in hint for word in PARSERS)


def test_show_of_something_near_gets_it() -> None:
    assert failure("SHOW TABELS").hint == "Did you mean SHOW TABLES?"


def test_the_first_error_is_the_one_that_is_told() -> None:
    error = failure("SELECT 1;\nSELECT FROM t;\nSELECT 'open")
    assert error.place is not None and error.place.line == 2


@pytest.mark.parametrize(
    ("text", "what", "column"),
    [("SELECT 'a", "string", 8), ("SELECT `a", "name", 8), ("SELECT 1 /* a", "comment", 10)],
)
def test_what_is_opened_and_not_closed_is_placed_at_its_opening(text: str, what: str, column: int) -> None:
    error = failure(text)
    assert error.message == f"the {what} that begins here does not end"
    assert error.place is not None and error.place.column == column
