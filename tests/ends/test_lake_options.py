"""What connectors 'delta' and 'iceberg' refuse before Spark is asked, and how often a batch is tried.

Oracle: the docs of the connectors; for the tries, a table in memory that loses to others as often as it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headwater.changes.change_set import ChangeSet
from headwater.errors import HeadwaterError, OptionError, SinkError
from headwater.options import Secret
from headwater.schema import Column, Schema
from headwater.services.java import java_home
from headwater.sinks.base import SinkContext, SinkTable
from headwater.sinks.lake import sink as lake_sink
from headwater.sinks.lake.delta import DeltaOptions
from headwater.sinks.lake.sink import Target, open_targets
from headwater.sinks.registry import SINK_TYPES
from headwater.spark.lake import SparkLake
from headwater.spark.session import open_session
from tests.ends.lake_world import KINDS, lake_table
from tests.ends.postgres_world import changes, schema

PAIRS = schema("k string, v int", "k")


def refusal(act: Callable[[], object]) -> HeadwaterError:
    """The error that a call raises."""
    with pytest.raises(HeadwaterError) as raised:
        act()
    return raised.value


def checked(table: SinkTable, kind: str) -> Callable[[], None]:
    """The check that needs no Spark."""
    return lambda: SINK_TYPES[kind].check(table)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "column", ["void", "variant", "interval day to second", "array<void>", "time(6)", "struct<a:variant>"]
)
def test_a_type_without_a_counterpart_is_refused(tmp_path: Path, kind: str, column: str) -> None:
    declared = Schema((Column("k", "string"), Column("odd", column)), ("k",))
    error = refusal(checked(lake_table(kind, tmp_path / "db" / "t", declared), kind))
    assert error.message.startswith("column 'odd' of sink table 't' has a type that")
    assert column in error.detail and "CAST" in error.hint


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_may_be_called_like_a_type(tmp_path: Path, kind: str) -> None:
    named = Column("row", "struct<variant_id:int,interval:int,void:string>")
    checked(lake_table(kind, tmp_path / "db" / "t", Schema((Column("k", "string"), named), ("k",))), kind)()


@pytest.mark.parametrize("kind", KINDS)
def test_a_map_cannot_be_in_the_key(tmp_path: Path, kind: str) -> None:
    error = refusal(
        checked(lake_table(kind, tmp_path / "db" / "t", schema("m map<string,int>, v int", "m")), kind)
    )
    assert error.message == "column 'm' of sink table 't' cannot be in its key"


@pytest.mark.parametrize("kind", KINDS)
def test_a_negative_number_of_tries_is_refused(tmp_path: Path, kind: str) -> None:
    table = lake_table(kind, tmp_path / "db" / "t", PAIRS, sink__max_retries="-1")
    assert refusal(checked(table, kind)).message == "option 'sink.max-retries' is negative"


@pytest.mark.parametrize("kind", KINDS)
def test_other_file_systems_are_refused(tmp_path: Path, kind: str) -> None:
    where: dict[str, Any] = (
        {"table_path": "s3a://bucket/t"} if kind == "delta" else {"warehouse": "s3a://bucket/lake"}
    )
    error = refusal(checked(lake_table(kind, tmp_path / "db" / "t", PAIRS, **where), kind))
    assert isinstance(error, OptionError) and "begins with s3a:" in error.message


@pytest.mark.parametrize("given", ["hive", "rest"])
def test_other_catalogs_are_refused(tmp_path: Path, given: str) -> None:
    error = refusal(lambda: lake_table("iceberg", tmp_path / "db" / "t", PAIRS, catalog_type=given))
    assert error.message == f"option 'catalog-type' does not take the value '{given}'"
    assert "hadoop" in error.detail


@pytest.mark.parametrize("option", ["catalog_table", "catalog_database"])
def test_a_name_that_leads_out_of_the_warehouse_is_refused(tmp_path: Path, option: str) -> None:
    given: dict[str, Any] = {option: "../t"}
    table = lake_table("iceberg", tmp_path / "db" / "t", PAIRS, **given)
    assert "names no folder of the warehouse" in refusal(checked(table, "iceberg")).message


def test_a_name_that_delta_cannot_write_needs_mapping(tmp_path: Path) -> None:
    declared = Schema((Column("k", "string"), Column("a b", "int")), ("k",))
    error = refusal(checked(lake_table("delta", tmp_path / "t", declared), "delta"))
    assert "'a b'" in error.message and "columnMapping" in error.hint
    mapped = lake_table("delta", tmp_path / "t", declared, delta__columnMapping__mode="name")
    SINK_TYPES["delta"].check(mapped)


def test_two_ways_to_write_one_path_are_one_sink_and_a_hidden_path_stays_hidden(tmp_path: Path) -> None:
    group = SINK_TYPES["delta"].group
    assert group(DeltaOptions(path=f"{tmp_path}/a/../t")) == group(DeltaOptions(path=f"file://{tmp_path}/t"))
    assert str(tmp_path) not in group(DeltaOptions(path=Secret(f"{tmp_path}/t")))


@pytest.mark.parametrize("kind", KINDS)
def test_without_spark_there_is_nothing_to_write_with(tmp_path: Path, kind: str) -> None:
    table = lake_table(kind, tmp_path / "db" / "t", PAIRS)
    assert "is written by Spark" in refusal(lambda: SINK_TYPES[kind].open([table], SinkContext("p"))).message


@pytest.mark.jvm
@pytest.mark.parametrize("kind", KINDS)
def test_a_spark_that_was_started_without_the_packages_is_refused(tmp_path: Path, kind: str) -> None:
    session: SparkSession = open_session(java_home(), name="lake")
    table = lake_table(kind, tmp_path / "db" / "t", PAIRS)
    context = SinkContext("p", lake=SparkLake(session))
    error = refusal(lambda: SINK_TYPES[kind].open([table], context))
    assert error.message == f"Spark of this process was started without what connector '{kind}' needs"
    assert error.hint and not (tmp_path / "db").exists()


class Conflict(Exception):
    """Somebody else was faster."""


class TableInMemory:
    """Takes a batch after it lost to others so many times."""

    failure: tuple[type[Exception], ...] = (Conflict,)

    def __init__(self, losses: int, *, arrives_anyway: bool = False) -> None:
        self.losses, self.tries, self.asked = losses, 0, 0
        self.arrives_anyway = arrives_anyway
        self.batches: list[int] = []

    def columns(self) -> tuple[tuple[Column, bool], ...] | None:
        """It has the columns that are wanted."""
        return tuple((column, False) for column in PAIRS)

    def create(self, schema: Schema, properties: Mapping[str, str]) -> None:
        """It is there."""
        raise AssertionError("a table that is there is made again")

    def last(self, writer: str) -> int | None:
        """The last batch it took."""
        self.asked += 1
        return self.batches[-1] if self.batches else None

    def write(self, changes: ChangeSet, *, writer: str, batch_id: int) -> None:
        """Lose, or take the batch."""
        self.tries += 1
        if self.tries > self.losses or self.arrives_anyway:
            self.batches.append(batch_id)
        if self.tries <= self.losses:
            raise Conflict("a concurrent MERGE")

    def settle(self, writer: str) -> None:
        """Nothing expires."""

    def said(self, problem: Exception) -> str:
        """What the other one did."""
        return str(problem)

    def is_conflict(self, problem: Exception) -> bool:
        """Always."""
        return True


def written(there: TableInMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a batch twice, with two further tries."""
    monkeypatch.setattr(lake_sink, "FIRST_PAUSE", 0.0)
    table = lake_table("delta", tmp_path / "t", PAIRS)
    target = Target(table, there, "the table", folder=str(tmp_path / "t"), properties={}, max_retries=2)
    sink = open_targets([target], SinkContext("p"))
    for _ in range(2):
        sink.write([changes(table, (1, "a", 1))], 7)
    assert sink.last_batch() == 7


