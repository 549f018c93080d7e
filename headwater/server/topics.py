"""The Kafka clusters that pipelines name: their topics, and the messages of one as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from headwater.errors import SourceError
from headwater.kafka.clients import consumer, topics, watermarks
from headwater.kafka.problems import is_away, is_unknown_topic, problem_as
from headwater.kafka.properties import cluster_of, shown_servers
from headwater.server.answers import moment
from headwater.server.refusals import missing
from headwater.server.server import Server

ANSWER_SECONDS = 5.0
"""So long a person waits for a broker's answer."""

FIRST_MESSAGES = 20
"""So many messages of each partition are told that were there before."""

AT_ONCE = 100
PAUSE_SECONDS = 0.2

LONGEST = 8_000
"""So many characters of a message are told."""


@dataclass(frozen=True)
class Cluster:
    """A cluster, and the properties by which one of the tables reaches it."""

    name: str
    servers: str
    properties: Mapping[str, str]


def clusters(server: Server) -> dict[str, Cluster]:
    """The clusters of all pipelines that run, by name."""
    found: dict[str, Cluster] = {}
    for deployed in server.running().values():
        pipeline = deployed.pipeline
        if pipeline is None:
            continue
        tables = [one.table.options for one in pipeline.program.tables.values()]
        tables += [one.table.options for one in pipeline.program.sinks]
        for options in tables:
            properties = getattr(options, "properties", None)
            if isinstance(properties, Mapping) and "bootstrap.servers" in properties:
                name = cluster_of(properties)
                found.setdefault(name, Cluster(name, shown_servers(properties), properties))
    return found


def find_cluster(server: Server, name: str) -> Cluster:
    """The cluster of a name."""
    known = clusters(server)
    if name not in known:
        raise missing("Kafka cluster", name, list(known))
    return known[name]


def topic_answers(cluster: Cluster) -> list[dict[str, Any]]:
    """The topics of a cluster, and about how many messages each has."""
    try:
        known = topics(cluster.properties, ANSWER_SECONDS)
        reader = consumer(cluster.properties, isolation_level="read_uncommitted")
        try:
            return [_topic(reader, name, known[name]) for name in sorted(known) if not name.startswith("__")]
        finally:
            reader.close()
    except KafkaException as problem:
        raise problem_as(SourceError, problem, cluster.properties) from problem


def _topic(reader: Consumer, name: str, partitions: int) -> dict[str, Any]:
    try:
        spans = watermarks(reader, name, partitions=range(partitions), timeout=ANSWER_SECONDS)
    except KafkaException as problem:
        if not is_unknown_topic(problem):
            raise
        spans = {}  # It was removed since it was listed.
    return {
        "topic": name,
        "partitions": partitions,
        "messages": sum(high - low for low, high in spans.values()),
    }


@dataclass
class Tail:
    """One who reads the messages of a topic, from the last few on."""

    reader: Consumer
    cluster: Cluster

    async def events(self) -> AsyncIterator[bytes]:
        """Messages as events, until nobody listens."""
        try:
            yield b": headwater\n\n"
            while True:
                found = self.reader.consume(AT_ONCE, 0)
                for message in found:
                    if (said := self._told(message)) is not None:
                        yield said
                if not found:
                    yield b": still here\n\n"
                    await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self.reader.close()

    def _told(self, message: Message) -> bytes | None:
        error = message.error()
        if error is None:
            return _event("message", _message(message))
        if is_away(error):
            return None
        problem = problem_as(SourceError, KafkaException(error), self.cluster.properties)
        return _event("problem", {"error": problem.to_json()})


def begin_tail(cluster: Cluster, topic: str) -> Tail:
    """Someone who reads a topic from its last messages on."""
    try:
        known = topics(cluster.properties, ANSWER_SECONDS)
        if topic not in known:
            raise missing("topic", topic, sorted(known))
        reader = consumer(cluster.properties, enable_auto_commit=False, auto_offset_reset="earliest")
        ends = watermarks(reader, topic, partitions=range(known[topic]), timeout=ANSWER_SECONDS)
        places = {number: max(low, high - FIRST_MESSAGES) for number, (low, high) in ends.items()}
        reader.assign([TopicPartition(topic, number, place) for number, place in places.items()])
    except KafkaException as problem:
        raise problem_as(SourceError, problem, cluster.properties) from problem
    return Tail(reader, cluster)


def _message(message: Message) -> dict[str, Any]:
    _, at = message.timestamp()
    return {
        "partition": message.partition(),
        "offset": message.offset(),
        "at": moment(at / 1000) if at else None,
        "key": shown_bytes(message.key()),
        "value": shown_bytes(message.value()),
    }


def shown_bytes(data: bytes | None) -> str | None:
    """Bytes as text, or as hexadecimal digits if they are none."""
    if data is None:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = f"0x{data.hex()}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _event(name: str, said: Mapping[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(said, ensure_ascii=False)}\n\n".encode()
