"""A broker that goes away is said to be, and so is that it is back. Oracle: what was written before and after."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from headwater.kafka.clients import ensure_topic
from headwater.log.positions import Position
from headwater.options import read_options
from headwater.schema import Column, Schema
from headwater.services.kafka import KafkaServer
from headwater.sources.base import Report, SourceContext, SourceTable, is_back, waits
from headwater.sources.kafka.options import KafkaOptions
from headwater.sources.kafka.source import KafkaSource
from tests.kafka.test_kafka_source import values

SECONDS = 120.0


@pytest.mark.services
def test_a_broker_that_is_killed_is_said_to_be_away_and_then_to_be_back(tmp_path: Path) -> None:
    said: list[Report] = []
    with KafkaServer(tmp_path / "kafka") as broker:
        ensure_topic({"bootstrap.servers": broker.address}, "t", partitions=1)
        given = {
            "topic": "t",
            "properties.bootstrap.servers": broker.address,
            "format": "raw",
            "scan.startup.mode": "earliest-offset",
        }
        options = read_options(KafkaOptions, given, owner="connector 'kafka'", place=None)
        table = SourceTable("t", Schema((Column("line", "string"),)), options)
        source = KafkaSource([table], SourceContext("p", tmp_path / "source", said.append))
        source.start(None)
        first = source.read(None, 100, wait=1.0)
        assert first is not None and values(first) == []
        broker.kill()
        _read_until(source, first.position, said, count=1)
        broker.start()
        _read_until(source, first.position, said, count=2)
        source.close()
    who = f"kafka at {broker.address}"
    waited = [report.subject for report in said if report.stage == "waiting"]
    assert waited == [f"{who} does not answer; going on when it does", f"{who} is back; going on"]


def _read_until(source: KafkaSource, after: Position, said: list[Report], *, count: int) -> None:
    deadline = time.monotonic() + SECONDS
    while sum(report.stage == "waiting" for report in said) < count:
        assert time.monotonic() < deadline
        source.read(after, 100, wait=0.2)


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        ("kafka at k:9092 does not answer: Connection refused", "kafka at k:9092 is back; going on"),
        ("http://search:9200 answers 503: no master", "http://search:9200 is back; going on"),
        (
            "cannot connect to Postgres at h:5432, database 'd'",
            "Postgres at h:5432, database 'd' is back; going on",
        ),
        ("a transaction holds up topic t", "over: a transaction holds up topic t; going on"),
    ],
)
def test_the_end_of_a_wait_names_who_was_waited_for(trouble: str, expected: str) -> None:
    assert waits(trouble).subject == f"{trouble}; going on when it does"
    assert is_back(trouble).subject == expected
