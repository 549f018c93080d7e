"""The rows and columns that the Spark data source makes of events, without Spark.

Oracles: changes written by hand, and the columns of CHANGES(t).
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from headwater.errors import OptionError
from headwater.log.events import WEIGHTS, told_schema
from headwater.schema import Column, Schema
from headwater.spark_source.changes import BATCH_ROWS, changes_of
from headwater.spark_source.columns import COLUMNS, ddl, table_columns
from headwater.spark_source.declared import read_declared
from headwater.tables.history import history_schema

SCHEMA = Schema((Column("id", "int"), Column("name", "string")))
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
GIVEN = {
    "connector": "postgres-cdc",
    "hostname": "db",
    "username": "reader",
    "password": "hush",
    "database-name": "shop",
    "table-name": "orders",
}

Event = tuple[str, str, int, str | None]
"""Kind, op, id and name."""


def written(path: Path, events: Sequence[Event], *, unchanged: list[str] | None = None) -> Path:
    """A file of the log."""
    columns: list[list[Any]] = [
        [id_ for _, _, id_, _ in events],
        [name for *_, name in events],
        [kind for kind, *_ in events],
        [WEIGHTS[kind] for kind, *_ in events],
        [0x100 + id_ for _, _, id_, _ in events],
        list(range(len(events))),
        [unchanged if kind == "upsert" else None for kind, *_ in events],
        [op for _, op, *_ in events],
        ["77"] * len(events),
        [MOMENT] * len(events),
        [MOMENT] * len(events),
    ]
    wanted = told_schema(SCHEMA)
    made = [pa.array(values, field.type) for values, field in zip(columns, wanted, strict=True)]
    pq.write_table(pa.Table.from_arrays(made, schema=wanted), path)
    return path


def changes(*files: Path) -> list[dict[str, Any]]:
    batches = changes_of(files, SCHEMA, notation="lsn", names=list(COLUMNS))
    return [row for batch in batches for row in batch.to_pylist()]


def row(id_: int, name: str | None) -> dict[str, Any]:
    return {"id": id_, "name": name}


def test_the_columns_are_those_of_a_history_and_what_was_left_out() -> None:
    ours = Schema(tuple(Column(name, kind) for name, kind in COLUMNS.items()))
    history = history_schema(SCHEMA)
    assert ours.names == (*history.names, "unchanged")
    for column in history:
        assert column.name in ("before", "after") or COLUMNS[column.name] == column.type


def test_an_update_is_one_row_and_each_change_knows_what_the_log_knows(tmp_path: Path) -> None:
    file = written(
        tmp_path / "a.parquet",
        [
            ("insert", "r", 1, "ann"),
            ("insert", "c", 2, None),
            ("delete", "u", 1, "ann"),
            ("insert", "u", 1, "bob"),
            ("delete", "d", 2, None),
            ("upsert", "u", 1, None),
            ("delete_key", "u", 1, None),
            ("upsert", "u", 3, "eve"),
            ("delete_key", "d", 3, None),
            ("truncate", "t", 9, None),
        ],
        unchanged=["name"],
    )
    told = changes(file)
    assert [(c["op"], c["before"], c["after"]) for c in told] == [
        ("r", None, row(1, "ann")),
        ("c", None, row(2, None)),
        ("u", row(1, "ann"), row(1, "bob")),
        ("d", row(2, None), None),
        ("u", None, row(1, None)),
        ("u", row(1, None), row(3, "eve")),
        ("d", row(3, None), None),
        ("t", None, None),
    ]
    assert [c["sequence"] for c in told] == [0, 1, 3, 4, 5, 7, 8, 9]
    assert [c["position"] for c in told[:2]] == ["0/101", "0/102"]
    assert told[4]["unchanged"] == ["name"] and told[2]["unchanged"] is None
    assert {(c["transaction_id"], c["committed_at"]) for c in told} == {("77", MOMENT)}


@pytest.mark.parametrize("before", [BATCH_ROWS - 2, BATCH_ROWS - 1, BATCH_ROWS, 2 * BATCH_ROWS - 1])
def test_an_update_over_the_border_of_batches_is_one_row(tmp_path: Path, before: int) -> None:
    many: list[Event] = [("insert", "c", n, "x") for n in range(before)]
    update: list[Event] = [("delete", "u", 1, "x"), ("insert", "u", 1, "y")]
    files = [written(tmp_path / f"{n}.parquet", [*many, *update]) for n in range(2)]
    told = changes(*files)
    assert len(told) == 2 * (before + 1)
    updates = [(c["before"], c["after"]) for c in told if c["op"] == "u"]
    assert updates == [(row(1, "x"), row(1, "y"))] * 2


def test_an_empty_file_gives_nothing(tmp_path: Path) -> None:
    assert changes(written(tmp_path / "a.parquet", [])) == []


def test_the_schema_names_every_column_in_the_form_that_spark_reads() -> None:
    odd = Schema((Column("a `b`", "timestamp"), Column("timestamp", "array<timestamp_ntz>")))
    assert ddl(odd).startswith(
        "op string, before STRUCT<`a ``b```: timestamp_ltz, `timestamp`: array<timestamp_ntz>>, after STRUCT<"
    )


def test_a_schema_of_the_user_says_which_columns_the_table_has() -> None:
    table = StructType([StructField("id", IntegerType()), StructField("tags", ArrayType(StringType()))])
    wanted = StructType([StructField("after", table), StructField("op", StringType())])
    assert table_columns(wanted) == Schema((Column("id", "int"), Column("tags", "array<string>")))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ([StructField("opp", StringType())], "the data source has no column 'opp'"),
        ([StructField("op", IntegerType())], "column 'op' of the data source is no int"),
        ([StructField("op", StringType())], "does not say which columns the table has"),
        ([StructField("after", StringType())], "does not say which columns the table has"),
    ],
)
def test_a_schema_that_cannot_be_is_refused(fields: list[StructField], said: str) -> None:
    with pytest.raises(OptionError, match=said) as refused:
        table_columns(StructType(fields))
    assert refused.value.hint


def test_options_are_those_of_the_connector_and_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "from outside")
    declared = read_declared(GIVEN | {"state": "here", "password": "${env:SHOP_PASSWORD}"})
    assert declared.state == Path("here").absolute() and declared.table == "orders"
    assert declared.options.password.reveal() == "from outside"
    assert pickle.loads(pickle.dumps(declared)) == declared
    assert declared.once().options.startup == "snapshot"
    assert "hush" not in repr(read_declared(GIVEN))


@pytest.mark.parametrize(
    ("given", "said", "hint"),
    [
        ({}, "the data source needs option 'connector'", "postgres-cdc"),
        ({"connector": "postgres"}, "connector 'postgres' has no log", "Did you mean 'postgres-cdc'?"),
        (GIVEN | {"tabel-name": "x"}, "has no option 'tabel-name'", "table-name"),
        (GIVEN | {"state": "hdfs://x/y"}, "not a URL", "the same path"),
        (GIVEN | {"errors": "dead-letter"}, "'dead-letter' has no meaning for the data source", "STRING"),
    ],
)
def test_a_wrong_option_says_what_is_right(given: dict[str, str], said: str, hint: str) -> None:
    with pytest.raises(OptionError) as refused:
        read_declared(given)
    assert said in refused.value.message and hint in refused.value.hint
