"""Clients of a real broker, over each of its listeners. Oracles: the broker, and Kafka's own Java tools."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from headwater.errors import OptionError, SinkError
from headwater.kafka.clients import consumer, ensure_topic, topics, watermarks
from headwater.kafka.problems import problem_as, trouble
from headwater.kafka.properties import client_config, java_config
from headwater.services.artifacts import fetch
from headwater.services.java_program import java_command, properties
from headwater.services.postgres import EmbeddedPostgres
from tests.ends.kafka_world import texts
from tests.stage.shared import SharedKafka, closed_port, fresh

pytestmark = pytest.mark.services

JAAS = "org.apache.kafka.common.security.scram.ScramLoginModule required"


def java_names(kafka: SharedKafka, listener: str) -> dict[str, str]:
    """The properties of a listener as a user of Flink writes them."""
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(kafka.certificates.authority)}
    if listener == "ssl":
        key = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(kafka.certificates.client)}
        return {"bootstrap.servers": kafka.ssl_address, "security.protocol": "SSL", **trust, **key}
    return {
        "bootstrap.servers": kafka.scram_address,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f'{JAAS} username="{kafka.user}" password="{kafka.password}";',
        **trust,
    }


def listed_by_java(config: dict[str, str], folder: Path) -> list[str]:
    """The topics as Kafka's own tool lists them with these properties."""
    file = folder / "client.properties"
    file.write_text(properties(config))
    command = java_command(fetch("kafka"), "org.apache.kafka.tools.TopicCommand", heap="128m")
    command += ["--list", "--bootstrap-server", config["bootstrap.servers"], "--command-config", str(file)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert run.returncode == 0, run.stdout[-800:] + run.stderr[-800:]
    return run.stdout.split()


@pytest.mark.parametrize("listener", ["plain", "ssl", "scram", "login"])
def test_every_listener_is_reached_with_librdkafkas_names(kafka: SharedKafka, listener: str) -> None:
    topic = kafka.topic("seen", partitions=2)
    assert topics(texts(getattr(kafka, listener)))[topic] == 2


@pytest.mark.parametrize("listener", ["ssl", "scram"])
def test_every_listener_is_reached_with_javas_names(kafka: SharedKafka, listener: str) -> None:
    topic = kafka.topic("seen")
    assert topics(java_names(kafka, listener))[topic] == 1


@pytest.mark.parametrize("listener", ["ssl", "scram"])
def test_java_reaches_them_with_what_we_make_of_librdkafkas_names(
    kafka: SharedKafka, listener: str, tmp_path: Path
) -> None:
    topic = kafka.topic("seen")
    assert topic in listed_by_java(java_config(texts(getattr(kafka, listener))), tmp_path)


def test_a_missing_topic_is_made_once(kafka: SharedKafka) -> None:
    name = fresh("made")
    assert ensure_topic(texts(kafka.plain), name, partitions=3) == 3
    assert ensure_topic(texts(kafka.plain), name, partitions=7) == 3


def test_ends_follow_the_isolation_level(kafka: SharedKafka) -> None:
    topic = kafka.topic("ends")
    kafka.write(topic, [b"a", b"b"])
    reader = consumer(texts(kafka.plain), isolation_level="read_committed")
    assert watermarks(reader, topic, partitions=[0]) == {0: (0, 2)}
    reader.close()


def complaint(given: dict[str, str], *, seconds: float = 60.0) -> SinkError:
    """What is said of a client that is refused, as soon as it is; of one that hears nothing, after so many seconds."""
    with pytest.raises(KafkaException) as caught:
        topics(given, timeout=seconds)
    error = problem_as(SinkError, caught.value, given)
    assert isinstance(error, SinkError)
    return error


def test_a_wrong_password_is_named_and_not_shown(
    kafka: SharedKafka, capfd: pytest.CaptureFixture[str]
) -> None:
    error = complaint({**texts(kafka.scram), "sasl.password": "geheim"})
    assert error.message == f"kafka at {kafka.scram_address} does not accept the login"
    assert "sasl.jaas.config" in error.hint
    assert "geheim" not in f"{error.detail}{error.hint}"
    assert capfd.readouterr() == ("", ""), "librdkafka's own lines belong into the log"


def test_an_authority_that_did_not_sign_is_a_failure_of_tls(kafka: SharedKafka) -> None:
    error = complaint({**texts(kafka.scram), "ssl.ca.location": str(kafka.certificates.client_certificate)})
    assert error.message == f"the encrypted connection to kafka at {kafka.scram_address} failed"
    assert "certificate verify failed" in error.detail


def test_a_broker_that_is_not_there_does_not_answer() -> None:
    with closed_port() as port:
        server = f"127.0.0.1:{port}"
        error = complaint({"bootstrap.servers": server}, seconds=5.0)
    assert error.message == f"kafka at {server} does not answer"
    assert "Connection refused" in error.detail


def test_a_login_at_a_port_that_takes_none_is_told(kafka: SharedKafka) -> None:
    error = complaint({**texts(kafka.login), "bootstrap.servers": kafka.address})
    assert error.message == f"kafka at {kafka.address} takes no login on this port"
    assert "'properties.security.protocol' to PLAINTEXT" in error.hint


def test_a_server_that_is_not_kafka_is_told(postgres: EmbeddedPostgres) -> None:
    server = f"127.0.0.1:{postgres.port}"
    error = complaint({"bootstrap.servers": server})
    assert error.message == f"what answers at {server} is not kafka"
    assert "'properties.bootstrap.servers'" in error.hint


@pytest.mark.parametrize(
    "server", ["localhost:99999", "localhost:0", "localhost:kafka", "k:1,localhost:70000"]
)
def test_a_port_that_cannot_be_is_refused_before_anyone_is_asked(server: str) -> None:
    with pytest.raises(OptionError) as caught:
        topics({"bootstrap.servers": server})
    assert caught.value.message.startswith(
        "'properties.bootstrap.servers' does not take the value 'localhost:"
    )
    assert caught.value.detail == "A port is a number from 1 to 65535."


@pytest.mark.parametrize("server", ["localhost", "PLAINTEXT://localhost:9092", "[::1]:9092", "[::1]"])
def test_other_ways_to_write_a_server_are_let_through(server: str) -> None:
    assert client_config({"bootstrap.servers": server})["bootstrap.servers"] == server


def test_an_unknown_topic_is_named(kafka: SharedKafka) -> None:
    reader = consumer(texts(kafka.plain), allow_auto_create_topics=False)
    with pytest.raises(KafkaException) as caught:
        watermarks(reader, "nowhere", partitions=[0])
    reader.close()
    assert (
        trouble(caught.value, texts(kafka.plain), subject="topic 'nowhere'").message
        == "topic 'nowhere' does not exist"
    )
