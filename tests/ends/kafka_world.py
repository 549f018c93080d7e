"""What the tests of the Kafka sinks share: sink tables, and a reader of topics."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, TopicPartition

from headwater.kafka.clients import consumer, topics, watermarks
from headwater.options import read_options
from headwater.schema import Schema
from headwater.sinks.base import SinkContext, SinkTable
from headwater.sinks.kafka.options import KafkaSinkOptions, TopicOptions, UpsertKafkaOptions
from headwater.sinks.kafka.sink import KafkaSink, open_sink
from tests.ends.postgres_world import schema
from tests.stage.shared import Settings, fresh

READ_SECONDS = 120.0

ORDERS = schema("id int, name string", "id")


def texts(settings: Settings) -> dict[str, str]:
    """A client's settings as a user writes them."""
    return {name: str(value) for name, value in settings.items()}


def kafka_table(settings: Settings, columns: Schema, given: Mapping[str, str], **more: Any) -> SinkTable:
    """A sink table of connector 'kafka'."""
    return _table(KafkaSinkOptions, settings, columns, given=given, more=more)


def upsert_table(settings: Settings, columns: Schema, given: Mapping[str, str], **more: Any) -> SinkTable:
    """A sink table of connector 'upsert-kafka'; JSON unless told otherwise."""
    formats = {"key.format": "json", "value.format": "json"}
    return _table(UpsertKafkaOptions, settings, columns, given=formats | dict(given), more=more)


def _table(
    kind: type[TopicOptions],
    settings: Settings,
    columns: Schema,
    *,
    given: Mapping[str, str],
    more: Mapping[str, Any],
) -> SinkTable:
    client = {f"properties.{name}": text for name, text in texts(settings).items()}
    options = read_options(kind, client | dict(given), owner="the connector", place=None)
    return SinkTable(given["topic"], columns, options, **more)


@dataclass
class Heard:
    """What a sink says while it waits."""

    said: list[str | None] = field(default_factory=list)

    def __call__(self, trouble: str | None) -> None:
        if self.said[-1:] != [trouble]:
            self.said.append(trouble)


@contextmanager
def opened(*tables: SinkTable, pipeline: str = "", waits: Heard | None = None) -> Iterator[KafkaSink]:
    """An open sink; a pipeline of its own unless one is named."""
    sink = open_sink(tables, SinkContext(pipeline or fresh("pipeline"), waits=waits or Heard()))
    try:
        yield sink
    finally:
        sink.close()


def read_all(settings: Settings, topic: str, *, isolation: str | None = None) -> list[Message]:
    """Every committed message of a topic up to its present end, partition by partition.

    A commit has returned before the broker has marked its messages, so what was sent so far is waited for until
    it is decided. With an isolation level: what that level shows at this moment.
    """
    partitions = list(range(topics(texts(settings))[topic]))
    sent = dict.fromkeys(partitions, 0) if isolation else _sent(settings, topic, partitions)
    reader = consumer(
        texts(settings),
        isolation_level=isolation or "read_committed",
        enable_partition_eof=True,
        enable_auto_commit=False,
        fetch_wait_max_ms=10,
    )
    try:
        return _read(reader, topic, sent)
    finally:
        reader.close()


def _sent(settings: Settings, topic: str, partitions: list[int]) -> dict[int, int]:
    asks = consumer(texts(settings), isolation_level="read_uncommitted")
    try:
        return {number: high for number, (_, high) in watermarks(asks, topic, partitions=partitions).items()}
    finally:
        asks.close()


def _read(reader: Consumer, topic: str, sent: dict[int, int]) -> list[Message]:
    reader.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in sent])
    found: dict[int | None, list[Message]] = {number: [] for number in sent}
    ended: set[int | None] = set()
    deadline = time.monotonic() + READ_SECONDS
    while len(ended) < len(sent):
        assert time.monotonic() < deadline, f"{topic} has no end"
        message = reader.poll(1.0)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found[message.partition()].append(message)
            continue
        assert error.code() == KafkaError._PARTITION_EOF, error
        partition = message.partition()
        if (message.offset() or 0) >= sent[partition or 0]:
            ended.add(partition)
    return [message for messages in found.values() for message in messages]


def pairs(settings: Settings, topic: str, *, isolation: str | None = None) -> list[tuple[Any, Any]]:
    """Keys and values of a topic, read as JSON."""
    return [(_json(m.key()), _json(m.value())) for m in read_all(settings, topic, isolation=isolation)]


def latest(settings: Settings, topic: str) -> dict[str, Any]:
    """The last value of each key, without those that are gone."""
    last = {json.dumps(key): value for key, value in pairs(settings, topic)}
    return {key: value for key, value in last.items() if value is not None}


def _json(text: bytes | str | None) -> Any:
    return None if text is None else json.loads(text)
