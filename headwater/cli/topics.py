"""`headwater topics`: what a Kafka cluster holds."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TextIO

from confluent_kafka import KafkaException
from rich.box import ASCII, ROUNDED
from rich.console import Console
from rich.table import Table

from headwater.cli.cluster import ANSWER_SECONDS, complaining, properties_of
from headwater.cli.stop import Stop
from headwater.kafka.clients import consumer, topics, watermarks
from headwater.kafka.problems import is_unknown_topic

AT_A_TIME = 8
"""So many topics are asked for at the same time."""


@dataclass(frozen=True)
class Topic:
    """A topic and about how many messages are in it: what was compacted away or aborted is counted too."""

    name: str
    partitions: int
    messages: int


def topics_command(given: argparse.Namespace) -> int:
    """Print the topics of a cluster."""
    properties = properties_of(given)
    with Stop(), complaining(properties):
        known = topics(properties, ANSWER_SECONDS)
        wanted = {name: count for name, count in known.items() if given.internal or not name.startswith("_")}
        found = list_topics(properties, wanted)
    print_topics(found, sys.stdout)
    return 0


def list_topics(properties: Mapping[str, str], partitions: Mapping[str, int]) -> list[Topic]:
    """The topics with their messages, some asked for at a time.

    By a consumer: an administrator's `list_offsets` would ask for all of them at once, but librdkafka crashes in it.
    """
    client = consumer(properties, isolation_level="read_uncommitted")

    def asked(name: str) -> Topic | None:
        try:
            spans = watermarks(client, name, partitions=range(partitions[name])).values()
        except KafkaException as problem:
            if is_unknown_topic(problem):
                return None  # deleted since it was listed
            raise
        return Topic(name, partitions[name], sum(last - first for first, last in spans))

    try:
        with ThreadPoolExecutor(AT_A_TIME) as asking:
            return [topic for topic in asking.map(asked, sorted(partitions)) if topic is not None]
    finally:
        client.close()


def print_topics(found: Sequence[Topic], out: TextIO) -> None:
    """A line for each topic."""
    if not found:
        print("there are no topics", file=out)
        return
    drawn = Table(box=ROUNDED if out.isatty() else ASCII)
    drawn.add_column("topic", no_wrap=True)
    drawn.add_column("partitions", justify="right")
    drawn.add_column("messages", justify="right")
    for topic in found:
        drawn.add_row(topic.name, str(topic.partitions), f"{topic.messages:,}")
    Console(file=out, width=None if out.isatty() else 10_000, markup=False, highlight=False).print(drawn)
