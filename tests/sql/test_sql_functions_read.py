"""How calls are read before Spark sees them: kinds of columns, JSON paths, patterns, what stays refused.

Oracle: texts written by hand.
"""

from __future__ import annotations

import re

import pytest

from headwater.errors import SqlError
from headwater.schema import Column, Schema
from headwater.spark.text import to_text
from headwater.sql.bind import bind
from headwater.sql.catalog import Catalog, Relation
from headwater.sql.functions.json_path import All, Element, Field, Step, parse_path, spark_path
from headwater.sql.functions.regexps import groups_of
from headwater.sql.functions.trees import WrongCall
from headwater.sql.places import place_of
from headwater.sql.script import parse_script
from headwater.sql.statements import Select

COLUMNS = (
    Column("id", "int"),
    Column("name", "string"),
    Column("ok", "boolean"),
    Column("day", "date"),
    Column("at", "timestamp_ntz"),
    Column("moment", "timestamp"),
    Column("tags", "array<string>"),
    Column("detail", "struct<ok:boolean,within:struct<day:date>>"),
)


def bound(text: str) -> str:
    """A query over one table of all kinds, as Spark reads it."""
    catalog = Catalog()
    catalog.add(Relation("t", "table", Schema(COLUMNS)), None)
    (statement,) = parse_script(text, "f.sql")
    assert isinstance(statement, Select)
    return to_text(bind(statement.query, catalog, lambda node: place_of(node, statement)).query)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("CAST(ok AS STRING)", "UPPER(CAST(t.ok AS STRING))"),
        ("CAST(name AS STRING)", "CAST(t.name AS STRING)"),
        ("CAST(detail.ok AS STRING)", "UPPER(CAST(t.detail.ok AS STRING))"),
        ("CAST(id > 1 OR ok AS STRING)", "UPPER(CAST(t.id > 1 OR t.ok AS STRING))"),
        ("CAST(COALESCE(ok, FALSE) AS VARCHAR)", "UPPER(CAST(COALESCE(t.ok, FALSE) AS STRING))"),
        ("FLOOR(day TO MONTH)", "CAST(DATE_TRUNC('MONTH', t.day) AS DATE)"),
        ("FLOOR(detail.within.day TO YEAR)", "CAST(DATE_TRUNC('YEAR', t.detail.within.day) AS DATE)"),
        ("FLOOR(at TO HOUR)", "CAST(DATE_TRUNC('HOUR', t.at) AS TIMESTAMP_NTZ)"),
        ("FLOOR(moment TO HOUR)", "DATE_TRUNC('HOUR', t.moment)"),
        ("FLOOR(id)", "FLOOR(t.id)"),
        ("TIMESTAMPADD(DAY, id, day)", "CAST(TIMESTAMPADD(DAY, t.id, t.day) AS DATE)"),
        ("TIMESTAMPADD(HOUR, 1, day)", "CAST(TIMESTAMPADD(HOUR, 1, t.day) AS TIMESTAMP_NTZ)"),
        ("TIMESTAMPADD(DAY, 1, at)", "TIMESTAMPADD(DAY, 1, t.at)"),
        ("DATE_FORMAT(at, 'yyyy')", "DATE_FORMAT(t.at, 'yyyy')"),
        ("DATE_FORMAT(name, 'yyyy')", "DATE_FORMAT(TRY_CAST(t.name AS TIMESTAMP_NTZ), 'yyyy')"),
        ("tags[1]", "TRY_ELEMENT_AT(t.tags, 1)"),
        ("SUBSTRING(name, 0, 4)", "SUBSTRING(t.name, 0, 4)"),
        ("name LIKE 'a\\b%'", r"t.name LIKE 'a\\\\b%'"),
        ("name LIKE 'a%'", "t.name LIKE 'a%'"),
        ("GREATEST(1, 2)", "GREATEST(1, 2)"),
        ("GREATEST(id, 2)", "CASE WHEN t.id IS NULL THEN NULL ELSE GREATEST(t.id, 2) END"),
    ],
)
def test_a_call_is_written_for_the_kind_of_its_argument(written: str, read: str) -> None:
    assert bound(f"SELECT {written} AS x FROM t") == f"SELECT {read} AS x FROM t AS t"


