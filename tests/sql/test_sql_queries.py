"""Queries as Spark gets them, and where their parts stand.

Oracle: texts written by hand; Flink's documentation for what a literal and a type mean.
"""

from __future__ import annotations

import pytest
from sqlglot import exp

from headwater.errors import SqlError, UsageError
from headwater.sql.places import place_of
from headwater.sql.script import parse_script
from headwater.sql.statements import CreateTable, Explain, InsertInto, Select, StatementSet


def select(text: str) -> Select:
    (statement,) = parse_script(text, "f.sql")
    assert isinstance(statement, Select)
    return statement


def spark(expression: str) -> str:
    return select(f"SELECT {expression} FROM t").query.sql(dialect="headwater")[
        len("SELECT ") : -len(" FROM t")
    ]


def failure(text: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        parse_script(text, "f.sql")
    return caught.value


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("SUBSTRING(x,0,4)", "SUBSTRING(x, 0, 4)"),
        ("a || '_' || b", "a || '_' || b"),
        ("`a b`.`c`", "`a b`.`c`"),
        ("'it''s'", r"'it\'s'"),
        (r"'a\d'", r"'a\\d'"),
        ('"it\'s"', r"'it\'s'"),
        ("'say \"hi\"'", "'say \"hi\"'"),
        ("CAST(x AS TIMESTAMP(3))", "CAST(x AS TIMESTAMP_NTZ)"),
        ("TIMESTAMP '2020-01-01 00:00:00'", "CAST('2020-01-01 00:00:00' AS TIMESTAMP_NTZ)"),
        ("CAST(x AS TIMESTAMP_LTZ(3))", "CAST(x AS TIMESTAMP_LTZ)"),
        ("CAST(x AS TIMESTAMP(3) WITH LOCAL TIME ZONE)", "CAST(x AS TIMESTAMP_LTZ)"),
        ("CAST(x AS BYTES)", "CAST(x AS BINARY)"),
        ("CAST(x AS VARBINARY(3))", "CAST(x AS BINARY)"),
        ("CAST(x AS VARCHAR(3))", "LEFT(CAST(x AS STRING), 3)"),
        ("CAST(x AS ROW<a INT, b TIMESTAMP>)", "CAST(x AS STRUCT<a: INT, b: TIMESTAMP_NTZ>)"),
        ("TRY_CAST(x AS INT)", "TRY_CAST(x AS INT)"),
        ("ROW(1, 2)", "STRUCT(1, 2)"),
        ("FROM_BASE64(x)", "CAST(UNBASE64(x) AS STRING)"),
        ("COUNT(*) FILTER (WHERE a > 1)", "COUNT(*) FILTER(WHERE a > 1)"),
        ("a <> 'DENIED'", "a <> 'DENIED'"),
        ("bytes", "bytes"),
    ],
)
def test_an_expression_reaches_spark_with_its_meaning(written: str, read: str) -> None:
    assert spark(written) == read


def test_spark_text_is_the_same_by_either_dialect() -> None:
    query = select(r"SELECT 'it''s', 'a\d', CAST(x AS BYTES) FROM t").query
    assert query.sql(dialect="headwater") == query.sql(dialect="spark")


@pytest.mark.parametrize(
    ("text", "message", "column", "hint"),
    [
        ("SELECT a FORM t", "unexpected FORM", 10, "Did you mean FROM?"),
        ("SELECT a FROM t WEHRE x = 1", "unexpected WEHRE", 17, "Did you mean WHERE?"),
        ("SELECT a, FROM t", "nothing stands between , and FROM", 9, "Remove the comma."),
        ("SELECT (a, ) FROM t", "nothing stands between , and )", 10, "Remove the comma."),
        ("SELECT (a FROM t", "expected )", 11, "Look for a parenthesis"),
        ("SELECT 1 SELECT 2", "unexpected SELECT", 10, "Look at what stands just before it"),
        ("SELECT", "SELECT names no columns", 1, "Write SELECT *"),
        ("SELECT ? FROM t", "a parameter is not supported here", 8, "Write the value itself."),
        ("SELECT a, :b FROM t", "a parameter is not supported here", 11, "Write the value itself."),
        ("SELECT * INTO x FROM t", "SELECT INTO is not supported here", 10, "Use INSERT INTO"),
        ("SELECT 1 FOR UPDATE", "a locking clause is not supported here", 10, "Leave it out"),
        ("SELECT CAST(x AS TIME)", "type TIME is not supported in a query yet", 18, "Use text"),
        (
            "SELECT CAST(x AS TIMESTAMP WITH TIME ZONE)",
            "type TIMESTAMP WITH TIME ZONE",
            18,
            "Write TIMESTAMP_LTZ",
        ),
        ("SELECT a AS __hw_weight FROM t", 'column name "__hw_weight" is reserved', 13, 'Call it "weight"'),
        ("WITH t__old AS (SELECT 1) SELECT 1", 'table name "t__old" is reserved', 6, 'Call it "t"'),
        ("WITH x AS (INSERT INTO t VALUES (1)) SELECT 1", "a statement inside a query", 24, "Put it before"),
        ("CREATE VIEW v AS UPDATE t SET a = 1", "expected a query", 18, "A query starts with"),
        ("CREATE VIEW v AS SHOW TABLES", "expected a query", 18, "A query starts with"),
        ("CREATE VIEW v AS", "expected a query", 17, "A query starts with"),
        ("INSERT INTO t", "expected a query", 14, "A query starts with"),
    ],
)
def test_a_query_that_cannot_be_is_placed(text: str, message: str, column: int, hint: str) -> None:
    error = failure(text)
    assert error.message.startswith(message)
    assert error.hint.startswith(hint)
    assert error.place is not None and (error.place.line, error.place.column) == (1, column)


