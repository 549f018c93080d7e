"""What stands between the source and everyone where changes come over Kafka: one broker, one worker, Debezium.

Both run for as long as the course, and are nobody's processes. Each contender has a connector and topics of its own, in
which all first rows lie before it begins; when it is done both are removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer

from bench.contender import Failed, Ground, Job, Table, waited
from bench.watch import cursor
from bench.ways import SCHEMA, Topics
from headwater.connect.client import ConnectClient
from headwater.connect.files import Connector
from headwater.connect.troubles import reason_of
from headwater.kafka.clients import admin, consumer, topics, watermarks
from headwater.services.connect import ConnectWorker
from headwater.services.kafka import KafkaServer
from headwater.services.ports import HOST
from headwater.services.postgres_files import PASSWORD, USER
from headwater.services.process import Launch

HEAP = "1g"
BROKER = {"broker.session.timeout.ms": "60000"}
WORKER = {"session.timeout.ms": "60000"}
"""Who stands still on a busy machine is not taken for dead: a worker that is would tell rows twice."""

LARGE = {
    "max.batch.size": "8192",
    "max.queue.size": "65536",
    "poll.interval.ms": "10",
    "snapshot.fetch.size": "10000",
}
"""What makes every connector of Debezium fast."""

CONNECTOR = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "plugin.name": "pgoutput",
    "publication.autocreate.mode": "filtered",
    "provide.transaction.metadata": "true",
    # A delete is one event, not two.
    "tombstones.on.delete": "false",
    **LARGE,
}
TOLD_SECONDS = 1800.0

# In the session that made all changes: what it counted is there for all to see at once.
FLUSHED = "SELECT pg_stat_force_next_flush()"
COUNTED = "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables"


class Grown:
    """Takes a server's limits away that are made for a quick start."""

    def launch(self) -> Launch:
        """With the better compiler and more memory."""
        given: Launch = super().launch()  # type: ignore[misc]
        words = [f"-Xmx{HEAP}" if w.startswith("-Xmx") else w for w in given.command if "TieredStop" not in w]
        return replace(given, command=words)


class Broker(Grown, KafkaServer):
    """A broker for a long race."""


class Worker(Grown, ConnectWorker):
    """A worker for a long race."""


@dataclass(frozen=True)
class Relay:
    """Both at work, by their addresses."""

    broker: str
    worker: str

    def topics(self, prefix: str) -> Topics:
        """Topics that nobody else has."""
        return Topics(self.broker, self.worker, prefix)


@contextmanager
def relay(folder: Path) -> Iterator[Relay]:
    """Broker and worker, in folders of their own."""
    with (
        Broker(folder / "kafka", settings=BROKER) as kafka,
        Worker(folder / "connect", kafka=kafka.address, settings=WORKER) as worker,
    ):
        yield Relay(kafka.address, worker.url)


def settings() -> Mapping[str, str]:
    """How all of it is set up: for the page."""
    return {"heap of each": HEAP, **BROKER, **WORKER, **CONNECTOR, "events": "JSON without schemas"}


@contextmanager
def telling(job: Job, ground: Ground, rows: int, besides: Mapping[str, str]) -> Iterator[None]:
    """Let a connector tell the source, if it is read from topics; so many first rows lie there when the block begins."""
    if (told := ground.topics) is None:
        yield
        return
    connect = ConnectClient(told.worker)
    connect.put(connector(told, job, ground, besides))
    try:
        connect.wait(told.prefix)
        with cursor(ground.uri(ground.source)) as source:
            all_told(told, job.tables, rows, source)
        yield
    finally:
        connect.delete(told.prefix)
        forget(told)


def connector(told: Topics, job: Job, ground: Ground, besides: Mapping[str, str]) -> Connector:
    """One connector for all tables, so that they share one order of transactions; `besides` is a contender's own."""
    where = {
        "database.hostname": HOST, "database.port": str(ground.server.port), "database.user": USER,
        "database.password": PASSWORD, "database.dbname": ground.source,
    }  # fmt: skip
    own = dict.fromkeys(("topic.prefix", "slot.name", "publication.name"), told.prefix)
    tables = ",".join(f"{SCHEMA}.{table.name}" for table in job.tables)
    return Connector(told.prefix, {**CONNECTOR, **where, **own, "table.include.list": tables, **besides})


def all_told(told: Topics, tables: Iterable[Table], rows: int, source: Any) -> None:
    """Wait until the topics hold the first rows and every change that the source has counted since it was copied."""
    source.execute(FLUSHED)
    source.execute(COUNTED)
    wanted = rows + int(source.fetchone()[0])
    names, connect = [told.of(table.name) for table in tables], ConnectClient(told.worker)

    def check() -> None:
        status = connect.find(told.prefix)
        for part in status.failed if status else ():
            raise Failed(f"Debezium failed: {reason_of(part.trace)}")

    with closing(consumer({"bootstrap.servers": told.broker})) as client:
        waited(
            lambda: held(client, told.broker, names) >= wanted,
            check,
            TOLD_SECONDS,
            f"{wanted:,} events of Debezium",
        )


def held(client: Consumer, broker: str, names: Iterable[str]) -> int:
    """How many messages some topics hold; one that is not there yet holds none."""
    known = topics({"bootstrap.servers": broker})
    found = [watermarks(client, name, partitions=range(known[name])) for name in names if name in known]
    return sum(end for each in found for _, end in each.values())


def forget(told: Topics) -> None:
    """Remove the topics; the room is for others."""
    properties = {"bootstrap.servers": told.broker}
    own = [name for name in topics(properties) if name.startswith(f"{told.prefix}.")]
    # Who asks has to stay until the answers are here.
    client = admin(properties)
    for gone in client.delete_topics(own).values() if own else ():
        gone.result()
