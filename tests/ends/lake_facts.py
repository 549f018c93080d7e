"""What can be found out about the sinks of a lake, one by one; `all_facts` asks for everything.

Every question opens its sinks anew, as a pipeline that starts does, and reads the table in another session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pyspark.sql import SparkSession

from headwater.changes.change_set import ChangeSet
from headwater.errors import SinkError
from headwater.schema import Schema
from headwater.sinks.base import Sink, SinkContext, SinkTable
from headwater.sinks.lake import rows as lake_rows
from headwater.sinks.registry import SINK_TYPES
from headwater.spark.lake import SparkLake
from headwater.spark.pace import AS_IT_STANDS
from tests.ends.lake_world import ALL_TYPES, KINDS, lake_table, typed_rows
from tests.ends.postgres_world import arrow_changes, changes, schema

FEW_TASKS = {
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
    **AS_IT_STANDS,
}
"""For readers and upkeep of tables with a handful of files."""

PAIRS = schema("k string, v int", "k")
BAG = schema("k string, v int")


class Place:
    """One lake to try sinks on: where it is, how its tables are read, how it is kept."""

    def __init__(self, spark: SparkSession, kind: str, folder: Path) -> None:
        self.spark, self.kind, self.folder = spark, kind, folder / kind / "try"
        self.lake = SparkLake(spark)
        for key, value in {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "hadoop",
            ".warehouse": str(folder / kind),
            ".cache-enabled": "false",
        }.items():
            spark.conf.set(f"spark.sql.catalog.reader{key}", value)

    def table(self, name: str, declared: Schema, **options: Any) -> SinkTable:
        """A sink table of this lake."""
        return lake_table(self.kind, self.folder / name, declared, **options)

    def sink(self, table: SinkTable, pipeline: str = "p") -> Sink:
        """A sink that is opened anew."""
        return SINK_TYPES[self.kind].open([table], SinkContext(pipeline, lake=self.lake))

    def written(self, table: SinkTable, *rows: tuple[object, ...], batch_id: int) -> None:
        """Write one batch through a sink that is opened for it."""
        self.sink(table).write([changes(table, *rows)], batch_id)

    def sql_name(self, name: str) -> str:
        """A table as other sessions call it."""
        return f"delta.`{self.folder / name}`" if self.kind == "delta" else f"reader.`try`.`{name}`"

    def rows(self, name: str) -> list[list[Any]]:
        """What the lake's own reader finds, in another session than that of the sink."""
        found = self.spark.sql(f"SELECT * FROM {self.sql_name(name)}").toArrow().to_pylist()
        return sorted((list(row.values()) for row in found), key=str)

    def versions(self, name: str) -> int:
        """How many commits a table has, that of its making not counted."""
        if self.kind == "delta":
            return int(self.spark.sql(f"DESCRIBE HISTORY {self.sql_name(name)}").count()) - 1
        return int(self.spark.sql(f"SELECT * FROM {self.sql_name(name)}.snapshots").count())


def refusal(act: Callable[[], object]) -> list[str]:
    """The error that a call raises: message, detail and hint."""
    try:
        act()
    except SinkError as problem:
        return [problem.message, problem.detail, problem.hint]
    return ["nothing was refused", "", ""]


def keys(place: Place) -> dict[str, Any]:
    """Keys may be NULL; a row may take the key of one that is gone, and the last of two that only came stays."""
    table = place.table("keys", PAIRS)
    place.written(table, (1, None, 1), (1, "a", 2), (1, "b", 3), batch_id=1)
    place.written(table, (-1, None, 1), (1, None, 9), (-1, "a", 2), (-1, "b", 3), (1, "a", 3), batch_id=2)
    place.written(table, (1, "late", 0), batch_id=2)
    swapped = place.rows("keys")
    only_inserts = place.table("keys", PAIRS, append_only=True)
    with patch.object(lake_rows, "LOCAL_ROWS", 1):
        place.written(only_inserts, (1, "a", 4), (1, "c", 5), (1, "a", 6), batch_id=3)
    return {"keys": [swapped, place.rows("keys")], "keys commits": place.versions("keys")}


def bags(place: Place) -> dict[str, Any]:
    """Without a key rows are added, equal ones too, and each batch once; an empty batch makes no commit."""
    table = place.table("bag", BAG, append_only=True)
    sink = place.sink(table)
    for batch_id in (1, 1, 2):
        sink.write([changes(table, (1, "x", 1), (1, "x", 1))], batch_id)
    place.written(table, (1, "x", 1), batch_id=2)
    sink.write([ChangeSet("bag", table.schema)], 3)
    sink.write([], 4)
    said = refusal(lambda: place.written(table, (-1, "x", 1), batch_id=5))
    return {"bag": place.rows("bag"), "bag commits": place.versions("bag"), "bag takes": said}