def test_the_kind_of_a_column_is_known_through_queries_and_outer_names() -> None:
    inner = "(SELECT ok AS flag, CAST(name AS DATE) AS d FROM t) AS q"
    assert "UPPER(CAST(q.flag AS STRING))" in bound(f"SELECT CAST(q.flag AS STRING) AS x FROM {inner}")
    assert "CAST(DATE_TRUNC('MONTH', q.d) AS DATE)" in bound(f"SELECT FLOOR(q.d TO MONTH) AS x FROM {inner}")
    with_ = "WITH w AS (SELECT ok FROM t) SELECT CAST(ok AS STRING) AS x FROM w"
    assert "UPPER(CAST(w.ok AS STRING))" in bound(with_)
    exists = "SELECT id FROM t AS o WHERE EXISTS (SELECT 1 FROM t AS i WHERE CAST(o.ok AS STRING) = i.name)"
    assert "UPPER(CAST(o.ok AS STRING))" in bound(exists)


@pytest.mark.parametrize(
    ("written", "mode", "steps", "spark"),
    [
        ("$", "strict", (), "$"),
        ("$.a.b[0]", "strict", (Field("a"), Field("b"), Element(0)), "$.a.b[0]"),
        ("lax $['a b'].c", "lax", (Field("a b"), Field("c")), "$['a b'].c"),
        ('  STRICT  $.["a.b"][12]', "strict", (Field("a.b"), Element(12)), "$['a.b'][12]"),
        ('$.["it\'s"]', "strict", (Field("it's"),), '$["it\'s"]'),
        ("a.b", "strict", (Field("a"), Field("b")), "$.a.b"),
        ("$.ünï", "strict", (Field("ünï"),), "$['ünï']"),
        ("$.a[-1]", "strict", (Field("a"), Element(-1)), "$.a[-1]"),
    ],
)
def test_a_json_path_is_read(written: str, mode: str, steps: tuple[Step, ...], spark: str) -> None:
    path = parse_path(written)
    assert (path.mode, path.steps, path.is_definite) == (mode, steps, True)
    assert spark_path(path.steps) == spark


def test_a_path_with_a_wildcard_leads_to_many() -> None:
    for written in ("$.a[*]", "$.a.*", "lax $[*].b"):
        path = parse_path(written)
        assert All() in path.steps and not path.is_definite


@pytest.mark.parametrize("written", ["", "lax ", "$..a", "$.a[1:2]", "$.a[?(@.b)]", "$[", "$.a()", "$.a b"])
def test_a_path_that_cannot_be_read_is_an_error(written: str) -> None:
    with pytest.raises(WrongCall):
        parse_path(written)


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [("a", 0), ("(a)(b)", 2), ("(?:a)(b)", 1), (r"\(a\)", 0), ("[(]", 0), ("(?<n>a)", 1), ("(?<=a)(b)", 1)],
)
def test_the_groups_of_a_regular_expression_are_counted(pattern: str, groups: int) -> None:
    assert groups_of(pattern) == groups


@pytest.mark.parametrize(
    ("pattern", "matches", "misses"),
    [
        ("a%", ["a", "abc"], ["ba"]),
        ("(a|b)_", ["ax", "b."], ["c."]),
        ("a#%", ["a%"], ["ab"]),
        ("a.c", ["a.c"], ["abc"]),
    ],
)
def test_similar_to_becomes_a_regular_expression(pattern: str, matches: list[str], misses: list[str]) -> None:
    text = bound(f"SELECT name SIMILAR TO '{pattern}' ESCAPE '#' AS x FROM t")
    found = re.search(r"REGEXP_LIKE\(t\.name, '(.*)'\)", text)
    assert found is not None
    made = re.compile(found[1].replace("\\\\", "\\"))
    assert [bool(made.match(value)) for value in matches + misses] == [True] * len(matches) + [False] * len(
        misses
    )


@pytest.mark.parametrize(
    "call",
    ["NOW()", "UNIX_TIMESTAMP()", "CURRENT_TIMESTAMP", "LOCALTIME", "RAND()", "RAND_INTEGER(3)", "UUID()"],
)
@pytest.mark.parametrize(
    "around", ["{}", "JSON_OBJECT('a' VALUE {})", "DATE_FORMAT({}, 'yyyy')", "GREATEST(id, {})"]
)
def test_what_changes_by_itself_is_seen_inside_of_what_was_rewritten(call: str, around: str) -> None:
    with pytest.raises(SqlError, match="gives another answer each time") as caught:
        bound(f"SELECT {around.format(call)} AS x FROM t")
    assert caught.value.place is not None
    assert caught.value.place.column == len("SELECT ") + around.index("{}") + 1


