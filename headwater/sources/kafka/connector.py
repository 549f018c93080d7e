"""What the registry knows of connectors 'kafka' and 'upsert-kafka' as sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from headwater.errors import HeadwaterError, OptionError, SqlError
from headwater.formats.decode import METADATA, Reading, decoding, quick_decoding
from headwater.formats.options import DebeziumJson, formats_of
from headwater.kafka.properties import cluster_of
from headwater.options import revealed
from headwater.schema import Schema
from headwater.sources.base import Decoding, SourceContext, SourceTable, SourceType
from headwater.sources.dead_letters import parks
from headwater.sources.kafka import startup, topics
from headwater.sources.kafka.lane import opened
from headwater.sources.kafka.options import KafkaOptions, TopicOptions, UpsertKafkaOptions
from headwater.sources.kafka.source import KafkaSource


def _decoding(table: SourceTable) -> Decoding:
    """The query that reads a table's messages; its options are checked on the way."""
    options = table.options
    is_upsert = isinstance(options, UpsertKafkaOptions)
    formats = formats_of(options, table.schema, place=table.place, upsert=is_upsert, metadata=table.metadata)
    is_changelog = isinstance(formats.value, DebeziumJson)
    if table.schema.key and not is_upsert and not is_changelog:
        raise OptionError(
            f"a primary key means nothing for format '{options.format or options.value_format}' here",
            detail="Every message is a new row, also if it has a key that was there before.",
            hint="Remove the primary key, or use connector 'upsert-kafka' to keep the last row of each key.",
            place=table.place,
        )
    kind: Literal["append", "changelog", "upsert"] = (
        "upsert" if is_upsert else "changelog" if is_changelog else "append"
    )
    reading = Reading(table.schema, formats, table.metadata, kind)
    subject = f"topic '{options.topic}'" if options.topic else f"the topics that fit '{options.pattern}'"
    return Decoding(decoding(reading), quick_decoding(reading), parks=parks(options), subject=subject)


def _check(table: SourceTable) -> None:
    """What the options say by themselves: topics, modes, and properties that a client takes."""
    table = replace(table, options=revealed(table.options))
    topics.check_names(table)
    startup.check_modes(table)
    opened(table.options.properties).close()


def _describe(options: TopicOptions) -> Schema:
    raise SqlError(
        "a topic has no columns of its own",
        detail="What stands in its messages is known by whoever writes them.",
        hint="Declare the columns, or take them from another table: CREATE TABLE name WITH (...) LIKE other (EXCLUDING "
        "OPTIONS).",
    )


def _group(options: TopicOptions) -> str:
    return cluster_of(revealed(options).properties)


def _origin(options: TopicOptions) -> str:
    """What the rows depend on: how to reach the cluster, or how often to look, is not among it."""
    kept = replace(options, properties={}, errors="stop", sink={})
    return repr(kept)


def _forget(tables: Sequence[SourceTable], context: SourceContext) -> None:
    """Nothing was made anywhere: a consumer group is the cluster's to forget."""


def _only_inserts(options: TopicOptions) -> bool:
    return (options.format or options.value_format) != "debezium-json"


def _notes(table: SourceTable) -> str | None:
    """Whether batches end at ends of transactions, as far as the cluster can tell now."""
    table = replace(table, options=revealed(table.options))
    if not topics.is_debezium(table):
        return None
    try:
        known = topics.known_topics(table)
        missing = topics.missing_ends(table, topics.topics_of(table, known), known)
    except HeadwaterError as problem:
        return f"whether batches end with transactions is not known: {problem.message}"
    if missing is None:
        return "batches end where transactions do, over all topics of the server"
    return (
        f"weaker: each topic is right by itself, transactions over several may show in parts; there is no topic "
        f"{missing}: set provide.transaction.metadata in the Debezium connector"
    )


KAFKA = SourceType(
    options=KafkaOptions,
    describe=_describe,
    group=_group,
    open=KafkaSource,
    forget=_forget,
    append_only=_only_inserts,
    origin=_origin,
    parks=parks,
    metadata=METADATA,
    decoding=_decoding,
    check=_check,
    jars=("spark-kafka",),
    notes=_notes,
)

UPSERT_KAFKA = SourceType(
    options=UpsertKafkaOptions,
    describe=_describe,
    group=_group,
    open=KafkaSource,
    forget=_forget,
    origin=_origin,
    parks=parks,
    metadata=METADATA,
    decoding=_decoding,
    check=_check,
    jars=("spark-kafka",),
)
