"""Views over topics follow what is written to them, through restarts, bad messages and large backlogs.

Oracle: what was written, and the same rows computed by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import HeadwaterError
from tests.pipeline.world import command, pipeline, rows
from tests.stage.shared import SharedKafka

pytestmark = [pytest.mark.services, pytest.mark.jvm]


def declared(kafka: SharedKafka, topic: str, columns: str, name: str = "t", **options: str) -> str:
    given = {
        "connector": "kafka",
        "topic": topic,
        "properties.bootstrap.servers": kafka.address,
        "scan.startup.mode": "earliest-offset",
        "format": "json",
    } | options
    listed = ", ".join(f"'{name}' = '{value}'" for name, value in given.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({listed});\n"


def event(op: str, before: Any, after: Any, lsn: int, ms: int = 0, **more: Any) -> bytes:
    """An event as Debezium's Postgres connector writes it, as far as we look at it."""
    source = {"connector": "postgresql", "name": "srv", "ts_ms": ms, "snapshot": "false", "db": "d"}
    source |= {"sequence": json.dumps([None, str(lsn)]), "schema": "public", "table": "t", "lsn": lsn}
    said = {"before": before, "after": after, "source": source, "transaction": None, "op": op, "ts_ms": ms}
    return json.dumps(said | more).encode()


def test_a_view_over_json_follows_the_topic_and_goes_on_after_a_restart(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic(partitions=2)
    kafka.write(topic, [b'{"who": "ann", "n": 1}', b'{"who": "bob", "n": 2}'])
    text = declared(kafka, topic, "who STRING, n INT") + (
        "CREATE VIEW v AS SELECT who, SUM(n) AS total FROM t GROUP BY who;"
    )
    with pipeline(text, tmp_path) as first:
        first.run_once()
        assert rows(first, "v") == Counter({("ann", 1): 1, ("bob", 2): 1})
        kafka.write(topic, [b'{"who": "ann", "n": 5}'])
        first.run_once()
        assert rows(first, "v") == Counter({("ann", 6): 1, ("bob", 2): 1})
    kafka.write(topic, [b'{"who": "cem", "n": 7}'])
    with pipeline(text, tmp_path) as second:
        assert rows(second, "v") == Counter({("ann", 6): 1, ("bob", 2): 1})
        second.run_once()
        assert rows(second, "v") == Counter({("ann", 6): 1, ("bob", 2): 1, ("cem", 7): 1})


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_changes_of_debezium_are_followed_and_repeats_change_nothing(
    kafka: SharedKafka, tmp_path: Path, key: str
) -> None:
    topic = kafka.topic()
    text = declared(kafka, topic, "id INT, n INT" + key, format="debezium-json")
    text += "CREATE VIEW v AS SELECT id, n FROM t;"
    said = [
        event("c", None, {"id": 1, "n": 1}, 1),
        event("c", None, {"id": 2, "n": 2}, 2),
        event("u", {"id": 1, "n": 1}, {"id": 1, "n": 10}, 3),
        event("d", {"id": 2, "n": 2}, None, 4),
    ]
    with pipeline(text, tmp_path) as running:
        kafka.write(topic, [*said, (b"k", None)])
        running.run_once()
        assert rows(running, "v") == Counter({(1, 10): 1})
        kafka.write(topic, [*said[1:], event("c", None, {"id": 3, "n": 3}, 5)])
        running.run_once()
        assert rows(running, "v") == Counter({(1, 10): 1, (3, 3): 1})


def test_a_table_that_leaves_the_script_and_comes_back_has_all_its_rows(
    kafka: SharedKafka, tmp_path: Path
) -> None:
    topic = kafka.topic()
    kafka.write(topic, [event("c", None, {"id": 1, "n": 1}, 1), event("c", None, {"id": 2, "n": 2}, 2)])
    other = declared(kafka, kafka.topic(), "x INT", "other") + "CREATE VIEW w AS SELECT x FROM other;\n"
    key = "id INT, n INT, PRIMARY KEY (id) NOT ENFORCED"
    text = (
        other + declared(kafka, topic, key, format="debezium-json") + "CREATE VIEW v AS SELECT id, n FROM t;"
    )
    for script in (text, other, text):
        with pipeline(script, tmp_path) as running:
            running.run_once()
            if script == text:
                assert rows(running, "v") == Counter({(1, 1): 1, (2, 2): 1})


def test_a_message_that_cannot_be_read_stops_and_is_not_lost(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write(topic, [b'{"n": 1}', b'{"n": oh', b'{"n": 3}'])
    text = declared(kafka, topic, "n INT") + "CREATE VIEW v AS SELECT n FROM t;"
    with pipeline(text, tmp_path) as stopped, pytest.raises(HeadwaterError) as raised:
        stopped.run_once()
    assert topic in raised.value.message and "message 1" in raised.value.detail
    assert "dead-letter" in raised.value.hint
    parked = text.replace("'format'", "'errors' = 'dead-letter', 'format'")
    parked += "CREATE VIEW letters AS SELECT topic, `offset`, CAST(value AS STRING) AS said FROM headwater.dead_letters;"
    with pipeline(parked, tmp_path) as going:
        going.run_once()
        assert rows(going, "v") == Counter({(1,): 1, (3,): 1})
        assert rows(going, "letters") == Counter({(topic, 1, '{"n": oh'): 1})


def test_the_last_value_of_each_key_counts_in_upsert_kafka(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write(topic, [(b'{"id":1}', b'{"id":1,"n":1}'), (b'{"id":2}', b'{"id":2,"n":2}')])
    given = (
        f"'connector' = 'upsert-kafka', 'topic' = '{topic}', 'key.format' = 'json', 'value.format' = 'json'"
    )
    text = (
        "CREATE TABLE t (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"({given}, 'properties.bootstrap.servers' = '{kafka.address}');\n"
        "CREATE VIEW v AS SELECT id, n FROM t;"
    )
    with pipeline(text, tmp_path) as running:
        running.run_once()
        assert rows(running, "v") == Counter({(1, 1): 1, (2, 2): 1})
        kafka.write(topic, [(b'{"id":1}', None), (b'{"id":2}', b'{"id":2,"n":5}')])
        running.run_once()
        assert rows(running, "v") == Counter({(2, 5): 1})


def test_metadata_columns_tell_where_a_message_stood(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.write(topic, [(b"a", b'{"n": 1}')])
    columns = "n INT, at BIGINT METADATA FROM 'offset', `partition` INT METADATA, k BYTES METADATA FROM 'key'"
    text = declared(kafka, topic, columns) + "CREATE VIEW v AS SELECT n, at, `partition`, k FROM t;"
    with pipeline(text, tmp_path) as running:
        running.run_once()
        assert rows(running, "v") == Counter({(1, 0, 0, b"a"): 1})


def test_explain_says_that_topics_without_transactions_are_weaker(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic("srv.public.orders")
    text = declared(kafka, topic, "id INT, n INT", format="debezium-json") + "SELECT id FROM t;"
    (tmp_path / "p.sql").write_text(text)
    told = command("explain", tmp_path / "p.sql")
    assert told.code == 0 and "weaker: each topic is right by itself" in told.out
