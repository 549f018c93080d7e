"""Python functions in SQL. Oracles: the functions themselves, called by the test, and literal rows."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import headwater
from headwater.errors import HeadwaterError, SqlError
from headwater.sources.values import STORES, ValuesStore
from tests.operators.on_paper import compile_on_paper

TABLE = """
CREATE TABLE words (id INT, word STRING, n INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values', 'name' = 'functions');
"""


def doubled(text: str | None) -> str | None:
    return None if text is None else text + text


def half(n: int) -> decimal.Decimal:
    return decimal.Decimal(n) / 2


def added(one: pa.Array, other: pa.Array) -> pa.Array:
    return pc.add(one, other)


@pytest.fixture
def store() -> Iterator[ValuesStore]:
    """Three words, one of them NULL."""
    STORES["functions"] = made = ValuesStore()
    rows = [(1, "ab", 3), (2, None, 4), (3, "<b>", 5)]
    made.append({"words": [("+", {"id": i, "word": word, "n": n}) for i, word, n in rows]})
    yield made
    del STORES["functions"]


@pytest.mark.jvm
def test_functions_of_values_and_of_columns_are_maintained(tmp_path: Path, store: ValuesStore) -> None:
    with headwater.open(tmp_path / "functions") as hw:
        hw.sql(f"{TABLE} CREATE FUNCTION doubled AS '{__name__}.doubled' LANGUAGE PYTHON DETERMINISTIC;")
        hw.function(half)
        hw.function(added, "plus", returns="INT")
        hw.sql("CREATE VIEW v AS SELECT id, doubled(word) AS word, half(n) AS h, plus(n, id) AS p FROM words")
        hw.sql(
            "CREATE VIEW by_word AS SELECT doubled(word) AS word, SUM(plus(n, n)) AS n FROM words GROUP BY 1"
        )
        hw.run(once=True)
        assert sorted(map(tuple, hw.table("v").collect())) == [
            (1, "abab", decimal.Decimal("1.5"), 4),
            (2, None, decimal.Decimal(2), 6),
            (3, "<b><b>", decimal.Decimal("2.5"), 8),
        ]
        store.append({"words": [("u", {"id": 2, "word": "ab", "n": 10})]})
        hw.run(once=True)
        assert sorted(map(tuple, hw.table("by_word").collect())) == [("<b><b>", 10), ("abab", 26)]
        assert str(hw.sql("VERIFY by_word")).startswith("equal")


@pytest.mark.jvm
def test_what_a_function_raises_is_told_and_nothing_is_lost(tmp_path: Path, store: ValuesStore) -> None:
    with headwater.open(tmp_path / "functions") as hw:
        hw.sql(f"{TABLE} CREATE FUNCTION esc AS 'html.escape' LANGUAGE PYTHON RETURNS STRING DETERMINISTIC;")
        hw.sql("CREATE VIEW v AS SELECT id, esc(word) AS word FROM words")
        with pytest.raises(HeadwaterError) as told:
            hw.run(once=True)
        assert "'NoneType' object has no attribute 'replace'" in f"{told.value.message} {told.value.detail}"
        hw.sql("DROP VIEW v; CREATE VIEW v AS SELECT id, esc(word) AS word FROM words WHERE word IS NOT NULL")
        hw.run(once=True)
        assert sorted(map(tuple, hw.table("v").collect())) == [(1, "ab"), (3, "&lt;b&gt;")]


@pytest.mark.jvm
def test_a_function_that_is_replaced_is_the_one_that_is_called(tmp_path: Path, store: ValuesStore) -> None:
    view = "CREATE VIEW v AS SELECT id, f(word) AS word FROM words WHERE word IS NOT NULL"
    made = "FUNCTION f AS '{}' LANGUAGE PYTHON RETURNS STRING DETERMINISTIC;"
    with headwater.open(tmp_path / "functions") as hw:
        hw.sql(f"{TABLE} CREATE {made.format('html.escape')} {view}")
        hw.run(once=True)
        hw.sql(f"DROP VIEW v; CREATE OR REPLACE {made.format('html.unescape')} {view}")
        hw.run(once=True)
        assert sorted(map(tuple, hw.table("v").collect())) == [(1, "ab"), (3, "<b>")]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("CREATE FUNCTION f AS 'nothing.here' LANGUAGE PYTHON", "module 'nothing' cannot be imported"),
        ("CREATE FUNCTION f AS 'html.escpe' LANGUAGE PYTHON", "module 'html' has no function 'escpe'"),
        ("CREATE FUNCTION f AS 'escape' LANGUAGE PYTHON", "'escape' names no module"),
        ("CREATE FUNCTION f AS 'html.escape' LANGUAGE PYTHON", "what 'html.escape' returns is not known"),
        ("CREATE FUNCTION f AS 'os.sep' LANGUAGE PYTHON RETURNS INT", "'os.sep' is no function"),
        ("CREATE FUNCTION f AS 'a.B' LANGUAGE JAVA", "only functions of Python can be created"),
        ("DROP FUNCTION f", 'function "f" does not exist'),
    ],
)
def test_wrong_functions_are_told(script: str, message: str) -> None:
    with pytest.raises(SqlError) as told:
        compile_on_paper(script)
    assert told.value.message == message
    assert told.value.hint


@pytest.mark.parametrize(
    "name",
    [
        *("is_digit", "is_alpha", "to_timestamp_ltz", "split_index", "regexp", "is_valid_utf8"),
        *("json_string", "json_value", "json_array", "json_arrayagg", "parse_json"),
        *("array_contains", "element", "named_struct", "overlay", "try_divide", "left"),
        *("percentile", "listagg", "try_sum", "SUM", "Upper"),
        *("now", "proctime", "rand_integer", "unix_timestamp", "current_date"),  # no view can call them
        *("bitmap_and", "collect", "json"),  # Flink's, and not here
        *("changes", "versions", "tumble", "session"),
        *("cast", "case", "interval", "exists", "date", "string", "select"),
    ],
)
def test_a_name_that_sql_has_is_refused(name: str) -> None:
    with pytest.raises(SqlError, match=f'^"{name}" has a meaning in SQL already$') as told:
        compile_on_paper(f"CREATE FUNCTION `{name}` AS '{__name__}.doubled' LANGUAGE PYTHON DETERMINISTIC;")
    assert told.value.hint == "Choose another name." and told.value.place is not None


@pytest.mark.parametrize(
    "name", ["doubled", "f", "order_of", "json_value_of", "nowadays", "Größe", "two words"]
)
def test_a_name_that_sql_does_not_have_is_taken(name: str) -> None:
    made = f"CREATE FUNCTION `{name}` AS '{__name__}.doubled' LANGUAGE PYTHON DETERMINISTIC;"
    assert compile_on_paper(f"{TABLE}{made} CREATE VIEW v AS SELECT `{name}`(word) AS w FROM words;").views


@pytest.mark.jvm
def test_a_name_of_sparks_is_refused_and_stays_sparks(tmp_path: Path, store: ValuesStore) -> None:
    with headwater.open(tmp_path / "functions") as hw:
        for name in ("mask", "luhn_check", "inline_outer", "MASK"):
            with pytest.raises(SqlError, match=f'^"{name}" has a meaning in SQL already$') as told:
                hw.sql(f"CREATE FUNCTION {name} AS '{__name__}.doubled' LANGUAGE PYTHON DETERMINISTIC")
            assert told.value.place is not None
        hw.sql(f"{TABLE} CREATE VIEW v AS SELECT id, mask(word) AS w FROM words WHERE word IS NOT NULL")
        hw.run(once=True)
        assert sorted(map(tuple, hw.table("v").collect())) == [(1, "xx"), (3, "<x>")]


@pytest.mark.jvm
def test_a_function_may_be_made_taken_back_and_made_again(tmp_path: Path, store: ValuesStore) -> None:
    made = f"FUNCTION Twice AS '{__name__}.doubled' LANGUAGE PYTHON DETERMINISTIC;"
    with headwater.open(tmp_path / "functions") as hw:
        hw.sql(f"{TABLE} CREATE {made} CREATE OR REPLACE {made} DROP FUNCTION twice; CREATE {made}")
        hw.sql("CREATE VIEW v AS SELECT twice(word) AS w FROM words WHERE id = 1")
        hw.run(once=True)
        assert [tuple(row) for row in hw.table("v").collect()] == [("abab",)]


def test_a_function_that_promises_nothing_is_refused_in_a_computed_column() -> None:
    made = "CREATE FUNCTION f AS 'html.escape' LANGUAGE PYTHON RETURNS STRING;"
    table = "CREATE TABLE t (s STRING, e AS f(s)) WITH ('connector' = 'values');"
    with pytest.raises(SqlError, match="f may give another answer each time"):
        compile_on_paper(f"{made} {table} CREATE VIEW v AS SELECT e FROM t;")
    assert compile_on_paper(f"{made} {table} CREATE VIEW v AS SELECT s FROM t;").views


def test_a_function_that_promises_nothing_is_refused_in_a_view() -> None:
    made = "CREATE FUNCTION f AS 'html.escape' LANGUAGE PYTHON RETURNS STRING;"
    with pytest.raises(SqlError, match="f may give another answer each time") as told:
        compile_on_paper(f"{TABLE}{made} CREATE VIEW v AS SELECT f(word) AS w FROM words;")
    assert "DETERMINISTIC" in told.value.hint
    promised = made.replace(";", " DETERMINISTIC;").replace("CREATE", "CREATE OR REPLACE")
    assert compile_on_paper(f"{TABLE}{made}{promised} CREATE VIEW v AS SELECT f(word) AS w FROM words;").views


def test_an_edited_function_makes_another_view(monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"{TABLE} CREATE FUNCTION doubled AS '{__name__}.doubled' LANGUAGE PYTHON DETERMINISTIC; "
    script += "CREATE VIEW v AS SELECT doubled(word) AS w FROM words;"
    before = compile_on_paper(script).views["v"].fingerprint
    assert compile_on_paper(script).views["v"].fingerprint == before

    def edited(text: str | None) -> str | None:
        return text

    monkeypatch.setitem(globals(), "doubled", edited)
    assert compile_on_paper(script).views["v"].fingerprint != before
