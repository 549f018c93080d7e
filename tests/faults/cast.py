"""The whole cast on a stage of its own: Postgres, Kafka, Connect with Debezium, OpenSearch, and a pipeline over them."""

from __future__ import annotations

import json
import random
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psycopg2
from confluent_kafka import Consumer, TopicPartition

from headwater.connect.client import ConnectClient
from headwater.connect.files import connector_of
from headwater.kafka.clients import topics
from headwater.services.connect import ConnectWorker
from headwater.services.kafka import KafkaServer
from headwater.services.opensearch import OpenSearchServer
from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.pipeline.world import process
from tests.postgres.world import wait_for

KINDS = ("shark", "spider", "snake", "octopus", "crocodile")

Totals = dict[str, tuple[int, int]]
"""For each kind how many claims there are, and their sum."""

QUERY = "SELECT kind, count(*), sum(amount) FROM claims GROUP BY kind"

TABLES = """
CREATE TABLE claims (id serial PRIMARY KEY, kind text NOT NULL, amount int NOT NULL);
INSERT INTO claims (kind, amount) SELECT (ARRAY['shark', 'spider', 'snake'])[1 + n % 3], n FROM generate_series(1, 60) n;
"""

SCRIPT = """
CREATE TABLE claims (id INT, kind STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'faults.public.claims', 'properties.bootstrap.servers' = '{kafka}',
  'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');
CREATE VIEW totals AS SELECT kind, COUNT(*) AS n, SUM(amount) AS total FROM claims GROUP BY kind;
CREATE TABLE documents (kind STRING, n BIGINT, total BIGINT, PRIMARY KEY (kind) NOT ENFORCED) WITH (
  'connector' = 'elasticsearch-7', 'hosts' = '{search}', 'index' = 'totals');
CREATE TABLE messages (kind STRING, n BIGINT, total BIGINT, PRIMARY KEY (kind) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'totals', 'properties.bootstrap.servers' = '{kafka}',
  'key.format' = 'json', 'value.format' = 'json');
INSERT INTO documents SELECT kind, n, total FROM totals;
INSERT INTO messages SELECT kind, n, total FROM totals;
"""

CONNECTOR = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "topic.prefix": "faults",
    "table.include.list": "public.claims",
    "plugin.name": "pgoutput",
    "provide.transaction.metadata": "true",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable": "false",
    "value.converter.schemas.enable": "false",
}


@dataclass
class Cast:
    """Everyone who plays, and how each is killed and comes back."""

    folder: Path
    postgres: EmbeddedPostgres
    kafka: KafkaServer
    connect: ConnectWorker
    search: OpenSearchServer
    _closing: ExitStack = field(default_factory=ExitStack)
    running: subprocess.Popen[bytes] | None = None

    def register(self) -> None:
        """Let Debezium read the database."""
        secrets = self.folder / "secrets.properties"
        secrets.write_text("password=postgres\n")
        config = CONNECTOR | {
            "database.hostname": "127.0.0.1",
            "database.port": str(self.postgres.port),
            "database.user": "postgres",
            "database.password": f"${{file:{secrets}:password}}",
            "database.dbname": "postgres",
        }
        client = ConnectClient(self.connect.url)
        client.put(connector_of(json.dumps({"name": "faults", "config": config}), "faults.json"))
        assert not client.wait("faults", seconds=180).failed

    def topics(self) -> set[str]:
        """What the broker holds."""
        return set(topics({"bootstrap.servers": self.kafka.address}, 90))

    def start_pipeline(self) -> None:
        """Run the pipeline as a program of its own, anew or where it was."""
        script = self.folder / "totals.sql"
        script.write_text(SCRIPT.format(kafka=self.kafka.address, search=self.search.url))
        words = ("run", script, "--state", self.folder / "state")
        self.running = self._closing.enter_context(process(self.folder, *words))

    def kill(self, victim: str) -> None:
        """Kill one of them with -9, and start it again."""
        if victim == "pipeline":
            assert self.running is not None and self.running.poll() is None, self.said()
            self.running.kill()
            self.running.wait()
            self.start_pipeline()
            return
        server = {"broker": self.kafka, "connector": self.connect, "search": self.search}[victim]
        server.kill()
        server.start()

    def said(self) -> str:
        """What the pipeline said last."""
        texts = [(self.folder / name).read_text() for name in ("out", "err") if (self.folder / name).exists()]
        return "\n".join(texts)[-3000:]

    def expected(self) -> Totals:
        """What Postgres itself answers."""
        client = psycopg2.connect(self.postgres.uri)
        try:
            with client, client.cursor() as cursor:
                cursor.execute(QUERY)
                return {kind: (count, total) for kind, count, total in cursor.fetchall()}
        finally:
            client.close()

    def documents(self) -> Totals:
        """What the index holds, as a dashboard would see it."""
        urlopen(Request(f"{self.search.url}/totals/_refresh", method="POST"), timeout=120).read()
        said = json.load(urlopen(f"{self.search.url}/totals/_search?size=100", timeout=120))
        found = [hit["_source"] for hit in said["hits"]["hits"]]
        return {row["kind"]: (row["n"], row["total"]) for row in found}

    def messages(self) -> Totals:
        """The last committed value of each key in the output topic."""
        found: dict[bytes, Any] = {}
        for key, value in last_values(self.kafka.address, "totals").items():
            found[key] = json.loads(value)
        return {row["kind"]: (row["n"], row["total"]) for row in found.values()}

    def become_equal(self, *, seconds: float = 300.0) -> None:
        """Wait until both outputs hold what the query gives."""
        expected = self.expected()
        seen: list[object] = []

        def equal() -> bool:
            assert self.running is not None and self.running.poll() is None, self.said()
            try:
                seen[:] = [self.documents(), self.messages()]
            except OSError as problem:
                seen[:] = [problem]
            return seen == [expected, expected]

        try:
            wait_for(equal, seconds=seconds)
        except AssertionError:
            raise AssertionError(f"expected {expected}\nseen {seen}\n{self.said()}") from None

    def close(self) -> None:
        """The pipeline goes; the servers are closed by whoever opened them."""
        self._closing.close()


