"""`headwater demo outbox` as a program, over Kafka and straight from the log.

Oracle: the orders as Postgres has them, joined by hand with what was ordered.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.demo.played import PATIENCE, Demo, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(1200)]

FIRST_TOLD = 3
"""The orders before this one are first rows, of which nothing was said."""

ORDERS = """
SELECT o.id, c.name, t.name, coalesce(
    (SELECT json_agg(json_build_object('pizza', p.name, 'price', p.price) ORDER BY p.id)
     FROM pizzas p WHERE p.id = ANY (o.pizzas)), '[]')
FROM orders o JOIN table_assignment a ON a.id = o.table_assignment_id
    JOIN clients c ON c.id = a.client_id JOIN tables t ON t.id = a.table_id
WHERE o.id >= %s
"""

Orders = dict[int, tuple[Any, ...]]


def ordered(cursor: Any) -> Orders:
    """Every order that was told: who, where, what."""
    cursor.execute(ORDERS, [FIRST_TOLD])
    return {row[0]: (row[1], row[2], _by_name(row[3])) for row in cursor.fetchall()}


def _by_name(pizzas: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return sorted((pizza["pizza"], pizza["price"]) for pizza in pizzas)


def output(reader: Consumer, found: Orders) -> Orders:
    """The last values of the output topic by key, as far as they were read."""
    for message in reader.consume(1000, timeout=0.5):
        assert message.error() is None
        key, row = json.loads(message.key() or b""), json.loads(message.value() or b"")
        assert key == {"order_id": row["order_id"]}
        found[row["order_id"]] = (row["client_name"], row["table_name"], _by_name(json.loads(row["pizzas"])))
    return found


def test_orders_go_over_kafka_into_a_topic_by_key(folder_of_its_own: Path) -> None:
    folder = folder_of_its_own / "kafka"
    folder.mkdir()
    with Demo("outbox", folder) as demo:
        demo.says("topic order_output: ")
        # Orders of no, one and many pizzas come in turn, five before it begins anew.
        demo.says("order_id=8, ")
        settings = {"group.id": "look", "isolation.level": "read_committed"}
        reader = Consumer({"bootstrap.servers": f"127.0.0.1:{demo.ports['kafka']}", **settings})
        reader.assign([TopicPartition("order_output", 0, 0)])
        found: Orders = {}
        with demo.held("orders") as cursor:
            expected = ordered(cursor)
            assert wait_for(lambda: output(reader, found) == expected, PATIENCE), (found, expected)
        reader.close()
        assert {0, 1} < {len(pizzas) for _, _, pizzas in expected.values()}
    demo.leaves_nothing()


def test_orders_come_straight_from_the_log(folder_of_its_own: Path) -> None:
    folder = folder_of_its_own / "wal"
    folder.mkdir()
    with Demo("outbox", folder, "--no-kafka") as demo:
        demo.says("order_id=8, ")

        def shown() -> Orders:
            lines = re.findall(
                r"^\+ order_id=(\d+), client_name=(.*), table_name=(.*), pizzas=(.*) \(batch",
                demo.out.read_text(),
                re.MULTILINE,
            )
            texts = [(int(i), [None if t == "NULL" else t for t in (c, t)], p) for i, c, t, p in lines]
            return {i: (*names, _by_name(json.loads(pizzas))) for i, names, pizzas in texts}

        with demo.held("orders") as cursor:
            expected = ordered(cursor)
            assert wait_for(lambda: shown() == expected, PATIENCE), (shown(), expected)
    demo.leaves_nothing()
