"""Topics of a real Kafka, listed and followed. Oracle: the messages as they were written."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.pipeline.world import command, process
from tests.postgres.world import wait_for
from tests.stage.shared import SharedKafka

pytestmark = pytest.mark.services


def flags(properties: Mapping[str, object]) -> list[str]:
    """Client properties as one types them."""
    return [word for name, value in properties.items() for word in ("--property", f"{name}={value}")]


def listed(said: str) -> dict[str, list[str]]:
    """The cells of each topic that was printed."""
    return {line.split("|")[1].strip(): line.split("|")[2:4] for line in said.splitlines() if "|" in line}


def test_topics_are_listed_with_their_partitions_and_messages(kafka: SharedKafka) -> None:
    topic, empty = kafka.topic("listed", partitions=3), kafka.topic("empty")
    kafka.write(topic, [(str(n).encode(), b"x") for n in range(20)])
    ran = command("topics", "--bootstrap", kafka.address)
    lines = listed(ran.out)
    assert ran.code == 0
    assert [cell.strip() for cell in lines[topic]] == ["3", "20"]
    assert [cell.strip() for cell in lines[empty]] == ["1", "0"]
    assert not any(name.startswith("_") for name in lines)
    everything = command("topics", "--bootstrap", kafka.address, "--internal")
    # Others make and delete topics of theirs meanwhile.
    assert everything.code == 0 and {topic, empty} <= set(listed(everything.out))


def test_what_is_there_is_shown_over_all_partitions(kafka: SharedKafka) -> None:
    topic = kafka.topic("followed", partitions=2)
    sent: list[bytes | tuple[bytes | None, bytes | None]] = [
        (str(n).encode(), b'{"n": %d}' % n) for n in range(9)
    ]
    kafka.write(topic, sent)
    ran = command("tail", topic, "--from-beginning", "--max", "9", "--keys", "--bootstrap", kafka.address)
    assert ran.code == 0
    assert sorted(ran.out.splitlines()) == [f'{n}  {{"n": {n}}}' for n in range(9)]
    few = command("tail", topic, "--from-beginning", "--max", "4", "--raw", "--keys", *flags(kafka.plain))
    assert len(few.out.splitlines()) == 4 and set(few.out.splitlines()) <= {
        f'{n}\t{{"n": {n}}}' for n in range(9)
    }


@pytest.mark.parametrize("way", ["ssl", "scram", "login"])
def test_secured_clusters_are_read_in_librdkafkas_words(kafka: SharedKafka, way: str) -> None:
    topic = kafka.topic("secured")
    kafka.write(topic, [b'{"a": 1}'])
    properties: Mapping[str, object] = getattr(kafka, way)
    ran = command("tail", topic, "--from-beginning", "--max", "1", *flags(properties))
    assert (ran.code, ran.out) == (0, '{"a": 1}\n')
    assert f"| {topic} " in command("topics", *flags(properties)).out


def test_secured_clusters_are_read_in_javas_words(
    kafka: SharedKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = kafka.topic("secured")
    kafka.write(topic, [b'{"a": 1}'])
    monkeypatch.setenv("TAIL_PASSWORD", kafka.password)
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    properties = {
        "bootstrap.servers": kafka.scram_address,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f'{module} required username="{kafka.user}" password="${{env:TAIL_PASSWORD}}";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(kafka.certificates.authority),
    }
    ran = command("tail", topic, "--from-beginning", "--max", "1", *flags(properties))
    assert (ran.code, ran.out) == (0, '{"a": 1}\n'), ran.err


def test_a_wrong_password_is_told_and_not_shown(kafka: SharedKafka) -> None:
    ran = command("topics", *flags(kafka.scram | {"sasl.password": "opensesame"}))
    assert ran.code == 1 and "does not accept the login" in ran.err
    assert "opensesame" not in ran.err and "--property sasl" in ran.err


def test_a_topic_that_is_not_there_is_an_error_with_a_near_name(kafka: SharedKafka) -> None:
    topic = kafka.topic("orders")
    ran = command("tail", f"{topic}x", "--bootstrap", kafka.address)
    assert ran.code == 1
    assert ran.err.splitlines()[0] == f"error: there is no topic '{topic}x'"
    assert f"hint: Did you mean '{topic}'?" in ran.err


def test_it_follows_from_now_on_until_ctrl_c(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic("live")
    kafka.write(topic, [b'"before"'])
    with process(tmp_path, "tail", topic, "--bootstrap", kafka.address) as running:
        wait_for(lambda: "what comes from now on" in (tmp_path / "err").read_text(), seconds=90)
        kafka.write(topic, [b'"after"', b'{"op": "c", "source": {"table": "t"}, "after": {"id": 1}}'])
        wait_for(lambda: (tmp_path / "out").read_text().count("\n") == 2, seconds=90)
        os.kill(running.pid, signal.SIGINT)
        assert running.wait(timeout=90) == 130
    assert (tmp_path / "out").read_text() == '"after"\nc t  id=1\n'
    assert "Traceback" not in (tmp_path / "err").read_text()
