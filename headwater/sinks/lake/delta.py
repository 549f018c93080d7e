"""Connector 'delta': a table of Delta Lake, found by its path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headwater.errors import SinkError, placed
from headwater.options import Secret, option, revealed
from headwater.sinks.base import SinkContext, SinkTable, SinkType
from headwater.sinks.lake.columns import check_types
from headwater.sinks.lake.places import group_name
from headwater.sinks.lake.sink import LakeSink, Target, check_retries, lake_of, open_targets
from headwater.sinks.local_path import local_path

MAPPING = "columnMapping.mode"


@dataclass(frozen=True, kw_only=True)
class DeltaOptions:
    """The options of connector 'delta'."""

    path: str = option("table-path", "the folder of the table; it is made if it is missing")
    max_retries: int = option(
        "sink.max-retries", "how often a batch is tried again when others wrote meanwhile", default=5
    )
    properties: dict[str, str] = option(
        "delta.", "properties of Delta Lake for a table that is made", prefix=True
    )


def _path(table: SinkTable) -> str:
    return local_path("table-path", table.options.path, connector="delta", place=table.place)


def _group(options: DeltaOptions) -> str:
    where = local_path("table-path", options.path, connector="delta")
    return group_name("delta", where, hidden=isinstance(options.path, Secret))


def _check(table: SinkTable) -> None:
    _path(table)
    check_types(table, "Delta Lake")
    options: DeltaOptions = table.options
    check_retries(table)
    odd = [c.name for c in table.schema if re.search(r"[ ,;{}()\n\t=]", c.name)]
    if odd and MAPPING not in options.properties:
        raise SinkError(
            f"column '{odd[0]}' of sink table '{table.name}' has a name that Delta Lake takes only by mapping",
            detail="Names with one of  ,;{}()= or a tab cannot stand in its files as they are.",
            hint=f"Add 'delta.{MAPPING}' = 'name', or rename the column.",
            place=table.place,
        )


def _target(table: SinkTable, context: SinkContext) -> Target:
    _check(table)
    options, path = revealed(table.options), _path(table)
    return Target(
        table,
        lake_of(context, table).delta(path),
        shown=f"the Delta table '{table.options.path}'",
        folder=path,
        properties={f"delta.{name}": value for name, value in options.properties.items()},
        max_retries=options.max_retries,
    )


def open_sink(tables: Sequence[SinkTable], context: SinkContext) -> LakeSink:
    """Make the table at its path, or see that it fits."""
    with placed(tables[0].place):
        targets = [_target(table, context) for table in tables]
    return open_targets(targets, context)


DELTA = SinkType(
    options=DeltaOptions,
    group=_group,
    open=open_sink,
    check=_check,
    jars=("spark-delta",),
    empty="remove the folder of its table",
)
