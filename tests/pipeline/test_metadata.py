"""METADATA columns reach the connector that has them, both ways, and are refused where it has none.

Oracle: Flink's documentation of metadata columns; the texts below.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.errors import SqlError
from headwater.schema import Column, Schema
from headwater.sinks.registry import SINK_TYPES
from headwater.sources.registry import SOURCE_TYPES
from tests.operators.on_paper import compile_on_paper

SOURCE = {"timestamp": "timestamp", "offset": "bigint", "value.source.table": "string"}
SINK = {"timestamp": "timestamp"}

STAMPED = """
CREATE TABLE stamped (
  at TIMESTAMP(3) METADATA FROM 'timestamp',
  id INT,
  `offset` INT METADATA VIRTUAL,
  origin STRING METADATA FROM 'value.source.table' VIRTUAL,
  next AS id + `offset`,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'stamped');
"""


@pytest.fixture(autouse=True)
def stamped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connector with metadata: that of tests, with some more to say."""
    monkeypatch.setitem(SOURCE_TYPES, "stamped", replace(SOURCE_TYPES["values"], metadata=SOURCE))
    monkeypatch.setitem(SINK_TYPES, "stamped", replace(SINK_TYPES["values"], metadata=SINK))


def script(*statements: str) -> str:
    return STAMPED + ";\n".join(statements)


def test_a_table_that_is_read_stores_its_metadata_as_columns() -> None:
    program = compile_on_paper(script("SELECT id, `offset`, next FROM stamped"))
    table = program.tables["stamped"].table
    assert table.metadata == {"at": "timestamp", "offset": "offset", "origin": "value.source.table"}
    assert table.schema.names == ("at", "id", "offset", "origin")
    assert program.results["query_1"].schema.names == ("id", "offset", "next")


def test_a_table_that_is_written_has_no_virtual_columns() -> None:
    program = compile_on_paper(
        script(
            "CREATE TABLE t (id INT, at TIMESTAMP) WITH ('connector' = 'values')",
            "INSERT INTO stamped SELECT at, id FROM t",
            "INSERT INTO stamped (id) SELECT id FROM t",
        )
    )
    for node in program.sinks:
        assert node.table.metadata == {"at": "timestamp"}
        assert node.table.schema == Schema((Column("at", "timestamp_ntz"), Column("id", "int")), ("id",))
    assert program.results["insert_stamped"].schema.names == ("at", "id")


@pytest.mark.parametrize(
    ("column", "message", "hint"),
    [
        (
            "a STRING METADATA FROM 'ofset'",
            "connector 'stamped' has no metadata 'ofset'",
            "Did you mean 'offset'?",
        ),
        ("a STRING METADATA", "connector 'stamped' has no metadata 'a'", "Leave the column out."),
        (
            "a INT METADATA FROM 'timestamp'",
            "metadata 'timestamp' of connector 'stamped' is timestamp, column \"a\" is int",
            "Declare the column as TIMESTAMP_LTZ, and cast it in a query.",
        ),
    ],
)
def test_metadata_that_is_not_there_is_refused_where_it_stands(column: str, message: str, hint: str) -> None:
    declared = f"CREATE TABLE t (id INT,\n  {column}\n) WITH ('connector' = 'stamped');\nSELECT id FROM t"
    with pytest.raises(SqlError) as caught:
        compile_on_paper(declared)
    assert (caught.value.message, caught.value.hint) == (message, hint)
    assert caught.value.place is not None and (caught.value.place.line, caught.value.place.column) == (2, 3)


def test_a_connector_without_metadata_says_so() -> None:
    with pytest.raises(SqlError) as caught:
        compile_on_paper("CREATE TABLE t (a INT METADATA) WITH ('connector' = 'values'); SELECT a FROM t")
    assert caught.value.message == "connector 'values' has no metadata 'a'"
    assert caught.value.detail == "It has none."


def test_what_can_only_be_read_is_refused_where_it_is_written() -> None:
    declared = "CREATE TABLE t (id INT, o BIGINT METADATA FROM 'offset') WITH ('connector' = 'stamped');"
    with pytest.raises(SqlError) as caught:
        compile_on_paper(declared + "INSERT INTO t SELECT id, o FROM t")
    assert caught.value.message == "connector 'stamped' has no metadata 'offset' to write"
    assert caught.value.hint == "Add VIRTUAL if the column is only read, or leave it out."


def test_what_is_only_read_is_no_key_of_a_table_that_is_written() -> None:
    declared = (
        "CREATE TABLE s (id INT) WITH ('connector' = 'values');\n"
        "CREATE TABLE t (id INT, o STRING METADATA FROM 'table_name' VIRTUAL, PRIMARY KEY (o, id) NOT ENFORCED)"
        " WITH ('connector' = 'stamped');"
    )
    with pytest.raises(SqlError) as caught:
        compile_on_paper(declared + "INSERT INTO t SELECT id FROM s")
    assert (
        caught.value.message == 'metadata column "o" cannot be in the primary key of a table that is written'
    )
    assert caught.value.place is not None and caught.value.place.line == 2


def test_a_table_is_another_one_when_its_metadata_is() -> None:
    one = "CREATE TABLE t (id INT, o BIGINT METADATA FROM 'offset') WITH ('connector' = 'stamped');"
    other = one.replace("BIGINT METADATA FROM 'offset'", "BIGINT")
    prints = {compile_on_paper(text + "SELECT id FROM t").tables["t"].fingerprint for text in (one, other)}
    assert len(prints) == 2
