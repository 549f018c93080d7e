"""Which connectors can be read: one literal table, then entry points of the group `headwater.sources`."""

from __future__ import annotations

from headwater.errors import Place
from headwater.options import SOURCES, find_connector
from headwater.sources.base import SourceType
from headwater.sources.datagen import DATAGEN
from headwater.sources.postgres.source import POSTGRES
from headwater.sources.values import VALUES

SOURCE_TYPES: dict[str, SourceType] = {
    "datagen": DATAGEN,
    "postgres-cdc": POSTGRES,
    "values": VALUES,
}

ONLY_WRITTEN = ("blackhole", "jdbc", "print")
"""Connectors of the sinks that cannot be read; a test holds this against the sinks' own table."""


def source_type(name: str | None, place: Place | None) -> SourceType:
    """The source behind `'connector' = name`; None stands for a table that names no connector."""
    return find_connector(name, SOURCE_TYPES, group=SOURCES, other_way=ONLY_WRITTEN, place=place)