@contextmanager
def cast(folder: Path) -> Iterator[Cast]:
    """All of them, started side by side."""
    with ExitStack() as closing:
        postgres = closing.enter_context(temporary_postgres())
        kafka, search = KafkaServer(folder / "kafka"), OpenSearchServer(folder / "search")
        starting = threading.Thread(target=search.start)
        starting.start()
        closing.enter_context(kafka)
        connect = ConnectWorker(folder / "connect", kafka=kafka.address)
        closing.enter_context(connect)
        starting.join()
        closing.callback(search.stop)
        client = psycopg2.connect(postgres.uri)
        with client, client.cursor() as cursor:
            cursor.execute(TABLES)
        client.close()
        found = Cast(folder, postgres, kafka, connect, search)
        closing.callback(found.close)
        yield found


class Life:
    """Changes without end, several rows a transaction, until it is stopped."""

    def __init__(self, uri: str, seed: int) -> None:
        self._uri, self._dice = uri, random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._live)
        self._transactions = 0

    def __enter__(self) -> Life:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def go_on(self, transactions: int) -> None:
        """Wait for so many transactions more."""
        until = self._transactions + transactions
        wait_for(lambda: self._transactions >= until, seconds=120)

    def _live(self) -> None:
        client = psycopg2.connect(self._uri)
        while not self._stop.wait(0.02):
            with client, client.cursor() as cursor:
                for _ in range(self._dice.randint(1, 4)):
                    self._change(cursor)
            self._transactions += 1
        client.close()

    def _change(self, cursor: Any) -> None:
        kind, amount = self._dice.choice(KINDS), self._dice.randint(1, 100)
        match self._dice.randrange(4):
            case 0 | 1:
                cursor.execute("INSERT INTO claims (kind, amount) VALUES (%s, %s)", [kind, amount])
            case 2:
                one = "SELECT id FROM claims ORDER BY id DESC OFFSET %s LIMIT 1"
                cursor.execute(
                    f"UPDATE claims SET kind = %s, amount = %s WHERE id = ({one})",
                    [kind, amount, self._dice.randrange(20)],
                )
            case _:
                one = "SELECT id FROM claims ORDER BY id OFFSET %s LIMIT 1"
                cursor.execute(f"DELETE FROM claims WHERE id = ({one})", [self._dice.randrange(30)])


def last_values(address: str, topic: str) -> dict[bytes, bytes]:
    """The last committed value of each key of a topic, without those that were removed."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "looks-on",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    found: dict[bytes, bytes] = {}
    try:
        partitions = consumer.list_topics(topic, timeout=120).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        left, deadline = len(partitions), time.monotonic() + 120
        while left:
            message = consumer.poll(1.0)
            if time.monotonic() > deadline:
                raise OSError(f"topic {topic} does not come to its end")
            if message is None:
                continue
            if message.error() is not None:
                left -= 1
                continue
            key, value = message.key(), message.value()
            assert key is not None
            found.pop(key, None)
            if value is not None:
                found[key] = value
    finally:
        consumer.close()
    return found
