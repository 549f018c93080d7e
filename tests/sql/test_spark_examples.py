"""What Spark's own manual says of its functions holds here, too, but for those that are Flink's.

Oracle: Spark runs each example of DESCRIBE FUNCTION EXTENDED as it is written, and as our dialect writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.errors import HeadwaterError
from headwater.runtime.facts import Silent
from headwater.runtime.open import open_engine
from headwater.spark.pace import AS_IT_STANDS
from headwater.spark.text import to_text
from headwater.sql.calls import is_aggregate
from headwater.sql.from_clause import makes_rows
from headwater.sql.script import parse_script
from headwater.sql.statements import Select

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(900)]

FLINKS = ("array_sort", "elt", "listagg", "lpad", "rpad", "split", "first_value", "last_value")
"""Functions that mean what they mean in Flink (docs/functions.md)."""

ANEW = (
    *(
        "aes_encrypt",
        "current_catalog",
        "current_database",
        "current_time",
        "current_timestamp",
        "java_method",
    ),
    *("localtimestamp", "now", "rand", "randn", "random", "reflect", "shuffle", "try_reflect", "uuid"),
)
"""Functions that answer anew each time; no view can hold them."""

REFUSED = ("bitmap_and_agg", "bitmap_or_agg", "first_value", "last_value")
"""Aggregates that are none here (docs/functions.md)."""

OF_GROUPS = ("grouping", "grouping_id")
"""What tells of a group, not of its rows."""

STRINGS = re.compile(r"\\")
"""In a string of Flink's a backslash is an ordinary character."""

NOT_READ = (
    "TIME'",  # a type that no query has yet
    "TIMESTAMP('1970",  # without a zone, as in Flink
    "X '",
    ">>>",
    "bitmap_and_agg",
    "bitmap_or_agg",
    "extract(",  # of intervals, and of units in the plural
)
"""What is in examples that are refused, or say something else here."""


def examples(spark: SparkSession) -> list[tuple[str, str]]:
    """Functions and the queries by which the manual shows them."""
    found: list[tuple[str, str]] = []
    for (name,) in spark.sql("SHOW FUNCTIONS").collect():
        said = "\n".join(row[0] for row in spark.sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect())
        shown = re.findall(r"^\s*> (SELECT .*?);\s*$", said, re.MULTILINE | re.DOTALL)
        found += [(name, text.strip()) for text in shown]
    return found


def ours(text: str) -> str:
    """An example as we hand it to Spark, or what we say against it."""
    try:
        (statement,) = parse_script(f"{text};", "example.sql")
        assert isinstance(statement, Select)
        return to_text(statement.query)
    except HeadwaterError as problem:
        return f"error: {problem.message}"


def answer(spark: SparkSession, text: str) -> str:
    try:
        return repr([list(row) for row in spark.sql(text).collect()])
    except PySparkException as problem:
        return f"error: {str(problem).strip().splitlines()[0]}"


def named(spark: SparkSession, group: str) -> list[str]:
    """The functions of a group of the manual."""
    registry = spark._jsparkSession.sessionState().functionRegistry()
    found = registry.listFunction()
    names = [found.apply(place) for place in range(found.size())]
    return [name.funcName() for name in names if registry.lookupFunction(name).get().getGroup() == group]


def is_read(name: str, known: Callable[[exp.Expr], bool]) -> bool:
    """True if a call of one, two or three arguments is known for what it is."""
    for arguments in ("a", "a, b", "a, b, c"):
        try:
            (statement,) = parse_script(f"SELECT {name}({arguments}) FROM t;", "call.sql")
        except HeadwaterError:
            continue
        assert isinstance(statement, Select)
        if any(map(known, statement.query.selects[0].walk())):
            return True
    return False


def test_functions_of_several_rows_and_those_that_make_rows_are_known(tmp_path: Path) -> None:
    # What is not known to look at several rows is computed row by row.
    spark = open_engine("examples", tmp_path / "work", Silent()).spark
    aggregates, generators = named(spark, "agg_funcs"), named(spark, "generator_funcs")
    assert len(aggregates) > 70 and len(generators) > 5
    assert {name for name in aggregates if not is_read(name, is_aggregate)} == {*REFUSED, *OF_GROUPS}
    assert [name for name in generators if not is_read(name, makes_rows)] == []


def test_the_examples_of_sparks_manual_hold(tmp_path: Path) -> None:
    spark = open_engine("examples", tmp_path / "work", Silent()).spark.newSession()
    for key, value in AS_IT_STANDS.items():
        spark.conf.set(key, value)
    wrong, changed = [], 0
    for name, text in examples(spark):
        if name in (*FLINKS, *ANEW) or STRINGS.search(text) or any(part in text for part in NOT_READ):
            continue
        written = ours(text)
        # Only the letters changed: nothing else can.
        if re.sub(r"[\s()]", "", written).lower() == re.sub(r"[\s()]", "", text).lower():
            continue
        expected = answer(spark, text)
        if expected.startswith("error:"):
            continue  # the manual shows it as one
        changed += 1
        if (given := answer(spark, written)) != expected:
            wrong.append(f"{text}\nis here {written}\nand gives {given}, not {expected}")
    assert changed > 200
    assert not wrong, "\n\n".join(wrong)
