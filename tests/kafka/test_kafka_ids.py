"""A topic that was deleted and made anew is another topic: its messages are never taken for those of the old one.

Oracle: the id that the broker gives a topic, and what was written before and after.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from headwater.errors import SourceError
from headwater.log.positions import Position
from headwater.sources.kafka.source import KafkaSource
from tests.kafka.test_kafka_source import anew, opened, table, upto_now, values
from tests.stage.shared import SharedKafka, fresh

pytestmark = pytest.mark.services

MADE_ANEW = "topic '{}' was deleted and made anew"


def read_some(kafka: SharedKafka, folder: Path, topic: str) -> Position:
    """Read two messages of a topic, and stop."""
    kafka.write(topic, [b"a", b"b"])
    source = opened(folder, table(kafka, topic))
    last = upto_now(source, None)[-1].position
    source.commit(last)
    source.close()
    return last


def refused(source: KafkaSource, after: Position) -> SourceError:
    """The error that reading on comes to."""
    deadline = time.monotonic() + 120.0
    with pytest.raises(SourceError) as caught:
        while time.monotonic() < deadline:
            delivery = source.read(after, 100, wait=0.2)
            assert delivery is None or values(delivery) == []
    return caught.value


def test_a_topic_that_was_made_anew_and_grew_longer_is_refused_at_the_start(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic()
    last = read_some(kafka, tmp_path, topic)
    kafka.make_anew(topic)
    kafka.write(topic, [b"1", b"2", b"3"])
    with pytest.raises(SourceError) as caught:
        opened(tmp_path, table(kafka, topic), after=last)
    assert caught.value.message == MADE_ANEW.format(topic)
    assert "headwater drop" in caught.value.hint


def test_a_topic_that_is_made_anew_under_a_running_reader_is_refused(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a", b"b"])
    # As in production a client looks at its topics only now and then: it does not see that one was gone.
    source = opened(tmp_path, table(kafka, topic))
    last = upto_now(source, None)[-1].position
    kafka.make_anew(topic)
    kafka.write(topic, [b"1", b"2", b"3"])
    try:
        problem = refused(source, last)
    finally:
        source.close()
    assert topic in problem.message
    assert "made anew" in problem.message + problem.detail


def test_a_table_that_is_read_anew_takes_the_new_topic(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    last = read_some(kafka, tmp_path, topic)
    kafka.make_anew(topic)
    kafka.write(topic, [b"1", b"2", b"3"])
    source = opened(tmp_path, anew(table(kafka, topic)), after=last)
    assert [v for d in upto_now(source, last) for v in values(d)] == [b"1", b"2", b"3"]
    source.close()


def test_a_folder_from_before_ids_were_kept_goes_on_and_knows_them_from_then_on(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic()
    last = read_some(kafka, tmp_path, topic)
    with sqlite3.connect(tmp_path / "places.db") as ledger:
        ledger.execute("DROP TABLE topics")
    kafka.write(topic, [b"c"])
    source = opened(tmp_path, table(kafka, topic), after=last)
    assert [v for d in upto_now(source, last) for v in values(d)] == [b"c"]
    source.close()
    kafka.make_anew(topic)
    kafka.write(topic, [b"1", b"2", b"3", b"4"])
    with pytest.raises(SourceError) as caught:
        opened(tmp_path, table(kafka, topic), after=last)
    assert caught.value.message == MADE_ANEW.format(topic)


def test_a_topic_that_was_read_and_deleted_is_said_to_be_and_no_other_is_proposed(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic("orders")
    last = read_some(kafka, tmp_path, topic)
    kafka.write(f"{topic}-out", [b"near by name"], **{"allow.auto.create.topics": True})
    kafka.delete(topic)
    with pytest.raises(SourceError) as caught:
        opened(tmp_path, table(kafka, topic), after=last)
    assert caught.value.message == f"topic '{topic}' was deleted"
    assert "Did you mean" not in caught.value.hint
    with pytest.raises(SourceError) as caught:
        opened(tmp_path / "other", table(kafka, fresh("orders")))
    assert "does not exist" in caught.value.message