def types(place: Place) -> dict[str, Any]:
    """All types, inserted by a merge; opened again the table fits."""
    table = place.table("types", ALL_TYPES)
    rows = typed_rows()
    columns = [[row[name] for row in rows] for name in ALL_TYPES.names]
    place.sink(table).write([arrow_changes(table, [*columns, [1, 1, 1]])], 1)
    place.sink(table)
    found = place.spark.sql(f"SELECT * FROM {place.sql_name('types')} ORDER BY id")
    kinds = [f.dataType.simpleString() for f in found.schema.fields]
    return {"types": [repr(row) for row in found.toArrow().to_pylist()], "types there": kinds}


def existing(place: Place) -> dict[str, Any]:
    """A table that is there: it may have more columns, not fewer and no others."""
    place.written(place.table("there", PAIRS), (1, "a", 1), batch_id=1)
    place.spark.sql(f"ALTER TABLE {place.sql_name('there')} ADD COLUMN more STRING")
    place.written(place.table("there", PAIRS), (1, "a", 2), (1, "b", 3), batch_id=2)
    other_files = place.folder / "others" / "of_somebody.txt"
    other_files.parent.mkdir(parents=True)
    other_files.write_text("x")
    (place.folder / "file").write_text("x")
    cases = {
        "another type": place.table("there", schema("k string, v bigint", "k")),
        "a missing column": place.table("there", schema("k string, v int, mor string", "k")),
        "no key": place.table("unkeyed", BAG),
        "other files": place.table("others", PAIRS),
        "a file": place.table("file", PAIRS),
    }
    refused = {f"refuses {name}": refusal(lambda t=t: place.sink(t)) for name, t in cases.items()}  # type: ignore[misc]  # bound now
    return {"more columns": place.rows("there"), **refused}


def kept_up(place: Place) -> dict[str, Any]:
    """What the table knows of batches outlives compaction and the removal of old versions."""
    table, name = place.table("keys", PAIRS), place.sql_name("keys")
    place.sink(table)
    if place.kind == "delta":
        place.spark.sql(f"OPTIMIZE {name}")
        place.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        place.spark.sql(f"VACUUM {name} RETAIN 0 HOURS")
    else:
        options = "options => map('rewrite-all', 'true')"
        place.spark.sql(f"CALL reader.system.rewrite_data_files(table => 'try.keys', {options})")
        until = "older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1"
        place.spark.sql(f"CALL reader.system.expire_snapshots(table => 'try.keys', {until})")
    versions, rows = place.versions("keys"), place.rows("keys")
    last = place.sink(table).last_batch()
    place.written(table, (1, "again", 0), batch_id=3)
    return {"kept": [last, place.rows("keys") == rows, place.versions("keys") == versions]}


def together(place: Place) -> dict[str, Any]:
    """Two pipelines write one table at the same time, and both arrive."""
    table = place.table("shared", PAIRS, sink__max_retries="20")
    place.written(table, *[(1, f"row {number}", 0) for number in range(4)], batch_id=1)
    problems: list[str] = []

    def work(pipeline: str) -> None:
        try:
            sink = SINK_TYPES[place.kind].open([table], SinkContext(pipeline, lake=SparkLake(place.spark)))
            for batch_id in (1, 2):
                sink.write([changes(table, (1, pipeline, batch_id), (1, f"row {batch_id}", 1))], batch_id)
        except BaseException as problem:  # noqa: BLE001  # a thread tells its starter
            problems.append(repr(problem))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"together": place.rows("shared"), "together problems": problems}


def lost(place: Place) -> dict[str, Any]:
    """A table whose files are removed says so, and does not take the batch."""
    table = place.table("there", PAIRS)
    sink = place.sink(table)
    for file in (place.folder / "there").rglob("*.parquet"):
        file.unlink()
    return {
        "lost": refusal(lambda: sink.write([changes(table, (1, "a", 5))], 9)),
        "lost last": sink.last_batch(),
    }


def all_facts(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Every fact of both lakes."""
    facts: dict[str, Any] = {}
    for name, value in FEW_TASKS.items():
        spark.conf.set(name, value)
    for kind in KINDS:
        place = Place(spark, kind, folder)
        for find in (keys, bags, types, existing, kept_up, together, lost):
            facts |= {f"{kind} {name}": fact for name, fact in find(place).items()}
    pipeline_tables = {"delta": f"delta.`{folder}/delta/orders`", "iceberg": "made.shop.orders"}
    spark.conf.set("spark.sql.catalog.made", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.made.type", "hadoop")
    spark.conf.set("spark.sql.catalog.made.warehouse", str(folder / "warehouse"))
    for kind, name in pipeline_tables.items():
        found = spark.sql(f"SELECT * FROM {name}").toArrow().to_pylist()
        facts[f"{kind} orders"] = sorted(list(row.values()) for row in found)
    facts["delta orders commits"] = spark.sql(f"DESCRIBE HISTORY {pipeline_tables['delta']}").count() - 1
    facts["iceberg orders commits"] = spark.sql("SELECT * FROM made.shop.orders.snapshots").count()
    return facts
