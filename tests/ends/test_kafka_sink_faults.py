"""Kill anything at any point: a batch is in a topic once, whole, or not at all.

Oracle: what a reader of committed messages sees, against the batches that were written.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from headwater.errors import SinkError
from headwater.kafka.clients import ensure_topic
from headwater.services.kafka import KafkaServer
from headwater.sinks.kafka import sink
from headwater.sinks.kafka.messages import Chunk
from tests.ends.kafka_child import POINTS
from tests.ends.kafka_world import ORDERS, Heard, latest, opened, pairs, upsert_table
from tests.ends.postgres_world import changes, wait_for
from tests.stage.shared import Settings, SharedKafka, closed_port, fresh

pytestmark = pytest.mark.services


def killed_at(point: str, kafka: SharedKafka, topic: str, *, pipeline: str) -> None:
    """Run a writer that is killed in its second batch."""
    command = [sys.executable, "-m", "tests.ends.kafka_child", kafka.address, topic, pipeline, point]
    child = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert child.returncode == -signal.SIGKILL, child.stderr[-2000:]


@pytest.mark.parametrize("point", POINTS)
def test_a_batch_of_a_killed_writer_is_there_once(kafka: SharedKafka, point: str) -> None:
    topic, pipeline = fresh("killed"), fresh("killed")
    killed_at(point, kafka, topic, pipeline=pipeline)
    table = upsert_table(kafka.plain, ORDERS, {"topic": topic})
    with opened(table, pipeline=pipeline) as written:
        assert written.last_batch() == (2 if point == "committed" else 1)
        written.write([changes(table, (-1, 1, "a"), (+1, 3, "c"))], 2)
        written.write([changes(table, (+1, 4, "d"))], 3)
    assert sorted(pairs(kafka.plain, topic), key=str) == sorted(
        [
            ({"id": 1}, {"id": 1, "name": "a"}),
            ({"id": 2}, {"id": 2, "name": "b"}),
            ({"id": 1}, None),
            ({"id": 3}, {"id": 3, "name": "c"}),
            ({"id": 4}, {"id": 4, "name": "d"}),
        ],
        key=str,
    )


def test_what_a_killed_pipeline_left_open_holds_up_others_only_until_it_starts_again(
    kafka: SharedKafka,
) -> None:
    pipeline, waits = fresh("left-open"), Heard()
    killed_at("entered", kafka, fresh("left-open"), pipeline=pipeline)
    other = upsert_table(kafka.plain, ORDERS, {"topic": fresh("other")})
    done: list[int | None] = []

    def open_other() -> None:
        with opened(other, waits=waits) as written:
            done.append(written.last_batch())

    thread = threading.Thread(target=open_other)
    thread.start()
    wait_for(lambda: bool(waits.said), seconds=120)
    assert "left open" in (waits.said[0] or "") and not done
    with opened(upsert_table(kafka.plain, ORDERS, {"topic": fresh("again")}), pipeline=pipeline):
        thread.join(120)
    assert done == [None] and waits.said[-1] is None


def test_no_reader_sees_half_a_batch(kafka: SharedKafka) -> None:
    table = upsert_table(kafka.plain, ORDERS, {"topic": fresh("half")})
    seen: dict[str, list[int]] = {"read_committed": [], "read_uncommitted": []}

    def batch() -> Iterator[Chunk]:
        for number in range(3):
            yield Chunk(table.name, [str(number)], ["1"], [0], [0], [None])
            written._writer._producer.flush()
            for isolation, counts in seen.items():
                counts.append(len(pairs(kafka.plain, table.name, isolation=isolation)))

    with opened(table) as written:
        written._writer.write(1, batch)
    assert seen == {"read_committed": [0, 0, 0], "read_uncommitted": [1, 2, 3]}
    assert len(pairs(kafka.plain, table.name)) == 3


def test_a_second_pipeline_of_the_same_name_stops_the_first(kafka: SharedKafka) -> None:
    table, pipeline = upsert_table(kafka.plain, ORDERS, {"topic": fresh("fenced")}), fresh("fenced")
    with opened(table, pipeline=pipeline) as first:
        first.write([changes(table, (+1, 1, "first"))], 1)
        with opened(table, pipeline=pipeline) as second:
            second.write([changes(table, (+1, 1, "second"))], 2)
            with pytest.raises(SinkError) as caught:
                first.write([changes(table, (+1, 1, "late"))], 3)
            assert caught.value.message == "another process writes for this pipeline"
            second.write([changes(table, (+1, 2, "goes on"))], 3)
    assert [value["name"] for _, value in pairs(kafka.plain, table.name)] == ["first", "second", "goes on"]


def test_a_transaction_that_took_too_long_is_written_again_by_a_new_producer(kafka: SharedKafka) -> None:
    table = upsert_table(kafka.plain, ORDERS, {"topic": fresh("slow")})
    tries: list[int] = []

    def batch() -> Iterator[Chunk]:
        tries.append(len(tries))
        yield Chunk(table.name, [str(len(tries))], ['"x"'], [0], [0], [None])
        if len(tries) == 1:
            # The broker ends the transaction by itself, and our producer with it.
            written._writer._producer.flush()
            wait_for(has_ended, seconds=120)
            # Whatever comes next may take its time.
            written._writer._properties = patient

    def has_ended() -> bool:
        marker = fresh("marker")
        kafka.write(table.name, [(b'"%s"' % marker.encode(), b"1")])
        shown = pairs(kafka.plain, table.name, isolation="read_committed")
        return any(key == marker for key, _ in shown)

    with opened(table) as written:
        patient = written._writer._properties
        written._writer._properties = {**patient, "transaction.timeout.ms": "1000"}
        written._writer._renew()
        written._writer.write(1, batch)
        assert written.last_batch() == 1
    found = [value for _, value in pairs(kafka.plain, table.name) if value == "x"]
    assert (len(tries), found) == (2, ["x"])


def test_a_broker_that_is_killed_is_waited_for(tmp_path: Path) -> None:
    waits, pipeline = Heard(), fresh("killed")
    with KafkaServer(tmp_path / "kafka") as broker:
        plain: Settings = {"bootstrap.servers": broker.address}
        table = upsert_table(plain, ORDERS, {"topic": "killed"})
        with opened(table, pipeline=pipeline, waits=waits) as written:
            written.write([changes(table, (+1, 1, "before"))], 1)
            broker.kill()
            writing = threading.Thread(target=lambda: written.write([changes(table, (+1, 2, "during"))], 2))
            writing.start()
            wait_for(lambda: bool(waits.said), seconds=120)
            broker.start()
            writing.join(120)
            assert written.last_batch() == 2
            written.write([changes(table, (-1, 1, "before"))], 3)
        assert latest(plain, "killed") == {'{"id": 2}': {"id": 2, "name": "during"}}
        assert len(pairs(plain, "killed")) == 3
    assert f"kafka at {broker.address} does not answer" in (waits.said[0] or "")
    assert waits.said[-1] is None


def test_a_broker_that_is_down_at_the_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "ensure_topic", partial(ensure_topic, timeout=1.0))
    with closed_port() as port:
        server = f"127.0.0.1:{port}"
        table = upsert_table({"bootstrap.servers": server}, ORDERS, {"topic": "t"})
        with pytest.raises(SinkError) as caught, opened(table):
            pass
    assert caught.value.message == f"kafka at {server} does not answer"
    assert "properties.bootstrap.servers" in caught.value.hint
