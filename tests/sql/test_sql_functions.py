"""Every function of Flink: what the page says of it, what the code does about it, what Spark makes of it.

Oracle: the examples in function_examples/, whose values follow Flink's documentation and its own tests. A file
holds one table of docs/functions.md: a function in column one, below it `expression => value`, or `! expression`
for one that has to be refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import TimestampType

from headwater.errors import SqlError
from headwater.schema import Column, Schema
from headwater.services.java import java_home
from headwater.spark.session import open_session
from headwater.spark.text import to_text
from headwater.sql.bind import bind
from headwater.sql.catalog import Catalog, Relation
from headwater.sql.functions.missing import MISSING
from headwater.sql.functions.rewrites import BUILDERS
from headwater.sql.functions.syntax import NAMES
from headwater.sql.places import place_of
from headwater.sql.script import parse_script
from headwater.sql.statements import Select
from tests.stories.values_text import text_of

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "functions.md"
AT_ONCE = 40
"""So many examples are one SELECT: each of them alone would cost a job."""

AT_RUN_TIME = [
    ("ELEMENT(ARRAY[1, 2])", "ELEMENT has an array of more than one element"),
    ("JSON_VALUE('{}', 'strict $.b' ERROR ON ERROR)", "JSON_VALUE finds nothing that fits at strict $.b"),
    ("JSON_VALUE('{}', 'lax $.b' ERROR ON EMPTY)", "JSON_VALUE finds nothing that fits at lax $.b"),
    (
        "JSON_VALUE('{\"a\": \"x\"}', '$.a' RETURNING INT ERROR ON ERROR)",
        "JSON_VALUE finds nothing that fits",
    ),
    ("JSON_QUERY('{\"a\": 1}', '$.a' ERROR ON ERROR)", "JSON_QUERY finds nothing that fits at $.a"),
    ("JSON_EXISTS('{}', 'strict $.a' ERROR ON ERROR)", "JSON_EXISTS finds nothing that fits at strict $.a"),
    ("JSON_OBJECT('k' VALUE JSON('{'))", "MALFORMED_RECORD_IN_PARSING"),
    ("(SELECT JSON_OBJECTAGG(CAST(NULL AS STRING) VALUE 1))", "JSON_OBJECTAGG has a key that is NULL"),
    ("CAST('abc' AS INT)", "CAST_INVALID_INPUT"),
    ("FROM_BASE64('!!x')", "does not have enough valid bits"),
]


@dataclass(frozen=True)
class Example:
    """An expression and what comes of it, None if it has to be refused."""

    function: str
    expression: str
    value: str | None


def rows() -> dict[str, str]:
    """Each function of the page, and same, same by rewrite, different or missing."""
    found = re.findall(r"^\| `(.+?)` \| ([a-z ]+) \|.*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {function.replace("\\|", "|"): here for function, here in found}


def examples() -> list[Example]:
    """All examples of all files."""
    found: list[Example] = []
    for path in sorted((HERE / "function_examples").glob("*.txt")):
        function = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):
                function = line
            elif line.startswith("  ! "):
                found.append(Example(function, line[4:], None))
            else:
                expression, _, value = line[2:].rpartition(" =>")
                found.append(Example(function, expression, value.strip()))
    return found


def as_spark(*expressions: str) -> str:
    """A SELECT of expressions, bound, as Spark reads it."""
    items = ", ".join(f"{expression} AS c{index}" for index, expression in enumerate(expressions))
    (statement,) = parse_script(f"SELECT {items}", "f.sql")
    assert isinstance(statement, Select)
    return to_text(bind(statement.query, Catalog(), lambda node: place_of(node, statement)).query)


def names_in(function: str) -> list[str]:
    """The names a row of the page speaks of: `CEIL(numeric), CEILING(numeric)` is about two."""
    return re.findall(r"(?:^|, )([A-Z][A-Z0-9_]+)(?=\()", function)


def test_the_page_and_the_examples_speak_of_the_same_functions() -> None:
    shown = list(dict.fromkeys(example.function for example in examples()))
    assert shown == list(rows())
    assert len(shown) > 250


def test_every_row_is_shown_by_an_example_of_its_kind() -> None:
    by_function: dict[str, list[Example]] = {}
    for example in examples():
        by_function.setdefault(example.function, []).append(example)
    for function, here in rows().items():
        assert here in ("same", "same by rewrite", "different", "missing"), function
        if here == "missing":
            assert all(example.value is None for example in by_function[function]), function
        else:
            assert any(example.value is not None for example in by_function[function]), function


def test_the_tables_of_the_code_and_the_page_agree() -> None:
    here: dict[str, set[str]] = {}
    for function, status in rows().items():
        for name in names_in(function):
            here.setdefault(name, set()).add(status)
    assert {name for name in MISSING if here.get(name) != {"missing"}} == set()
    built = {name for name in NAMES if name in BUILDERS or name.startswith("JSON_")}
    unsaid = {name for name in built if not here.get(name, set()) & {"same by rewrite", "different"}}
    assert unsaid - {"JSON_TABLE"} == set()


@pytest.mark.parametrize(
    "example", [e for e in examples() if e.value is None], ids=lambda example: example.expression
)
def test_what_is_missing_is_refused_with_its_place_and_a_hint(example: Example) -> None:
    with pytest.raises(SqlError) as caught:
        as_spark(example.expression)
    place = caught.value.place
    assert place is not None and (place.line, caught.value.hint != "") == (1, True)
    assert place.column >= len("SELECT ") + 1


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """The session everything runs on, with its settings."""
    return open_session(java_home(), name="functions")


def values_of(spark: SparkSession, expressions: list[str]) -> list[Any]:
    """The values of expressions, all in one SELECT; timestamps as they read in UTC."""
    frame = spark.sql(as_spark(*expressions))
    fields = [
        frame[field.name].cast("timestamp_ntz")
        if isinstance(field.dataType, TimestampType)
        else frame[field.name]
        for field in frame.schema
    ]
    (row,) = frame.select(*fields).collect()
    return list(row)


def shown(value: Any) -> str:
    """A value as the examples write it."""
    match value:
        case bytearray():
            return str(bytes(value))
        case list():
            return "[" + ", ".join(map(shown, value)) + "]"
        case tuple() if hasattr(value, "asDict"):
            return shown(value.asDict())
        case dict():
            return "{" + ", ".join(f"{name}: {shown(inner)}" for name, inner in value.items()) + "}"
    return text_of(value).strip()


@pytest.mark.jvm
def test_every_example_gives_what_flink_gives(spark: SparkSession) -> None:
    wanted = [example for example in examples() if example.value is not None]
    wrong = []
    for begin in range(0, len(wanted), AT_ONCE):
        some = wanted[begin : begin + AT_ONCE]
        found = values_of(spark, [example.expression for example in some])
        wrong += [(e, shown(v)) for e, v in zip(some, found, strict=True) if shown(v) != e.value]
    assert wrong == []


@pytest.mark.jvm
@pytest.mark.parametrize(("expression", "said"), AT_RUN_TIME)
def test_what_is_asked_to_fail_fails_with_a_clear_text(
    spark: SparkSession, expression: str, said: str
) -> None:
    with pytest.raises(Exception, match=re.escape(said)) as caught:
        values_of(spark, [expression])
    assert isinstance(caught.value, PySparkException) or "Py4JJavaError" in type(caught.value).__name__


def anything(random: Random, depth: int = 3) -> Any:
    """Some JSON value: scalars, and containers of some down to a depth."""
    letters = "aZ09 \"'\\/\b\f\n\r\t\u0000\u001f\u007fäß€漢\U0001f355\u2028{}[]:,$."
    kinds: list[Callable[[], Any]] = [
        lambda: None,
        lambda: random.choice([True, False]),
        lambda: random.randint(-(10**18), 10**18),
        lambda: random.uniform(-1e6, 1e6),
        lambda: "".join(random.choices(letters, k=random.randint(0, 8))),
    ]
    if depth:
        kinds.append(lambda: [anything(random, depth - 1) for _ in range(random.randint(0, 3))])
        kinds.append(lambda: {repr(anything(random, 0)): anything(random, depth - 1) for _ in range(2)})
    return random.choice(kinds)()


@pytest.mark.jvm
def test_any_json_survives_being_read_and_written(spark: SparkSession) -> None:
    random = Random(5)
    documents = [
        {"p": [anything(random) for _ in range(i % 4)], "s": str(anything(random, 0))} for i in range(400)
    ]
    as_texts = [json.dumps(document, ensure_ascii=random.random() < 0.5) for document in documents]
    rows = list(zip(as_texts, [document["s"] for document in documents], strict=True))
    spark.createDataFrame(rows, "doc string, s string").createOrReplaceTempView("documents")
    catalog = Catalog()
    columns = (Column("doc", "string"), Column("s", "string"))
    catalog.add(Relation("documents", "table", Schema(columns)), None)
    (statement,) = parse_script(
        "SELECT JSON_QUERY(doc, '$.p[*]') AS p, JSON_VALUE(doc, '$.s') AS s, JSON_OBJECT('s' VALUE s) AS made,"
        " FROM_BASE64(TO_BASE64(s)) AS same, JSON_UNQUOTE(JSON_QUOTE(s)) AS unquoted FROM documents"
    )
    assert isinstance(statement, Select)
    text = to_text(bind(statement.query, catalog, lambda node: place_of(node, statement)).query)
    for document, found in zip(documents, spark.sql(text).collect(), strict=True):
        assert json.loads(found.p) == document["p"]
        assert (found.s, found.same, found.unquoted) == (document["s"],) * 3
        assert json.loads(found.made) == {"s": document["s"]}
