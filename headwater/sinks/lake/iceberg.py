"""Connector 'iceberg': tables of Iceberg in a warehouse that is a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from headwater.errors import OptionError, placed
from headwater.options import Secret, option, revealed
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.lake.columns import check_types
from headwater.sinks.lake.places import group_name
from headwater.sinks.lake.sink import LakeSink, Target, check_retries, lake_of, open_targets
from headwater.sinks.local_path import local_path

PREFIXES = ("write", "commit", "history")


@dataclass(frozen=True, kw_only=True)
class IcebergOptions:
    """The options of connector 'iceberg'."""

    catalog_name: str = option(
        "catalog-name", "accepted and without effect: the warehouse says which", default=""
    )
    catalog_type: str = option("catalog-type", "where names of tables are kept", choices=("hadoop",))
    warehouse: str = option("warehouse", "the folder of the catalog; it is made if it is missing")
    database: str = option("catalog-database", "the table's database", default="default_database")
    table: str = option("catalog-table", "the table's name, by default that of the sink table", default="")
    max_retries: int = option(
        "sink.max-retries", "how often a batch is tried again when others wrote meanwhile", default=5
    )
    format_version: str = option(
        "format-version", "of a table that is made", default="2", choices=("1", "2", "3")
    )
    write: dict[str, str] = option("write.", "properties of a table that is made", prefix=True)
    commit: dict[str, str] = option("commit.", "properties of a table that is made", prefix=True)
    history: dict[str, str] = option("history.", "properties of a table that is made", prefix=True)


def _warehouse(options: IcebergOptions) -> str:
    return local_path("warehouse", options.warehouse, connector="iceberg")


def _group(options: IcebergOptions) -> str:
    return group_name("iceberg", _warehouse(options), hidden=isinstance(options.warehouse, Secret))


def _check(table: SinkTable) -> None:
    with placed(table.place):
        _warehouse(table.options)
    check_types(table, "Iceberg")
    check_retries(table)
    for name, text in (("catalog-database", table.options.database), ("catalog-table", _name(table))):
        if not text.strip() or "/" in text or text.startswith("."):
            raise OptionError(
                f"option '{name}' names no folder of the warehouse",
                hint="Use a name without / and without a dot at its start.",
                place=table.place,
            )


def _name(table: SinkTable) -> str:
    return table.options.table or table.name


def _target(table: SinkTable, context: SinkContext) -> Target:
    _check(table)
    options: IcebergOptions = revealed(table.options)
    given = {"write": options.write, "commit": options.commit, "history": options.history}
    properties = {f"{prefix}.{name}": value for prefix in PREFIXES for name, value in given[prefix].items()}
    warehouse, database, name = _warehouse(options), options.database, options.table or table.name
    return Target(
        table,
        lake_of(context, table).iceberg(warehouse, database, name),
        shown=f"the Iceberg table '{table.options.database}.{_name(table)}'",
        folder=os.path.join(warehouse, database, name),
        properties={"format-version": options.format_version, **properties},
        max_retries=options.max_retries,
        widened=True,
    )


def open_sink(tables: Sequence[SinkTable], context: SinkContext) -> LakeSink:
    """Make the tables in their warehouse, or see that they fit."""
    with placed(tables[0].place):
        targets = [_target(table, context) for table in tables]
    return open_targets(targets, context)


ICEBERG = SinkType(
    options=IcebergOptions,
    group=_group,
    open=open_sink,
    check=_check,
    jars=("spark-iceberg",),
    empty="remove the folders of its tables in the warehouse",
)
