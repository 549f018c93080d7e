"""A real Debezium over a Postgres, and its topics once more under another name, one of them late."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, Producer

from headwater.connect.client import ConnectClient
from headwater.connect.files import connector_of
from tests.postgres.world import Database, wait_for
from tests.stage.shared import SharedConnect, SharedKafka, fresh

LATE_SECONDS = 0.7


@contextmanager
def debezium_server(connect: SharedConnect, database: Database) -> Iterator[str]:
    """A connector over all tables of a database, with the ends of transactions told; what its topics begin with."""
    name = fresh("bank").replace("-", "_")
    config = {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(database.port),
        "database.user": "postgres",
        "database.password": "postgres",
        "database.dbname": database.name,
        "topic.prefix": name,
        "slot.name": name,
        "publication.name": name,
        "plugin.name": "pgoutput",
        "provide.transaction.metadata": "true",
        "slot.drop.on.stop": "true",
    }
    client = ConnectClient(connect.url)
    client.put(connector_of(json.dumps({"name": name, "config": config}), "bank.json"))
    try:
        assert not client.wait(name, seconds=180).failed
        wait_for_slot(database, name)
        yield name
    finally:
        client.delete(name)


def wait_for_slot(database: Database, name: str) -> None:
    """Wait until a slot has its place in the server's log: from then on nothing is missed by who reads it."""
    placed = f"SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = '{name}'"
    wait_for(lambda: any(at is not None for (at,) in database.run(placed)), seconds=120)


class Relay:
    """Hands the topics of one server on under another name, and holds one of them back."""

    def __init__(self, kafka: SharedKafka, server: str, other: str, late: str) -> None:
        self._kafka, self._server, self._other = kafka, server, other
        self.late = late
        """How the name of the topic ends that comes later; it may be another one from now on."""
        self._held: dict[str, deque[tuple[float, bytes | None, bytes | None]]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Relay:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        group = {"group.id": fresh("relay"), "auto.offset.reset": "earliest"}
        consumer = Consumer({**self._kafka.plain, **group, "topic.metadata.refresh.interval.ms": 500})
        producer = Producer({**self._kafka.plain, "linger.ms": 0})
        consumer.subscribe([f"^{self._server}\\..*"])
        while not self._stop.is_set():
            for message in consumer.consume(1000, timeout=0.02):
                if message.error() is None:
                    topic = str(message.topic()).replace(self._server, self._other, 1)
                    due = time.monotonic() + (LATE_SECONDS if topic.endswith(self.late) else 0.0)
                    self._held.setdefault(topic, deque()).append((due, message.key(), message.value()))
            self._hand_on(producer)
        producer.flush(30)
        consumer.close()

    def _hand_on(self, producer: Producer) -> None:
        """Send what is due; what came later to the same topic waits for what came before."""
        for topic, waiting in self._held.items():
            while waiting and waiting[0][0] <= time.monotonic():
                _, key, value = waiting.popleft()
                producer.produce(topic, value, key)
        producer.poll(0)
