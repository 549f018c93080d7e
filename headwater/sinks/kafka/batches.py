"""The topic `headwater_batches`: which batch of which pipeline a cluster holds, and who writes it.

    claims kafka-localhost:9092 | {"batch_id":4711,"writer":"9f0c..."}

A message is sent in the transaction that writes the rows, so rows and batch id are true together.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from headwater.kafka.clients import consumer, ensure_topic, watermarks

TOPIC = "headwater_batches"

TOPIC_CONFIG = {
    # Small segments are compacted soon, so whoever starts reads little.
    "cleanup.policy": "compact",
    "segment.bytes": str(1 << 20),
    "min.cleanable.dirty.ratio": "0.1",
}

READ_SECONDS = 30.0


@dataclass(frozen=True)
class Entry:
    """The last batch that was written, None before the first, and the mark of the process that wrote it."""

    batch_id: int | None
    writer: str

    def to_text(self) -> str:
        """The value of its message."""
        return json.dumps({"batch_id": self.batch_id, "writer": self.writer}, separators=(",", ":"))


def prepare(properties: Mapping[str, str]) -> None:
    """Make the topic if it is missing."""
    ensure_topic(properties, TOPIC, partitions=1, config=TOPIC_CONFIG)


def read(properties: Mapping[str, str], owner: str, *, waits: Callable[[], None]) -> Entry | None:
    """The last committed entry of an owner, None if there is none.

    Everything sent so far must be decided first: `waits` is called while a transaction of someone else is open,
    which a killed pipeline leaves until it starts again.
    """
    ends = consumer(properties, isolation_level="read_uncommitted")
    try:
        low, high = watermarks(ends, TOPIC, partitions=[0])[0]
    finally:
        ends.close()
    client = consumer(
        properties,
        isolation_level="read_committed",
        enable_auto_commit=False,
        enable_partition_eof=True,
        fetch_wait_max_ms=10,
    )
    try:
        client.assign([TopicPartition(TOPIC, 0, low)])
        return _last(client, owner, high=high, waits=waits)
    finally:
        client.close()


def _last(client: Consumer, owner: str, *, high: int, waits: Callable[[], None]) -> Entry | None:
    found: Entry | None = None
    place, key = 0, owner.encode()
    until = time.monotonic() + READ_SECONDS
    while place < high:
        message = client.poll(0.5)
        if message is None:
            if time.monotonic() > until and not place:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"topic {TOPIC} cannot be read"))
            waits()
            continue
        error = message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        if error is None and message.key() == key:
            found = _entry(message.value())
        place = (message.offset() or 0) + (1 if error is None else 0)
    return found


def _entry(value: bytes | None) -> Entry | None:
    if value is None:
        return None
    said = json.loads(value)
    return Entry(said["batch_id"], said["writer"])