def test_a_batch_that_lost_to_others_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = TableInMemory(losses=2)
    written(there, tmp_path, monkeypatch)
    assert (there.tries, there.batches) == (3, [7])


def test_a_table_is_asked_what_it_has_before_the_first_write_and_after_each_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm, busy = TableInMemory(losses=0), TableInMemory(losses=2)
    written(calm, tmp_path, monkeypatch)
    written(busy, tmp_path, monkeypatch)
    # Once more by the test itself, which wants to know.
    assert (calm.asked, busy.asked) == (1 + 1, 3 + 1)


def test_a_batch_that_arrived_although_its_write_failed_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = TableInMemory(losses=1, arrives_anyway=True)
    written(there, tmp_path, monkeypatch)
    assert (there.tries, there.batches) == (1, [7])


def test_after_the_last_try_the_error_says_who_was_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = TableInMemory(losses=3)
    error = refusal(lambda: written(there, tmp_path, monkeypatch))
    assert isinstance(error, SinkError)
    assert error.message == "sink table 't' could not be written in 3 tries"
    assert "a concurrent MERGE" in error.detail and "sink.max-retries" in error.hint
    assert there.batches == []


def test_two_sink_tables_of_one_place_are_refused(tmp_path: Path) -> None:
    table = lake_table("delta", tmp_path / "t", PAIRS)
    target = Target(table, TableInMemory(0), "the table", str(tmp_path), properties={}, max_retries=0)
    error = refusal(lambda: open_targets([target, target], SinkContext("p")))
    assert error.message == "sink tables 't' and 't' are the same table"
