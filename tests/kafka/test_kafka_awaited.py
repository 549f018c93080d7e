"""A snapshot that goes on while a pipeline starts. Oracle: messages as Debezium marks them, written by hand."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from headwater.sources.kafka.told import is_within_snapshot
from tests.pipeline.world import Listening, pipeline, rows
from tests.postgres.world import wait_for
from tests.stage.shared import SharedKafka

pytestmark = [pytest.mark.services, pytest.mark.jvm]


def event(number: int, mark: str) -> bytes:
    """A row of a snapshot."""
    source = {"connector": "mysql", "snapshot": mark, "file": "a", "pos": 1}
    return json.dumps({"before": None, "after": {"id": number}, "source": source, "op": "r"}).encode()


@pytest.mark.parametrize(
    ("mark", "goes_on"),
    [("first_in_data_collection", True), ("true", True), ("last_in_data_collection", False), ("last", False)],
)
def test_what_a_row_of_a_snapshot_says_of_the_rest(mark: str, goes_on: bool) -> None:
    assert is_within_snapshot(event(1, mark)) == goes_on


def test_what_is_no_row_of_a_snapshot_ends_none() -> None:
    said = [
        None,
        b"",
        b'{"op": "c", "source": {"snapshot": "false"}}',
        b'{"source": {"snapshot": "incremental"}}',
    ]
    assert [is_within_snapshot(value) for value in said] == [False] * 4


def test_the_first_answer_waits_for_the_end_of_a_snapshot(kafka: SharedKafka, tmp_path: Path) -> None:
    """The rest of the snapshot is written when the source has said that it waits."""
    topic = kafka.topic("items")
    kafka.write(topic, [event(1, "first_in_data_collection"), event(2, "true")])
    listening = Listening()

    def end() -> None:
        wait_for(lambda: bool(listening.subjects("waiting")), seconds=120)
        kafka.write(topic, [event(3, "last_in_data_collection")])

    text = (
        "CREATE TABLE items (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka',"
        f" 'topic' = '{topic}', 'properties.bootstrap.servers' = '{kafka.address}',"
        " 'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json');\n"
        "CREATE VIEW n AS SELECT COUNT(*) AS n FROM items;"
    )
    ending = threading.Thread(target=end)
    ending.start()
    with pipeline(text, tmp_path, listening) as running:
        ending.join()
        while running.step(wait=10) is None:
            pass
        assert set(rows(running, "n")) == {(3,)}
