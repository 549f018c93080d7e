"""A real Kafka, as clients meet it. Oracle: what was written is what is read, over every listener."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from headwater.services.certificates import Certificates
from headwater.services.java_program import properties
from headwater.services.kafka import Secured
from tests.stage.shared import Settings, SharedKafka


@pytest.mark.services
@pytest.mark.parametrize("listener", ["plain", "ssl", "scram", "login"])
def test_what_is_written_is_read_over(listener: str, kafka: SharedKafka) -> None:
    topic, settings = kafka.topic(), getattr(kafka, listener)
    kafka.write(topic, [(b"k", b"one"), (b"k", None), b"two"], **settings)
    assert kafka.read(topic, 3, **settings) == [(b"k", b"one"), (b"k", None), (None, b"two")]


def is_let_in(settings: Settings, *, seconds: float = 60.0) -> bool:
    """True if a client with these settings hears of the cluster."""
    try:
        AdminClient({**settings, "log_level": 0}).list_topics(timeout=seconds)
    except KafkaException:
        return False
    return True


def refused(settings: Settings) -> bool:
    """True if a client hears nothing, which takes it as long as it is given."""
    return not is_let_in(settings, seconds=1.0)


@pytest.mark.services
def test_who_cannot_say_who_they_are_is_refused(kafka: SharedKafka) -> None:
    stranger = {
        name: kafka.ssl[name] for name in ("bootstrap.servers", "security.protocol", "ssl.ca.location")
    }
    assert is_let_in(kafka.ssl) and refused(stranger)
    assert is_let_in(kafka.scram) and refused({**kafka.scram, "sasl.password": "wrong"})
    assert is_let_in(kafka.login) and refused({**kafka.login, "sasl.password": "wrong"})


def test_a_password_stands_in_no_text_of_its_settings(tmp_path: Path) -> None:
    secured = Secured(Certificates(tmp_path), user="ann", password="swordfish")
    assert "swordfish" not in repr(secured)


def test_properties_are_escaped() -> None:
    assert properties({"a": "C:\\x", "b": "one\ntwo"}) == "a=C:\\\\x\nb=one\\ntwo\n"
