"""Topics of a real broker get what was written to them, once. Oracle: what a reader of committed messages sees."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME

from headwater.changes.change_set import ChangeSet, Files, weighted_schema
from headwater.errors import OptionError, SinkError
from headwater.sinks import keyed
from headwater.sinks.kafka import batches
from tests.ends.kafka_world import ORDERS, kafka_table, latest, opened, pairs, read_all, upsert_table
from tests.ends.postgres_world import changes, schema
from tests.stage.shared import SharedKafka, fresh

pytestmark = pytest.mark.services


def test_an_upsert_topic_follows_its_table(kafka: SharedKafka) -> None:
    table = upsert_table(kafka.plain, ORDERS, {"topic": fresh("upserts")})
    with opened(table) as sink:
        assert sink.last_batch() is None
        sink.write([changes(table, (+1, 1, "a"), (+1, 2, "b"))], 1)
        sink.write([changes(table, (-1, 1, "a"), (+1, 1, "c"), (-1, 2, "b"))], 2)
        assert sink.last_batch() == 2
    assert pairs(kafka.plain, table.name) == [
        ({"id": 1}, {"id": 1, "name": "a"}),
        ({"id": 2}, {"id": 2, "name": "b"}),
        ({"id": 2}, None),
        ({"id": 1}, {"id": 1, "name": "c"}),
    ]
    assert latest(kafka.plain, table.name) == {'{"id": 1}': {"id": 1, "name": "c"}}


def test_a_repeated_batch_changes_nothing_also_after_a_restart(kafka: SharedKafka) -> None:
    table = upsert_table(kafka.plain, ORDERS, {"topic": fresh("upserts")})
    pipeline = fresh("repeats")
    for _ in range(2):
        with opened(table, pipeline=pipeline) as sink:
            sink.write([changes(table, (+1, 1, "a"))], 7)
            sink.write([changes(table, (+1, 1, "a"))], 7)
            assert sink.last_batch() == 7
    assert len(read_all(kafka.plain, table.name)) == 1


def test_all_tables_of_a_cluster_are_one_transaction(kafka: SharedKafka) -> None:
    upserts = upsert_table(kafka.plain, ORDERS, {"topic": fresh("upserts")})
    events = kafka_table(kafka.plain, ORDERS, {"topic": fresh("events"), "format": "debezium-json"})
    with opened(upserts, events) as sink:
        sink.write([changes(upserts, (+1, 1, "a")), changes(events, (+1, 1, "a"))], 1)
        with pytest.raises(SinkError, match="two rows want the key"):
            sink.write([changes(events, (+1, 2, "b")), changes(upserts, (+1, 3, "x"), (+1, 3, "y"))], 2)
        assert len(read_all(kafka.plain, events.name)) == 1
        sink.write([changes(events, (+1, 2, "b")), changes(upserts, (+1, 3, "x"))], 2)
    assert len(read_all(kafka.plain, events.name)) == len(read_all(kafka.plain, upserts.name)) == 2


def test_debezium_events_say_what_came_and_what_went(kafka: SharedKafka) -> None:
    given = {
        "topic": fresh("events"),
        "value.format": "debezium-json",
        "key.format": "json",
        "key.fields": "id",
    }
    table = kafka_table(kafka.plain, ORDERS, given)
    with opened(table) as sink:
        sink.write([changes(table, (+1, 1, "new"), (-1, 1, "old"))], 1)
    old, new = {"id": 1, "name": "old"}, {"id": 1, "name": "new"}
    assert pairs(kafka.plain, table.name) == [
        ({"id": 1}, {"before": old, "after": None, "op": "d"}),
        ({"id": 1}, {"before": None, "after": new, "op": "c"}),
    ]


def test_a_result_that_changes_needs_a_format_that_can_say_so(kafka: SharedKafka) -> None:
    table = kafka_table(kafka.plain, ORDERS, {"topic": "orders", "format": "json"})
    with pytest.raises(SinkError) as caught, opened(table):
        pass
    assert caught.value.message == "sink table 'orders' cannot take rows that change or go"
    assert "upsert-kafka" in caught.value.hint and "debezium-json" in caught.value.hint


def test_formats_keys_prefixes_and_left_out_columns(kafka: SharedKafka) -> None:
    given = {
        "topic": fresh("prefixed"),
        "key.format": "raw",
        "key.fields-prefix": "k_",
        "value.format": "csv",
        "value.fields-include": "EXCEPT_KEY",
    }
    table = upsert_table(kafka.plain, schema("k_id string, a int, b string", "k_id"), given)
    with opened(table) as sink:
        sink.write([changes(table, (+1, "x", 1, "p,q"), (+1, "y", 2, None))], 1)
    found = [(m.key(), m.value()) for m in read_all(kafka.plain, table.name)]
    assert found == [(b"x", b'1,"p,q"'), (b"y", b"2,")]


def test_time_and_headers_come_from_metadata_columns(kafka: SharedKafka) -> None:
    columns = schema("id int, at timestamp, tags map<string,binary>")
    metadata = {"at": "timestamp", "tags": "headers"}
    table = kafka_table(
        kafka.plain, columns, {"topic": fresh("meta"), "format": "json"}, append_only=True, metadata=metadata
    )
    noon = datetime(2024, 1, 2, 12, tzinfo=UTC)
    with opened(table) as sink:
        sink.write([changes(table, (+1, 1, noon, [("a", b"\xff"), ("b", None)]), (+1, 2, None, None))], 1)
    first, second = read_all(kafka.plain, table.name)
    assert first.value() == b'{"id":1}'
    assert first.timestamp() == (TIMESTAMP_CREATE_TIME, int(noon.timestamp() * 1000))
    assert first.headers() == [("a", b"\xff"), ("b", None)]
    assert second.headers() is None and second.timestamp()[1] > noon.timestamp() * 1000
    refused = kafka_table(
        kafka.plain, columns, {"topic": "t", "format": "json"}, append_only=True, metadata={"id": "offset"}
    )
    with (
        pytest.raises(SinkError, match="metadata 'offset' of column 'id' cannot be written"),
        opened(refused),
    ):
        pass


@pytest.mark.parametrize(
    ("partitioner", "expected"), [("default", {1: 4}), ("fixed", {0: 4}), ("round-robin", {0: 2, 1: 1, 2: 1})]
)
def test_messages_without_a_key_go_where_the_partitioner_says(
    kafka: SharedKafka, partitioner: str, expected: dict[int, int]
) -> None:
    given = {"topic": kafka.topic("spread", partitions=3), "format": "json", "sink.partitioner": partitioner}
    table = kafka_table(kafka.plain, schema("id int"), given, append_only=True)
    with opened(table) as sink:
        sink.write([changes(table, *((+1, number) for number in range(4)))], 1)
    found = [message.partition() for message in read_all(kafka.plain, table.name)]
    assert {part: found.count(part) for part in set(found)} == expected


def test_a_key_goes_to_the_partition_javas_client_chooses(kafka: SharedKafka) -> None:
    # The partitions of these keys of 7, as org.apache.kafka.common.utils.Utils.murmur2 gives them.
    known = {"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536}
    table = upsert_table(
        kafka.plain,
        schema("k string, v int", "k"),
        {"topic": kafka.topic("murmur", partitions=7), "key.format": "raw"},
    )
    with opened(table) as sink:
        sink.write([changes(table, *((+1, key, 1) for key in known))], 1)
    found = {message.key(): message.partition() for message in read_all(kafka.plain, table.name)}
    assert found == {key.encode(): (number & 0x7FFFFFFF) % 7 for key, number in known.items()}


def test_a_large_batch_is_split_by_key_and_not_held(
    kafka: SharedKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyed, "PIECE_ROWS", 1000)
    table = upsert_table(kafka.plain, ORDERS, {"topic": fresh("large")})
    count = 5000
    ids = [*range(count), *range(0, count, 2)]
    weights = [1] * count + [-1] * (count // 2)
    rows = pa.table(
        [pa.array(ids), pa.array(["x"] * len(ids)), pa.array(weights)], names=["id", "name", "__hw_weight"]
    )
    pq.write_table(rows.cast(weighted_schema(ORDERS)), tmp_path / "part.parquet")
    with opened(table) as sink:
        sink.write([ChangeSet(table.name, ORDERS, (Files((tmp_path / "part.parquet",), len(ids)),))], 1)
        assert len(pairs(kafka.plain, table.name)) == count
    assert len(latest(kafka.plain, table.name)) == count


def test_the_batch_id_is_a_committed_message_anyone_can_read(kafka: SharedKafka) -> None:
    table = upsert_table(kafka.plain, ORDERS, {"topic": fresh("upserts")})
    pipeline = fresh("claims")
    with opened(table, pipeline=pipeline) as sink:
        sink.write([], 4711)
    owner = f"{pipeline} kafka-{kafka.address}".encode()
    values = [m.value() for m in read_all(kafka.plain, batches.TOPIC) if m.key() == owner]
    assert [json.loads(value or "")["batch_id"] for value in values] == [None, 4711]


@pytest.mark.parametrize("listener", ["ssl", "scram", "login"])
def test_over_certificates_and_passwords(kafka: SharedKafka, listener: str) -> None:
    settings = getattr(kafka, listener)
    table = upsert_table(settings, ORDERS, {"topic": fresh(listener)})
    with opened(table) as sink:
        sink.write([changes(table, (+1, 1, "a"))], 1)
    assert latest(settings, table.name) == {'{"id": 1}': {"id": 1, "name": "a"}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"topic": "a;b"}, "sink table 'a;b' names several topics"),
        ({"topic": "t", "properties.acks": "1"}, "kafka's client does not accept the properties"),
    ],
)
def test_what_cannot_be_written_is_refused_at_the_start(
    kafka: SharedKafka, given: dict[str, str], message: str
) -> None:
    with pytest.raises((SinkError, OptionError)) as caught, opened(upsert_table(kafka.plain, ORDERS, given)):
        pass
    assert message in caught.value.message


def test_tables_of_one_cluster_must_agree(kafka: SharedKafka) -> None:
    one = upsert_table(kafka.plain, ORDERS, {"topic": "one"})
    other = upsert_table(kafka.plain, ORDERS, {"topic": "other", "properties.compression.type": "lz4"})
    with pytest.raises(SinkError, match=r"differ in 'properties\.compression\.type'"), opened(one, other):
        pass


def test_a_message_that_is_too_large_names_its_topic_and_leaves_nothing(kafka: SharedKafka) -> None:
    small = kafka.topic("small", settings={"max.message.bytes": "1000"})
    table = upsert_table(kafka.plain, ORDERS, {"topic": small})
    with opened(table) as sink:
        with pytest.raises(SinkError) as caught:
            sink.write([changes(table, (+1, 1, "a"), (+1, 2, "x" * 5000))], 1)
        assert caught.value.message == f"a message for topic '{small}' is too large"
        sink.write([changes(table, (+1, 1, "a"))], 1)
    assert pairs(kafka.plain, small) == [({"id": 1}, {"id": 1, "name": "a"})]
