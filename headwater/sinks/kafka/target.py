"""A declared table as a topic: which columns become key, value, timestamp and headers."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.errors import SinkError
from headwater.formats.encode import check_written
from headwater.formats.options import DebeziumJson, Formats, formats_of
from headwater.sinks.base import SinkTable
from headwater.sinks.kafka.options import TopicOptions, UpsertKafkaOptions

WRITABLE = {"timestamp": "timestamp", "headers": "map<string,binary>"}
"""What METADATA columns of a message can be written, and their types."""


@dataclass(frozen=True)
class Target:
    """A table, its topic, and how its rows become messages."""

    table: SinkTable
    formats: Formats
    partitions: int = 1

    @property
    def topic(self) -> str:
        """The topic's name."""
        options: TopicOptions = self.table.options
        return options.topic

    @property
    def upserts(self) -> bool:
        """True if a message replaces the one of its key."""
        return isinstance(self.table.options, UpsertKafkaOptions)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns that stand in the key."""
        return self.formats.key_fields

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The columns that stand in the value."""
        absent = set(self.table.metadata) | (set() if self.formats.include_key else set(self.key_columns))
        return tuple(name for name in self.table.schema.names if name not in absent)

    def metadata(self, part: str) -> str | None:
        """The column that is written as `timestamp` or `headers`, None if there is none."""
        return next((name for name, becomes in self.table.metadata.items() if becomes == part), None)


def target_of(table: SinkTable) -> Target:
    """How a declared table is written; an error if it cannot be."""
    options: TopicOptions = table.options
    upsert = isinstance(options, UpsertKafkaOptions)
    formats = formats_of(
        options, table.schema, place=table.place, upsert=upsert, metadata=tuple(table.metadata)
    )
    for kind in (formats.value, formats.key):
        if kind is not None:
            check_written(kind, table.place)
    target = Target(table, formats)
    _check_topic(target)
    _check_metadata(target)
    _check_changes(target)
    if not target.value_columns:
        raise SinkError(
            f"sink table '{table.name}' has no column left for the value",
            detail="All of them stand in the key, and 'value.fields-include' is EXCEPT_KEY.",
            hint="Remove 'value.fields-include', or add a column.",
            place=table.place,
        )
    return target


def _check_topic(target: Target) -> None:
    if any(sign in target.topic for sign in ";,*"):
        raise SinkError(
            f"sink table '{target.table.name}' names several topics",
            detail=f"'topic' is '{target.topic}'.",
            hint="Name one topic; a list or a pattern is for reading.",
            place=target.table.place,
        )


def _check_metadata(target: Target) -> None:
    for name, becomes in target.table.metadata.items():
        if becomes not in WRITABLE:
            raise SinkError(
                f"metadata '{becomes}' of column '{name}' cannot be written",
                detail=f"Kafka lets a writer set {' and '.join(WRITABLE)}.",
                hint=f"Declare the column as METADATA FROM '{becomes}' VIRTUAL.",
                place=target.table.place,
            )


def _check_changes(target: Target) -> None:
    """Formats that have no word for a row that is gone take only rows that come."""
    table = target.table
    if target.upserts or table.append_only or isinstance(target.formats.value, DebeziumJson):
        return
    raise SinkError(
        f"sink table '{table.name}' cannot take rows that change or go",
        detail=f"Connector 'kafka' with format '{table.options.format or table.options.value_format}' only appends, "
        "and the query that writes to it updates or deletes rows.",
        hint="Use connector 'upsert-kafka' with a PRIMARY KEY, or 'format' = 'debezium-json'.",
        place=table.place,
    )
