"""The options of connectors 'kafka' and 'upsert-kafka' where they are read, named and meant as Flink does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.formats.options import FormatOptions
from headwater.options import Duration, option

STARTS = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
BOUNDS = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")


@dataclass(frozen=True, kw_only=True)
class TopicOptions(FormatOptions):
    """What all tables of topics take."""

    topic: str = option("topic", "the topic, or several with `;` between them", default="")
    properties: Mapping[str, str] = option(
        "properties.",
        "`properties.<name>` is handed to the Kafka client, as `properties.bootstrap.servers`",
        prefix=True,
    )
    discovery: Duration = option(
        "scan.topic-partition-discovery.interval",
        "how often new topics and partitions are looked for",
        default=Duration(300),
    )
    errors: str = option(
        "errors",
        "what a message that cannot be read does: `stop`, or go to table headwater.dead_letters",
        default="stop",
        choices=("stop", "dead-letter"),
    )
    sink: Mapping[str, str] = option(
        "sink.", "what matters where the table is written; not used here", prefix=True
    )


@dataclass(frozen=True, kw_only=True)
class KafkaOptions(TopicOptions):
    """The options of connector 'kafka' where it is read."""

    pattern: str = option("topic-pattern", "a regular expression; every topic it fits is read", default="")
    startup_mode: str = option(
        "scan.startup.mode", "where the first start begins", default="group-offsets", choices=STARTS
    )
    startup_offsets: str = option(
        "scan.startup.specific-offsets", "as in `partition:0,offset:42;partition:1,offset:300`", default=""
    )
    startup_timestamp: int | None = option(
        "scan.startup.timestamp-millis", "the moment to begin at, in milliseconds since 1970", default=None
    )
    bounded_mode: str = option("scan.bounded.mode", "where reading ends", default="unbounded", choices=BOUNDS)
    bounded_offsets: str = option(
        "scan.bounded.specific-offsets", "the places to end at, as for the start", default=""
    )
    bounded_timestamp: int | None = option(
        "scan.bounded.timestamp-millis", "the moment to end at, in milliseconds since 1970", default=None
    )
    transactions: str = option(
        "transaction.topic",
        "where Debezium tells transactions; found by itself if it is called `<server>.transaction`",
        default="",
    )


@dataclass(frozen=True, kw_only=True)
class UpsertKafkaOptions(TopicOptions):
    """The options of connector 'upsert-kafka' where it is read: always from the beginning."""

    @property
    def pattern(self) -> str:
        """Topics are named one by one."""
        return ""

    @property
    def startup_mode(self) -> str:
        """The last value of every key counts, so all of them are read."""
        return "earliest-offset"

    @property
    def bounded_mode(self) -> str:
        """It never ends."""
        return "unbounded"

    @property
    def transactions(self) -> str:
        """Its messages carry no transactions."""
        return ""
