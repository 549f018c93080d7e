"""Which connectors can be written: one literal table, then entry points of the group `headwater.sinks`."""

from __future__ import annotations

from headwater.errors import Place
from headwater.options import SINKS, find_connector
from headwater.sinks.base import SinkType
from headwater.sinks.blackhole import BLACKHOLE
from headwater.sinks.filesystem.sink import FILESYSTEM
from headwater.sinks.jdbc.sink import JDBC
from headwater.sinks.kafka.sink import KAFKA, UPSERT_KAFKA
from headwater.sinks.lake.delta import DELTA
from headwater.sinks.lake.iceberg import ICEBERG
from headwater.sinks.print import PRINT
from headwater.sinks.search.sink import SEARCH_TYPES
from headwater.sinks.values import VALUES

SINK_TYPES: dict[str, SinkType] = {
    "blackhole": BLACKHOLE,
    "delta": DELTA,
    **SEARCH_TYPES,
    "filesystem": FILESYSTEM,
    "iceberg": ICEBERG,
    "jdbc": JDBC,
    "kafka": KAFKA,
    "print": PRINT,
    "upsert-kafka": UPSERT_KAFKA,
    "values": VALUES,
}

ONLY_READ = ("datagen", "mysql-cdc", "postgres-cdc")
"""Connectors of the sources that cannot be written; a test holds this against the sources' own table."""


def sink_type(name: str | None, place: Place | None) -> SinkType:
    """The sink behind `'connector' = name`; None stands for a table that names no connector."""
    return find_connector(name, SINK_TYPES, group=SINKS, other_way=ONLY_READ, place=place)
