"""How fast changes of a MySQL are captured: our reader beside Debezium, on the same rows, in the same run.

    make bench-mysql
    make bench-mysql ARGS="--rows 1000000"

Ours ends in our log on disk, Debezium's (in Kafka Connect, with a heap of a gigabyte and large batches) in a
topic. Times run from the start of the capture to the last row; Kafka and Connect are up before.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pymysql
from confluent_kafka import Consumer

from bench.relay import LARGE, Broker, Worker, held
from headwater.connect.client import ConnectClient
from headwater.connect.files import Connector
from headwater.log.positions import Position
from headwater.options import read_options
from headwater.schema import Column, Schema
from headwater.services.mysql import MysqlServer
from headwater.sources.base import SourceContext, SourceTable
from headwater.sources.captured.source import CapturedSource
from headwater.sources.mysql.options import MysqlOptions
from headwater.sources.mysql.source import open_source

TABLE = """CREATE TABLE bench.orders (id INT PRIMARY KEY, customer INT NOT NULL, status VARCHAR(20) NOT NULL,
    total DECIMAL(10, 2) NOT NULL, placed DATETIME(6) NOT NULL, comments TEXT)"""
COLUMNS = {
    "id": "int", "customer": "int", "status": "string", "total": "decimal(10,2)", "placed": "timestamp_ntz",
    "comments": "string",
}  # fmt: skip
TOPIC = "bench.bench.orders"
PIECE = 1_000
DEADLINE = 600.0


def main() -> None:
    """First rows, then changes; ours, then Debezium's."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=300_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name, ExitStack() as closing:
        folder = Path(name)
        mysql = closing.enter_context(MysqlServer(folder / "mysql"))
        kafka = closing.enter_context(Broker(folder / "kafka"))
        connect = closing.enter_context(
            Worker(folder / "connect", kafka=kafka.address, plugins=("debezium-mysql",))
        )
        client = closing.enter_context(connected(mysql))
        fill(client, rows)
        source = open_source([declared(mysql)], SourceContext("bench", folder / "ours", lambda report: None))
        place, ours = timed(lambda: ours_until(source, None))
        source.close()
        debezium = ConnectClient(connect.url)
        _, theirs = timed(lambda: theirs_until(debezium, mysql, kafka.address, rows))
        show("first rows", rows, ours, theirs)
        debezium.pause("bench")
        change(client, rows)
        again = open_source([declared(mysql)], SourceContext("bench", folder / "ours", lambda report: None))
        _, ours = timed(lambda: ours_until(again, place))
        again.close()
        _, theirs = timed(lambda: resumed(debezium, kafka.address, rows))
        show("changes", rows, ours, theirs)


def timed(work: Callable[[], Position | None]) -> tuple[Position | None, float]:
    """What came of it, and how many seconds it took."""
    begin = time.perf_counter()
    made = work()
    return made, time.perf_counter() - begin


def show(what: str, rows: int, ours: float, theirs: float) -> None:
    """One line for each, and how they compare."""
    for who, taken in (("headwater", ours), ("debezium", theirs)):
        print(f"{what:<11} {who:<10} {taken:8.2f} s {rows / taken:10,.0f} rows/s")
    print(f"{what:<11} ratio      {theirs / ours:8.2f}")


@contextmanager
def connected(server: MysqlServer) -> Iterator[Any]:
    """A client of the server."""
    client = pymysql.connect(
        host="127.0.0.1", port=server.port, user=server.user, password=server.password, autocommit=True
    )
    yield client
    client.close()


def fill(client: Any, rows: int) -> None:
    """The first rows of the table."""
    with client.cursor() as cursor:
        cursor.execute("CREATE DATABASE bench")
        cursor.execute(TABLE)
        for begin in range(0, rows, PIECE):
            cursor.executemany(
                "INSERT INTO bench.orders VALUES (%s, %s, %s, %s, NOW(6), %s)",
                [
                    (n, n % 977, "In Process", f"{n % 9999}.25", f"note {n}")
                    for n in range(begin, begin + PIECE)
                ],
            )


def change(client: Any, rows: int) -> None:
    """Every row once, in transactions of a thousand."""
    with client.cursor() as cursor:
        for begin in range(0, rows, PIECE):
            cursor.execute(
                "UPDATE bench.orders SET status = 'Shipped', total = total + 1 WHERE id BETWEEN %s AND %s",
                [begin, begin + PIECE - 1],
            )


def declared(server: MysqlServer) -> SourceTable:
    """The table as a script would declare it."""
    given = {
        "hostname": "127.0.0.1", "port": str(server.port), "username": server.user, "password": server.password,
        "database-name": "bench", "table-name": "orders",
    }  # fmt: skip
    options = read_options(MysqlOptions, given, owner="connector 'mysql-cdc'", place=None)
    schema = Schema(tuple(Column(name, kind) for name, kind in COLUMNS.items()), ("id",))
    return SourceTable("orders", schema, options)


def ours_until(source: CapturedSource, after: Position | None) -> Position:
    """Read the log that the capture writes up to what is committed now."""
    source.start(after)
    target = source.now()
    while after is None or after < target:
        delivery = source.read(after, 100_000, wait=30.0)
        assert delivery is not None, f"nothing came after {after}"
        after = delivery.position
    return after


def theirs_until(client: ConnectClient, mysql: MysqlServer, kafka: str, rows: int) -> None:
    """Register the connector, and wait until its topic holds so many messages."""
    config = {
        "connector.class": "io.debezium.connector.mysql.MySqlConnector",
        "database.hostname": "127.0.0.1", "database.port": str(mysql.port), "database.user": mysql.user,
        "database.password": mysql.password, "database.server.id": "184054", "topic.prefix": "bench",
        "database.include.list": "bench", "include.schema.changes": "false",
        "schema.history.internal.kafka.bootstrap.servers": kafka,
        "schema.history.internal.kafka.topic": "bench.history",
        **LARGE,
        "key.converter": "org.apache.kafka.connect.json.JsonConverter", "key.converter.schemas.enable": "false",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false",
    }  # fmt: skip
    client.put(Connector("bench", config))
    grown(kafka, rows)


def resumed(client: ConnectClient, kafka: str, rows: int) -> None:
    """Let the connector go on, and wait until its topic has so many messages more."""
    client.resume("bench")
    grown(kafka, 2 * rows)


def grown(kafka: str, rows: int) -> None:
    """Wait until the topic holds so many messages."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "bench"})
    deadline = time.monotonic() + DEADLINE
    try:
        while (count := held(consumer, kafka, [TOPIC])) < rows:
            assert time.monotonic() < deadline, f"only {count} of {rows} rows came"
            time.sleep(0.05)
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
