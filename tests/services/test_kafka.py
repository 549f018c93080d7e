"""A real Kafka, as clients meet it. Oracle: what was written is what is read, over every listener."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.stage.shared import SharedKafka

pytestmark = pytest.mark.services


@pytest.mark.parametrize("listener", ["plain", "ssl", "scram", "login"])
def test_what_is_written_is_read_over(listener: str, kafka: SharedKafka) -> None:
    topic, settings = kafka.topic(), getattr(kafka, listener)
    kafka.write(topic, [(b"k", b"one"), (b"k", None), b"two"], **settings)
    assert kafka.read(topic, 3, **settings) == [(b"k", b"one"), (b"k", None), (None, b"two")]


def test_a_client_without_a_certificate_is_refused(kafka: SharedKafka) -> None:
    settings = {
        name: value for name, value in kafka.ssl.items() if name.split(".")[1] not in ("key", "certificate")
    }
    with pytest.raises(KafkaException):
        AdminClient({**settings, "log_level": "0"}).list_topics(timeout=2)


def test_a_wrong_password_is_refused(kafka: SharedKafka) -> None:
    with pytest.raises(KafkaException):
        AdminClient({**kafka.scram, "sasl.password": "wrong", "log_level": "0"}).list_topics(timeout=2)
