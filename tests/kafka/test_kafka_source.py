"""The kafka source delivers every message once, and the same ones again when a batch is repeated.

Oracle: what was written to the topics.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.errors import HeadwaterError
from headwater.log.events import Delivery
from headwater.log.positions import Position
from headwater.options import read_options
from headwater.schema import Column, Schema
from headwater.sources.base import SourceContext, SourceTable
from headwater.sources.kafka.options import KafkaOptions
from headwater.sources.kafka.source import KafkaSource
from tests.stage.shared import SharedKafka

pytestmark = pytest.mark.services

SECONDS = 120.0


def table(kafka: SharedKafka, topic: str, name: str = "t", **options: str) -> SourceTable:
    given = {"topic": topic, "properties.bootstrap.servers": kafka.address, "format": "raw"}
    given |= {"scan.startup.mode": "earliest-offset"} | {k.replace("_", "-"): v for k, v in options.items()}
    read = read_options(KafkaOptions, given, owner="connector 'kafka'", place=None)
    return SourceTable(name, Schema((Column("line", "string"),)), read)


def anew(declared: SourceTable) -> SourceTable:
    """A table of which the pipeline holds nothing."""
    return replace(declared, anew=True)


def opened(folder: Path, *tables: SourceTable, after: Position | None = None) -> KafkaSource:
    source = KafkaSource(tables, SourceContext("p", folder, lambda report: None))
    source.start(after)
    return source


def values(delivery: Delivery, name: str = "t") -> list[bytes]:
    rows = delivery.messages[name].rows if name in delivery.messages else None
    return (
        []
        if rows is None
        else rows.sort_by([("partition", "ascending"), ("offset", "ascending")])["value"].to_pylist()
    )


def upto_now(source: KafkaSource, after: Position | None) -> list[Delivery]:
    """Everything that is there, delivery by delivery."""
    goal, found, deadline = source.now(), [], time.monotonic() + SECONDS
    while after is None or after < goal:
        assert time.monotonic() < deadline
        delivery = source.read(after, 100, wait=0.2)
        if delivery is not None:
            after = delivery.position
            found.append(delivery)
    return found


def test_every_message_comes_once_and_a_restart_goes_on(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic(partitions=3)
    kafka.write(topic, [(b"%d" % n, b"v%d" % n) for n in range(50)])
    source = opened(tmp_path, table(kafka, topic))
    first = upto_now(source, None)
    assert sorted(v for d in first for v in values(d)) == sorted(b"v%d" % n for n in range(50))
    source.commit(first[-1].position)
    source.close()
    kafka.write(topic, [b"later"])
    again = opened(tmp_path, table(kafka, topic), after=first[-1].position)
    assert [v for d in upto_now(again, first[-1].position) for v in values(d)] == [b"later"]
    again.close()


def test_a_batch_that_was_interrupted_is_read_again_as_it_was(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a", b"b"])
    source = opened(tmp_path, table(kafka, topic))
    # The broker may hand out one message after the other.
    first, *_ = upto_now(source, None)
    kafka.write(topic, [b"c"])
    source.close()
    again = opened(tmp_path, table(kafka, topic))
    repeated = again.read(None, 100, upto=first.position)
    assert repeated is not None and repeated.position == first.position
    assert values(first) and values(repeated) == values(first)
    rest = [value for one in upto_now(again, first.position) for value in values(one)]
    assert values(first) + rest == [b"a", b"b", b"c"]
    again.close()


def test_a_first_batch_that_was_interrupted_is_not_read_a_third_time(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a", b"b", b"c"])
    options = {
        "scan.startup.mode": "specific-offsets",
        "scan.startup.specific-offsets": "partition:0,offset:1",
    }
    source = opened(tmp_path, anew(table(kafka, topic, **options)))
    first = source.read(None, 100, wait=SECONDS)
    # The broker may hand out one message after the other.
    assert first is not None and values(first)[:1] == [b"b"]
    source.close()
    kafka.write(topic, [b"d"])
    again = opened(tmp_path, anew(table(kafka, topic, **options)))
    assert [v for d in upto_now(again, None) for v in values(d)] == [b"b", b"c", b"d"]
    again.close()


def test_a_table_that_is_read_anew_gets_each_message_once_and_one_that_left_none(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a", b"b"])
    source = opened(tmp_path, table(kafka, topic, "one"), table(kafka, topic, "two"))
    last = upto_now(source, None)[-1].position
    source.commit(last)
    kafka.write(topic, [b"c"])
    assert source.read(last, 100, wait=SECONDS) is not None  # delivered, and stopped at
    source.close()
    again = opened(tmp_path, anew(table(kafka, topic, "one")), after=last)
    found = upto_now(again, last)
    assert [v for d in found for v in values(d, "one")] == [b"a", b"b", b"c"]
    assert not any("two" in d.messages for d in found)
    again.close()


def test_a_bound_that_is_taken_back_does_not_return(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a", b"b"])
    bound = {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:1"}
    source = opened(tmp_path, table(kafka, topic, **bound))
    last = upto_now(source, None)[-1].position
    source.close()
    for expected in ([b"b"], []):
        free = opened(tmp_path, table(kafka, topic), after=last)
        found = upto_now(free, last)
        assert [v for d in found for v in values(d)] == expected
        last = found[-1].position
        free.close()


def test_the_end_is_reached_behind_marks_of_transactions(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write_transaction(topic, [b"x", b"y"])
    source = opened(tmp_path, table(kafka, topic))
    assert [v for d in upto_now(source, None) for v in values(d)] == [b"x", b"y"]
    source.close()


def test_two_tables_of_one_topic_each_get_all_of_it_also_one_that_joins_later(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a", b"b"])
    source = opened(tmp_path, table(kafka, topic, "one"))
    last = upto_now(source, None)[-1].position
    source.commit(last)
    source.close()
    kafka.write(topic, [b"c"])
    both = opened(tmp_path, table(kafka, topic, "one"), table(kafka, topic, "two"), after=last)
    found = upto_now(both, last)
    assert [v for d in found for v in values(d, "one")] == [b"c"]
    assert [v for d in found for v in values(d, "two")] == [b"a", b"b", b"c"]
    both.close()


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"scan.startup.mode": "latest_offset"}, []),
        (
            {
                "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": "partition:0,offset:2",
            },
            [b"c"],
        ),
        ({"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "0"}, [b"a", b"b", b"c"]),
        (
            {
                "scan.bounded.mode": "specific-offsets",
                "scan.bounded.specific-offsets": "partition:0,offset:1",
            },
            [b"a"],
        ),
    ],
)
def test_where_reading_begins_and_ends(
    kafka: SharedKafka, tmp_path: Path, options: dict[str, str], expected: list[bytes]
) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a", b"b", b"c"])
    source = opened(tmp_path, table(kafka, topic, **{k: v.replace("_", "-") for k, v in options.items()}))
    assert [v for d in upto_now(source, None) for v in values(d)] == expected
    source.close()


def test_a_group_goes_on_where_it_was(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a", b"b"])
    options = {"scan.startup.mode": "group-offsets", "properties.group.id": topic}
    source = opened(tmp_path / "one", table(kafka, topic, **options))
    source.commit(upto_now(source, None)[-1].position)
    source.close()
    kafka.write(topic, [b"c"])
    other = opened(tmp_path / "two", table(kafka, topic, **options))
    assert [v for d in upto_now(other, None) for v in values(d)] == [b"c"]
    other.close()


def test_a_missing_topic_is_named_with_the_nearest(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic("shipments")
    with pytest.raises(HeadwaterError, match="does not exist") as raised:
        opened(tmp_path, table(kafka, topic + "x"))
    assert topic in raised.value.hint


def test_a_broker_that_is_not_there_is_said_at_the_start(tmp_path: Path) -> None:
    nobody = SharedKafka("127.0.0.1:1", "", "", "", "", "", "")
    with pytest.raises(HeadwaterError, match="does not answer"):
        opened(tmp_path, table(nobody, "t"))


def test_messages_that_were_removed_unread_are_an_error(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a"])
    source = opened(tmp_path, table(kafka, topic))
    last = upto_now(source, None)[-1].position
    source.close()
    kafka.write(topic, [b"b", b"c"])
    kafka.remove_before(topic, 2)
    with pytest.raises(HeadwaterError, match="no longer has what was not read yet"):
        opened(tmp_path, table(kafka, topic), after=last)


def test_topics_are_chosen_by_pattern_and_new_ones_are_found(kafka: SharedKafka, tmp_path: Path) -> None:
    one = kafka.topic("fit")
    kafka.write(one, [b"a"])
    options = {"topic-pattern": f"{one}.*", "scan.topic-partition-discovery.interval": "1 ms"}
    source = opened(tmp_path, table(kafka, "", **options))
    first = upto_now(source, None)
    other = kafka.topic(one)
    kafka.write(other, [b"b"])
    found, deadline, after = list[bytes](), time.monotonic() + SECONDS, first[-1].position
    while not found:
        assert time.monotonic() < deadline
        delivery = source.read(after, 100, wait=0.2)
        if delivery is not None:
            after = delivery.position
            found += values(delivery)
    assert found == [b"b"]
    source.close()


def test_partitions_that_are_added_are_read_from_their_beginning(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b"a"])
    source = opened(tmp_path, table(kafka, topic, **{"scan.topic-partition-discovery.interval": "1 ms"}))
    after = upto_now(source, None)[-1].position
    kafka.add_partitions(topic, 3)
    kafka.write(topic, [(b"%d" % n, b"v%d" % n) for n in range(20)])
    found, deadline = set[bytes](), time.monotonic() + SECONDS
    while len(found) < 20:
        assert time.monotonic() < deadline, found
        delivery = source.read(after, 100, wait=0.2)
        if delivery is not None:
            after = delivery.position
            found |= set(values(delivery))
    source.close()
