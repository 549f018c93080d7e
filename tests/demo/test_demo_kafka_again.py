"""`headwater demo claims-kafka`, started a second time in the same folder.

Oracle: the query as Postgres answers it, and what the connector has told in its topic.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.demo.played import Demo
from tests.demo.test_demo_kafka import follows

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(1200)]

TOPIC = "pg_claims.claims.accident_claims"


def snapshot_events(demo: Demo) -> int:
    """How many rows the connector has read in snapshots, all in all."""
    reader = Consumer({"bootstrap.servers": f"127.0.0.1:{demo.ports['kafka']}", "group.id": "count"})
    place = TopicPartition(TOPIC, 0, 0)
    _, end = reader.get_watermark_offsets(place, timeout=60)
    reader.assign([place])
    found = list(_values(reader, end))
    reader.close()
    return sum(json.loads(value)["op"] == "r" for value in found if value is not None)


def _values(reader: Consumer, end: int) -> Iterator[bytes | None]:
    while reader.position(reader.assignment())[0].offset < end:
        for message in reader.consume(1000, timeout=1.0):
            assert message.error() is None
            yield message.value()


def test_a_second_start_goes_on_where_the_first_was(folder_of_its_own: Path) -> None:
    with Demo("claims-kafka", folder_of_its_own) as demo:
        demo.says("\ntopic u claims.accident_claims")
        assert demo.end(signal.SIGINT) == 130
    before = demo.ports
    with Demo("claims-kafka", folder_of_its_own, "--for", "2s") as again:
        again.says("no new snapshot")
        again.says("\ntopic c claims.accident_claims")
        assert "claims-connector is RUNNING and goes on where it was" in again.told()
        assert again.ports == before
        follows(again)
        assert snapshot_events(again) == 1000
        assert again.end() == 0
    again.leaves_nothing()
