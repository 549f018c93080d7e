"""Which connectors can be read: one literal table, then entry points of the group `headwater.sources`."""

from __future__ import annotations

from headwater.errors import Place
from headwater.options import SOURCES, find_connector
from headwater.sources.base import CatalogType, SourceType
from headwater.sources.datagen import DATAGEN
from headwater.sources.jdbc.catalog import JDBC_CATALOG
from headwater.sources.jdbc.source import JDBC
from headwater.sources.kafka.connector import KAFKA, UPSERT_KAFKA
from headwater.sources.mysql.source import MYSQL
from headwater.sources.postgres.source import POSTGRES
from headwater.sources.values import VALUES

SOURCE_TYPES: dict[str, SourceType] = {
    "datagen": DATAGEN,
    "jdbc": JDBC,
    "kafka": KAFKA,
    "mysql-cdc": MYSQL,
    "postgres-cdc": POSTGRES,
    "upsert-kafka": UPSERT_KAFKA,
    "values": VALUES,
}

CATALOG_TYPES: dict[str, CatalogType] = {"jdbc": JDBC_CATALOG}
"""Which catalogs there are, by the `'type'` of CREATE CATALOG."""

ONLY_WRITTEN = (
    "blackhole",
    "delta",
    "elasticsearch-7",
    "elasticsearch-8",
    "filesystem",
    "iceberg",
    "opensearch",
    "print",
)
"""Connectors of the sinks that cannot be read; a test holds this against the sinks' own table."""


def source_type(name: str | None, place: Place | None) -> SourceType:
    """The source behind `'connector' = name`; None stands for a table that names no connector."""
    return find_connector(name, SOURCE_TYPES, group=SOURCES, other_way=ONLY_WRITTEN, place=place)
