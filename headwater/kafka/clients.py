"""Clients of a cluster, and the few things asked of it everywhere: topics, ends, a topic that must exist.

    topics({"bootstrap.servers": "localhost:9092"})     # {"orders": 3}

What librdkafka has to say goes to the logger `headwater.kafka`, which prints nothing unless told to.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headwater.kafka.names import CONSUMER_ONLY, PRODUCER_ONLY
from headwater.kafka.problems import error_of, is_away, refused_property
from headwater.kafka.properties import client_config

Client = TypeVar("Client")

LOGGER = logging.getLogger("headwater.kafka")
LOGGER.addHandler(logging.NullHandler())

GROUP = "headwater"
"""The consumer group of readers that name none; librdkafka wants one even where it is not used."""

ASK_SECONDS = 10.0


class Heard:
    """The errors a client reported by itself; the first that says why is worth more than `timed out`."""

    def __init__(self) -> None:
        self.errors: list[KafkaError] = []

    def __call__(self, error: KafkaError) -> None:
        self.errors = [*self.errors[-9:], error]

    @property
    def is_refused(self) -> bool:
        """True if something was heard that waiting does not cure: a wrong password, a certificate."""
        return any(not is_away(error) for error in self.errors)

    def reason(self, problem: KafkaException) -> KafkaException:
        """The exception with the most telling cause that was heard, itself if there is none."""
        if not is_away(problem):
            return problem
        telling = [error for error in self.errors if not is_away(error)]
        away = [error for error in self.errors if error.code() != KafkaError._ALL_BROKERS_DOWN]
        return KafkaException((telling or away or [error_of(problem)])[-1])


def consumer(properties: Mapping[str, str], **extra: Any) -> Consumer:
    """A consumer; `extra` names are librdkafka's with `_` for `.` (`isolation_level="read_committed"`)."""
    config = {"group.id": GROUP} | _without(client_config(properties), PRODUCER_ONLY) | _dotted(extra)
    return _made(Consumer, config, properties)


def producer(properties: Mapping[str, str], **extra: Any) -> Producer:
    """A producer; `extra` as for `consumer`."""
    return _made(Producer, _without(client_config(properties), CONSUMER_ONLY) | _dotted(extra), properties)


def admin(properties: Mapping[str, str], **extra: Any) -> AdminClient:
    """An administrator; `extra` as for `consumer`."""
    config = _without(client_config(properties), PRODUCER_ONLY | CONSUMER_ONLY) | _dotted(extra)
    return _made(AdminClient, config, properties)


def _made(kind: Callable[..., Client], config: dict[str, Any], properties: Mapping[str, str]) -> Client:
    try:
        return kind({**config}, logger=LOGGER)
    except (KafkaException, ValueError, TypeError) as problem:
        raise refused_property(problem, properties) from None


_CALLBACKS = ("error_cb", "throttle_cb", "stats_cb", "oauth_cb", "on_delivery", "log_level")


def _dotted(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {name if name in _CALLBACKS else name.replace("_", "."): value for name, value in extra.items()}


def _without(config: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name not in names}


def topics(properties: Mapping[str, str], timeout: float = ASK_SECONDS) -> dict[str, int]:
    """Every topic and how many partitions it has; a KafkaException that says why if no broker answers."""
    heard = Heard()
    client = admin(properties, error_cb=heard)
    until = time.monotonic() + timeout
    while True:
        try:
            found = client.list_topics(timeout=min(1.0, max(0.1, until - time.monotonic())))
            return {name: len(t.partitions) for name, t in found.topics.items() if t.error is None}
        except KafkaException as problem:
            client.poll(0)
            if heard.is_refused or not is_away(problem) or time.monotonic() > until:
                raise heard.reason(problem) from None


def watermarks(
    client: Consumer, topic: str, *, partitions: Iterable[int], timeout: float = ASK_SECONDS
) -> dict[int, tuple[int, int]]:
    """For each partition its first offset and the one after its last, as this consumer's isolation level has it."""
    return {
        number: client.get_watermark_offsets(TopicPartition(topic, number), timeout=timeout, cached=False)
        for number in partitions
    }


def ensure_topic(
    properties: Mapping[str, str],
    name: str,
    *,
    partitions: int = -1,
    config: Mapping[str, str] | None = None,
    timeout: float = ASK_SECONDS,
) -> int:
    """Create a topic if it is missing, by the broker's defaults; how many partitions it has.

    Topics that exist stay as they are.
    """
    known = topics(properties, timeout)
    if name in known:
        return known[name]
    client = admin(properties)
    wanted = NewTopic(name, num_partitions=partitions, replication_factor=-1, config=dict(config or {}))
    try:
        client.create_topics([wanted], request_timeout=timeout)[name].result()
    except KafkaException as problem:
        if error_of(problem).code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
    return _once_known(properties, name, timeout)


def _once_known(properties: Mapping[str, str], name: str, timeout: float) -> int:
    """The partitions of a topic that was just made: brokers learn of it one after the other."""
    until = time.monotonic() + timeout
    while True:
        known = topics(properties, timeout)
        if known.get(name):
            return known[name]
        if time.monotonic() > until:
            raise KafkaException(
                KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, f"topic {name} does not appear")
            )
        time.sleep(0.05)
