"""A pizza place that tells its orders in messages of the log: one transaction holds the order and what is said of it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from psycopg2.extras import execute_values

from headwater.demo import outbox_data as data
from headwater.demo.claims import connected
from headwater.demo.package_files import connector_file, packaged, sql_file
from headwater.demo.session import DemoFolder
from headwater.demo.stage import Ports

NAME = "outbox"
CONNECTOR = "my_order_source_deb"
ORDERS_TOPIC, MESSAGES_TOPIC, OUTPUT_TOPIC = "my_pg.public.orders", "my_pg.message", "order_output"

EVERY_SECONDS = 1.0

ORDER = "order.sql"
"""One order, as people can send it by hand."""

_SEATED_AND_PIZZAS = re.compile(r"VALUES \(2, CURRENT_TIMESTAMP, '\{[\d,]*\}'\)")


def make_tables(uri: str) -> bool:
    """Make the tables and their first rows where there are none; True if rows were made."""
    with connected(uri) as connection, connection, connection.cursor() as cursor:
        cursor.execute(data.DDL)
        cursor.execute("SELECT EXISTS (SELECT FROM pizzas)")
        if cursor.fetchone()[0]:
            return False
        for insert, rows in data.INSERTS.items():
            execute_values(cursor, insert, rows)
        return True


class Waiter:
    """Takes orders of no, one and many pizzas in turn."""

    def __init__(self, connection: Any) -> None:
        # The script of an order begins and ends its transaction itself.
        connection.autocommit = True
        self._connection = connection
        with connection.cursor() as cursor:
            cursor.execute("SELECT coalesce(max(id), 0) FROM orders")
            (self._last,) = cursor.fetchone()
        self._dice = random.Random(self._last)

    def work(self, most: int) -> int:
        """One order."""
        self._last += 1
        pizzas = sorted(self._dice.sample(range(1, len(data.PIZZAS) + 1), (1, 3, 0, 2, 4)[self._last % 5]))
        seated = self._dice.randrange(len(data.SEATED)) + 1
        with self._connection.cursor() as cursor:
            cursor.execute(order_script(pizzas), {"seated": seated, "pizzas": pizzas})
        return 1


def order_script(pizzas: Sequence[int]) -> str:
    """The transaction of an order: the row and the message, with places for who sits where and for the pizzas."""
    text = packaged("outbox_order.sql" if pizzas else "outbox_order_without_pizzas.sql")
    script, count = _SEATED_AND_PIZZAS.subn("VALUES (%(seated)s, CURRENT_TIMESTAMP, %(pizzas)s)", text)
    assert count == 1
    return script


def write_files(folder: DemoFolder, ports: Ports) -> None:
    """Write the demo's pipelines, its connector and an order, with the addresses it has."""
    texts = {
        "outbox.sql": sql_file("outbox.sql", ports),
        "outbox-wal.sql": sql_file("outbox_wal.sql", ports),
        "orders-cdc.json": connector_file("orders-cdc.json", ports),
        ORDER: packaged("outbox_order.sql"),
    }
    for name, text in texts.items():
        (folder.path / name).write_text(text, encoding="utf-8")


def commands(folder: DemoFolder, ports: Ports) -> list[str]:
    """What to type in another terminal to look inside."""
    return [
        f"curl {ports.worker}/connectors/{CONNECTOR}/status",
        f"headwater tail {MESSAGES_TOPIC} --bootstrap {ports.broker}",
        f"headwater tail {OUTPUT_TOPIC} --keys --bootstrap {ports.broker}",
        order_command(folder),
    ]


def order_command(folder: DemoFolder) -> str:
    """How to send an order by hand."""
    return f"headwater demo psql {NAME}{folder.flag} < {folder.path / ORDER}"
