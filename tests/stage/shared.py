"""The services all tests of a run share, as a test sees them: addresses, and fresh names to work under."""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from headwater.services.certificates import Certificates

READ_SECONDS = 90.0

Value = str | int | float | bool
Settings = dict[str, Value]
"""What a client of librdkafka is told."""


def fresh(hint: str) -> str:
    """A name nobody has used: `orders-3f2a91c0`."""
    return f"{hint}-{uuid.uuid4().hex[:8]}"


@contextmanager
def closed_port() -> Iterator[int]:
    """A port at which nobody listens: it is held, so that nobody else can take it meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


@dataclass(frozen=True)
class SharedKafka:
    """A broker with four listeners: plain, client certificates, SCRAM over TLS, PLAIN."""

    address: str
    ssl_address: str
    scram_address: str
    password_address: str
    user: str
    password: str
    folder: str

    @property
    def certificates(self) -> Certificates:
        """What clients of the SSL and SCRAM listeners need."""
        return Certificates(Path(self.folder))

    @property
    def plain(self) -> Settings:
        """librdkafka's settings for the plain listener."""
        return {"bootstrap.servers": self.address}

    @property
    def ssl(self) -> Settings:
        """librdkafka's settings for a client with a certificate."""
        return {
            "bootstrap.servers": self.ssl_address,
            "security.protocol": "SSL",
            "ssl.ca.location": str(self.certificates.authority),
            "ssl.certificate.location": str(self.certificates.client_certificate),
            "ssl.key.location": str(self.certificates.client_key),
        }

    @property
    def scram(self) -> Settings:
        """librdkafka's settings for SCRAM-SHA-512 over TLS."""
        return {
            "bootstrap.servers": self.scram_address,
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "ssl.ca.location": str(self.certificates.authority),
            "sasl.username": self.user,
            "sasl.password": self.password,
        }

    @property
    def login(self) -> Settings:
        """librdkafka's settings for PLAIN in the clear."""
        return {
            "bootstrap.servers": self.password_address,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": self.user,
            "sasl.password": self.password,
        }

    def topic(
        self, hint: str = "topic", *, partitions: int = 1, settings: Mapping[str, str] | None = None
    ) -> str:
        """Make a topic with a fresh name."""
        name = fresh(hint)
        new = NewTopic(name, partitions, 1, config=dict(settings or {}))
        # Kept until the answer is there: a client that nobody holds gives up its requests.
        client = AdminClient(self.plain)
        client.create_topics([new])[name].result(READ_SECONDS)
        _wait_until_shown(client, name, lambda found: found == partitions)
        return name

    def write(
        self, topic: str, values: Iterable[bytes | tuple[bytes | None, bytes | None]], **settings: Value
    ) -> None:
        """Write values, or (key, value) pairs, and wait until the broker has them."""
        producer = Producer({**self.plain, "linger.ms": "0", **settings})
        for given in values:
            key, value = given if isinstance(given, tuple) else (None, given)
            producer.produce(topic, value, key)
        assert producer.flush(READ_SECONDS) == 0

    def write_transaction(self, topic: str, values: Iterable[bytes], *, commits: bool = True) -> None:
        """Write values in one transaction of a producer of its own, and commit it or take it back."""
        producer = Producer({**self.plain, "transactional.id": fresh("writer")})
        producer.init_transactions(READ_SECONDS)
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value)
        producer.flush(READ_SECONDS)
        end = producer.commit_transaction if commits else producer.abort_transaction
        end(READ_SECONDS)

    def add_partitions(self, topic: str, count: int) -> None:
        """Give a topic so many partitions in all."""
        client = AdminClient(self.plain)
        client.create_partitions([NewPartitions(topic, count)])[topic].result(READ_SECONDS)
        _wait_until_shown(client, topic, lambda found: found == count)

    def make_anew(self, topic: str) -> None:
        """Delete a topic and make one of the same name."""
        self.delete(topic)
        client = AdminClient(self.plain)
        deadline = time.monotonic() + READ_SECONDS
        while True:
            try:
                client.create_topics([NewTopic(topic, 1, 1)])[topic].result(READ_SECONDS)
                break
            except KafkaException:
                # The name is free only when the deletion is through.
                assert time.monotonic() < deadline, f"{topic} is not deleted"
        _wait_until_shown(client, topic, lambda found: found == 1)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        client = AdminClient(self.plain)
        client.delete_topics([topic])[topic].result(READ_SECONDS)
        _wait_until_shown(client, topic, lambda found: found == 0)

    def remove_before(self, topic: str, offset: int) -> None:
        """Remove the messages of a topic's first partition before an offset, as its retention would."""
        client = AdminClient(self.plain)
        asked = client.delete_records([TopicPartition(topic, 0, offset)])
        for answer in asked.values():
            answer.result(READ_SECONDS)

    def read(self, topic: str, count: int, **settings: Value) -> list[tuple[bytes | None, bytes | None]]:
        """The first `count` keys and values of a topic, committed ones only; waits until they are there."""
        group = {"group.id": fresh("reader"), "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
        consumer = Consumer({**self.plain, **group, **settings})
        partitions: list[TopicPartition] = []
        found: list[tuple[bytes | None, bytes | None]] = []
        deadline = time.monotonic() + READ_SECONDS
        try:
            while len(found) < count:
                if not partitions:
                    numbers = consumer.list_topics(topic, timeout=READ_SECONDS).topics[topic].partitions
                    partitions = [TopicPartition(topic, number, 0) for number in numbers]
                    consumer.assign(partitions)
                assert time.monotonic() < deadline, f"{topic} has {len(found)} of {count} messages"
                for message in consumer.consume(count - len(found), timeout=0.2):
                    assert message.error() is None, message.error()
                    found.append((message.key(), message.value()))
        finally:
            consumer.close()
        return found


def _wait_until_shown(client: AdminClient, topic: str, is_so: Callable[[int], bool]) -> None:
    """Wait until the broker shows as many partitions of a topic as it should: it learns of a change after it was made."""
    deadline = time.monotonic() + READ_SECONDS
    while True:
        found = client.list_topics(timeout=READ_SECONDS).topics.get(topic)
        if is_so(0 if found is None else len(found.partitions)):
            return
        assert time.monotonic() < deadline, f"the change of {topic} does not show"
        time.sleep(0.02)


@dataclass(frozen=True)
class SharedConnect:
    """A Connect worker with Debezium's Postgres connector, on the shared Kafka."""

    url: str
    kafka: SharedKafka


@dataclass(frozen=True)
class SharedOpenSearch:
    """An OpenSearch node."""

    url: str

    def index(self, hint: str = "index") -> str:
        """A name for an index that is not there yet."""
        return fresh(hint)


@dataclass(frozen=True)
class SharedMysql:
    """A server of MySQL or MariaDB."""

    port: int
    user: str
    password: str
