"""The options of connectors 'kafka' and 'upsert-kafka' for a table that is written."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.formats.options import FormatOptions
from headwater.kafka.properties import Config
from headwater.options import Duration, option

_GUARANTEES = ("exactly-once", "at-least-once", "none")
_EXACTLY = "accepted; every batch is written exactly once, in one transaction"


@dataclass(frozen=True, kw_only=True)
class TopicOptions(FormatOptions):
    """What both connectors need to know of a topic that is written."""

    topic: str = option("topic", "the topic; it is made if it does not exist")
    properties: dict[str, str] = option(
        "properties.", "properties of the Kafka client, under Java's or librdkafka's names", prefix=True
    )
    guarantee: str = option("sink.delivery-guarantee", _EXACTLY, default="exactly-once", choices=_GUARANTEES)
    id_prefix: str = option(
        "sink.transactional-id-prefix",
        "what the transactional id begins with, where the broker allows only certain ones",
        default="headwater",
    )
    parallelism: int | None = option(
        "sink.parallelism", "accepted; one process writes, since a batch is one transaction", default=None
    )
    scan: dict[str, str] = option("scan.", "accepted; these say how the table is read", prefix=True)
    errors: str | None = option("errors", "accepted; it says how the table is read", default=None)

    def __post_init__(self) -> None:
        # A dict that does not show passwords: options are printed and compared.
        object.__setattr__(self, "properties", Config(self.properties))


@dataclass(frozen=True, kw_only=True)
class KafkaSinkOptions(TopicOptions):
    """The options of connector 'kafka' as a sink."""

    partitioner: str = option(
        "sink.partitioner",
        "which partition a message goes to: by its key, all to the first, or each to the next",
        default="default",
        choices=("default", "fixed", "round-robin"),
    )
    transaction_topic: str | None = option(
        "transaction.topic", "accepted; it says how the table is read", default=None
    )
    semantic: str = option(
        "sink.semantic",
        "the old name of 'sink.delivery-guarantee'",
        default="exactly-once",
        choices=_GUARANTEES,
    )


@dataclass(frozen=True, kw_only=True)
class UpsertKafkaOptions(TopicOptions):
    """The options of connector 'upsert-kafka' as a sink."""

    flush_rows: int = option(
        "sink.buffer-flush.max-rows", "accepted; a batch has one message a key in any case", default=0
    )
    flush_interval: Duration = option(
        "sink.buffer-flush.interval",
        "accepted; a batch has one message a key in any case",
        default=Duration(0),
    )