@pytest.mark.parametrize(
    "text", ["CACHE TABLE t", "ANALYZE TABLE t COMPUTE STATISTICS", "REFRESH t", "KILL 5"]
)
def test_no_opaque_command_passes(text: str) -> None:
    for whole in (text, f"CREATE VIEW v AS {text}", f"INSERT INTO t {text}", f"EXPLAIN {text}"):
        failure(whole)


SCRIPT = """-- first
SHOW TABLES; SELECT a.nope,
       SUM(b.total) AS sum
FROM `the table` AS a
JOIN b ON a.id = b.id;
"""


def placed(node: exp.Expr, statement: Select) -> tuple[int, int, int, str]:
    place = place_of(node, statement)
    assert place.file == "f.sql"
    return place.line, place.column, place.width, place.text


def test_a_node_is_placed_in_the_whole_file() -> None:
    statement = parse_script(SCRIPT, "f.sql")[1]
    assert isinstance(statement, Select)
    lines = SCRIPT.splitlines()
    nope, total = statement.query.find_all(exp.Column), next(statement.query.find_all(exp.Sum))
    by_name = {column.name: column for column in nope}
    assert placed(by_name["nope"].this, statement) == (2, 23, 4, lines[1])
    assert placed(by_name["nope"], statement) == (2, 21, 6, lines[1])
    assert placed(by_name["total"].this, statement) == (3, 14, 5, lines[2])
    assert placed(total, statement) == (3, 8, 3, lines[2])
    table = next(t for t in statement.query.find_all(exp.Table) if t.name == "the table")
    assert placed(table.this, statement) == (4, 6, 11, lines[3])


def test_line_and_column_of_a_node_count_in_the_file_and_start_in_the_statement() -> None:
    statement = parse_script(SCRIPT, "f.sql")[1]
    assert isinstance(statement, Select)
    for node in statement.query.find_all(exp.Identifier):
        start, end = node.meta["start"], node.meta["end"]
        assert statement.text[start : end + 1].strip("`") == node.name
        line = SCRIPT.splitlines()[node.meta["line"] - 1]
        assert line[node.meta["col"] - 1 :].lstrip("`").startswith(node.name)


def test_a_node_nobody_wrote_is_placed_at_the_statement() -> None:
    statement = parse_script(SCRIPT, "f.sql")[1]
    assert place_of(exp.column("added"), statement) == statement.place
    assert place_of(None, statement) == statement.place
    assert (statement.place.line, statement.place.column) == (2, 14)


def test_nodes_inside_other_statements_have_their_places() -> None:
    explained, together, table = parse_script(
        "EXPLAIN SELECT x FROM t;\nBEGIN STATEMENT SET;\n  INSERT INTO a SELECT y\n  FROM t;\nEND;\n"
        "CREATE TABLE t (a INT,\n  b AS UPPER(z))",
        "f.sql",
    )
    assert isinstance(explained, Explain) and isinstance(explained.statement, Select)
    column = next(explained.statement.query.find_all(exp.Column))
    assert str(place_of(column, explained.statement)) == "f.sql:1:16"
    assert isinstance(together, StatementSet)
    insert = together.statements[0]
    assert isinstance(insert, InsertInto)
    assert str(place_of(next(insert.query.find_all(exp.Column)), insert)) == "f.sql:3:24"
    assert isinstance(table, CreateTable)
    place = place_of(next(table.computed[0].expression.find_all(exp.Column)), table)
    assert (place.line, place.column, place.text) == (7, 14, "  b AS UPPER(z))")


def test_windows_line_ends_do_not_move_places() -> None:
    error = failure("SELECT 1;\r\nSELECT a FORM t;\r\n")
    assert error.place is not None
    assert (error.place.line, error.place.column, error.place.text) == (2, 10, "SELECT a FORM t;")


def test_a_parser_that_cannot_be_extended_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # So it stands where somebody has installed sqlglotc: every query failed there, and nothing said why.
    monkeypatch.setattr("sqlglot.parser.__file__", "site-packages/sqlglot/parser.cpython-311.so")
    with pytest.raises(UsageError, match="compiled form") as caught:
        select("SELECT 1")
    assert "pip uninstall sqlglotc" in caught.value.hint