@pytest.mark.parametrize(
    "moment",
    [
        "DATE 'today'",
        "TIMESTAMP ' Now '",
        "CAST('yesterday' AS DATE)",
        "DATE('tomorrow')",
        "TO_DATE('today')",
        "TO_TIMESTAMP('now')",
        "TRY_CAST('today UTC' AS TIMESTAMP)",
    ],
)
def test_texts_that_spark_takes_for_the_time_of_now_are_refused(moment: str) -> None:
    with pytest.raises(SqlError, match="gives another answer each time"):
        bound(f"SELECT {moment} AS x FROM t")


@pytest.mark.parametrize(
    "call",
    [
        "AES_ENCRYPT(name, 'abcdefghijklmnop')",
        "REFLECT('java.util.UUID', 'randomUUID')",
        "JAVA_METHOD('java.util.UUID', 'randomUUID')",
        "TRY_REFLECT('java.util.UUID', 'randomUUID')",
        "INPUT_FILE_BLOCK_START()",
        "INPUT_FILE_BLOCK_LENGTH()",
        "USER()",
        "SESSION_USER()",
        "CURRENT_SCHEMA()",
        "CURRENT_CATALOG()",
    ],
)
def test_calls_that_answer_anew_each_time_are_refused(call: str) -> None:
    with pytest.raises(SqlError, match="gives another answer each time"):
        bound(f"SELECT {call} AS x FROM t")


def test_a_text_that_is_enciphered_alike_each_time_is_not_refused() -> None:
    bound("SELECT AES_ENCRYPT(name, 'abcdefghijklmnop', 'ECB') AS x FROM t")
    bound("SELECT AES_ENCRYPT(name, 'abcdefghijklmnop', 'CBC', 'DEFAULT', UNHEX('00')) AS x FROM t")


@pytest.mark.parametrize(
    "constant", ["DATE '2024-01-01'", "DATE 'epoch'", "CAST('today' AS STRING)", "'now'"]
)
def test_other_texts_are_what_they_are(constant: str) -> None:
    bound(f"SELECT {constant} AS x FROM t")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM t WHERE name < CURRENT_DATE",
        "SELECT name, COUNT(*) FROM t GROUP BY name HAVING MAX(name) < NOW()",
        "SELECT a.id FROM t a JOIN t b ON a.id = b.id AND a.name < DATE 'today'",
    ],
)
def test_a_condition_on_the_time_of_now_is_refused_with_its_own_reason(query: str) -> None:
    with pytest.raises(SqlError) as caught:
        bound(query)
    assert (
        caught.value.detail is not None and "rows come and go while no table changes" in caught.value.detail
    )
    assert caught.value.hint is not None and "table of one row" in caught.value.hint


def test_a_text_with_an_argument_is_no_clock() -> None:
    assert "unix_timestamp" not in bound("SELECT UNIX_TIMESTAMP(name) AS x FROM t").lower()


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("SELECT id, JSON_VALUE(name) FROM t", 12, "JSON_VALUE has no path"),
        ("SELECT id, UPPER(JSON_VALUE(name, '$..a')) FROM t", 18, "the JSON path cannot be read at '..a'"),
        ("SELECT id, JSON_VALUE(name, name) FROM t", 12, "the path of JSON_VALUE is not a string literal"),
        ("SELECT id, JSON_QUERY(name, '$' WITH ARRAY) FROM t", 12, "WRAPPER is missing"),
        ("SELECT id, JSON_QUERY(name, '$' NULL ON) FROM t", 12, "a clause behind the path cannot be read"),
        ("SELECT id, JSON_OBJECT(name VALUE 1) FROM t", 12, "a key of JSON_OBJECT is not a string literal"),
        ("SELECT id, JSON_OBJECT('a' 1) FROM t", 12, "VALUE is missing"),
        ("SELECT id, LPAD(name, 3) FROM t", 12, "LPAD takes 3 arguments, not 2"),
        ("SELECT id, FLOOR(day TO DECADE) FROM t", 12, "time cannot be rounded to DECADE"),
        ("SELECT id, EXTRACT(FORTNIGHT FROM day) FROM t", 12, "FORTNIGHT cannot be extracted"),
        ("SELECT id, LAST_VALUE(name) FROM t", 12, "LAST_VALUE without OVER has no order to go by"),
        (
            "SELECT detail.* FROM (SELECT detail FROM t) AS d",
            8,
            "the fields of a row are not written out yet",
        ),
    ],
)
def test_a_wrong_call_is_placed(text: str, column: int, message: str) -> None:
    with pytest.raises(SqlError) as caught:
        bound(text)
    assert caught.value.message.startswith(message)
    assert caught.value.hint
    assert caught.value.place is not None and caught.value.place.column == column
