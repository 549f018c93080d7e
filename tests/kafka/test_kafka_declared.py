"""Slips in options are found before Spark starts and before any broker is asked, and point at the option.

Oracle: the line of the SQL in which the slip stands. No broker listens at the address that is given, and
`check_declared` has no Spark to ask.
"""

from __future__ import annotations

import pytest

from headwater.errors import HeadwaterError
from headwater.runtime.declared import check_declared
from headwater.runtime.hidden import Hidden
from headwater.sql.script import parse_script

GOOD = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "127.0.0.1:1", "format": "json"}
UPSERT = {
    "connector": "upsert-kafka",
    "topic": "t",
    "properties.bootstrap.servers": "127.0.0.1:1",
    "key.format": "json",
    "value.format": "json",
}


def script(options: dict[str, str], *, use: str = "SELECT id FROM t", key: str = "") -> str:
    listed = ",\n".join(f"  '{name}' = '{value}'" for name, value in options.items() if value)
    return f"CREATE TABLE t (id INT, name STRING{key}) WITH (\n{listed}\n);\n{use};"


def problem_of(text: str) -> HeadwaterError:
    with pytest.raises(HeadwaterError) as caught:
        check_declared(parse_script(text, "a.sql"), Hidden())
    return caught.value


SLIPS = [
    ({"format": "jsn"}, "format", "unknown format 'jsn'"),
    ({"json.ignore-parse-error": "true"}, "json.ignore-parse-error", "has no option"),
    ({"json.ignore-parse-errors": "yes"}, "json.ignore-parse-errors", "does not take the value 'yes'"),
    ({"csv.field-delimiter": ";"}, "csv.field-delimiter", "belongs to no format"),
    ({"key.format": "json"}, "key.format", "needs option 'key.fields'"),
    ({"key.format": "json", "key.fields": "idd"}, "key.fields", "names column 'idd'"),
    ({"key.format": "jsn", "key.fields": "id"}, "key.format", "unknown format 'jsn'"),
    ({"key.format": "json", "key.fields": "id", "key.json.x": "1"}, "key.json.x", "has no option"),
    ({"properties.boostrap.servers": "k"}, "properties.boostrap.servers", "have no property"),
    ({"properties.security.protocol": "SLS"}, "properties.security.protocol", "does not accept"),
    (
        {"properties.max.partition.fetch.bytes": "x"},
        "properties.max.partition.fetch.bytes",
        "does not accept",
    ),
    ({"properties.sasl.jaas.config": "no"}, "properties.sasl.jaas.config", "cannot be understood"),
    ({"topic": "", "topic-pattern": "a["}, "topic-pattern", "does not take the value 'a['"),
    ({"topic-pattern": "a"}, "topic", "exclude each other"),
    ({"scan.startup.mode": "timestamp"}, "scan.startup.mode", "needs option"),
    (
        {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "0:1"},
        "scan.startup.specific-offsets",
        "does not take the value '0:1'",
    ),
    ({"scan.bounded.mode": "timestamp"}, "scan.bounded.mode", "needs option"),
    ({"scan.startup.mod": "x"}, "scan.startup.mod", "has no option"),
]


@pytest.mark.parametrize(("slip", "option", "said"), SLIPS, ids=[option for _, option, _ in SLIPS])
def test_a_slip_of_a_table_that_is_read_points_at_its_option(
    slip: dict[str, str], option: str, said: str
) -> None:
    text = script(GOOD | slip)
    problem = problem_of(text)
    assert said in problem.message
    assert problem.place is not None
    assert text.splitlines()[problem.place.line - 1].strip().startswith(f"'{option}' =")


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (GOOD | {"format": "jsn"}, "format"),
        (GOOD | {"json.encode.decimal-as-plain": "true"}, "json.encode.decimal-as-plain"),
        (GOOD | {"properties.boostrap.servers": "k"}, "properties.boostrap.servers"),
        (UPSERT | {"key.format": "jsn"}, "key.format"),
        (UPSERT | {"sink.partitioner": "fixed"}, "sink.partitioner"),
    ],
)
def test_a_slip_of_a_table_that_is_written_points_at_its_option(options: dict[str, str], option: str) -> None:
    text = script(options, use="INSERT INTO t SELECT 1, 'a'", key=", PRIMARY KEY (id) NOT ENFORCED")
    problem = problem_of(text)
    assert problem.place is not None
    assert text.splitlines()[problem.place.line - 1].strip().startswith(f"'{option}' =")


def test_what_is_missing_points_at_the_statement() -> None:
    problem = problem_of(script(GOOD | {"properties.bootstrap.servers": ""}))
    assert problem.message == "there is no 'properties.bootstrap.servers'"
    assert problem.place is not None and problem.place.line == 1


@pytest.mark.parametrize(
    "text",
    [
        script(GOOD),
        script(GOOD | {"format": "jsn"}, use="SET 'pipeline.name' = 'p'"),
        script(GOOD | {"format": "jsn"}, use="WITH t AS (SELECT 1 AS id) SELECT id FROM t"),
        script(GOOD) + "\nCREATE TABLE u WITH ('topic' = 'u') LIKE t;\nSELECT id FROM u;",
    ],
)
def test_tables_that_nobody_uses_and_good_ones_are_let_through(text: str) -> None:
    check_declared(parse_script(text, "a.sql"), Hidden())


def test_a_slip_that_came_along_with_like_is_said_to_have() -> None:
    text = script(GOOD | {"json.x": "1"}, use="CREATE TABLE u WITH ('topic' = 'u') LIKE t;\nSELECT id FROM u")
    assert problem_of(text).hint == "It came along with LIKE: add (EXCLUDING OPTIONS) behind it."


def test_a_slip_in_a_statement_that_is_explained_is_found_too() -> None:
    assert (
        "unknown format"
        in problem_of(script(GOOD | {"format": "jsn"}, use="EXPLAIN SELECT id FROM t")).message
    )
