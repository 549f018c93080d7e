"""Where the services of a demo live: their folders, and ports that stay the same from one start to the next.

Saved progress, connectors and topics name the addresses they belong to, so a demo keeps its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from headwater.demo.session import DemoFolder
from headwater.demo.together import Part
from headwater.errors import UsageError
from headwater.services.connect import PLUGINS, ConnectWorker
from headwater.services.kafka import KafkaServer
from headwater.services.opensearch import FREE_PORTS, OpenSearchServer
from headwater.services.ports import HOST, free_port_between
from headwater.services.postgres import PostgresServer
from headwater.services.process import Server

PORTS = (20_000, 29_999)
"""Below the ones that connections of other programs are given at random, so that a port is free again later."""


@dataclass(frozen=True)
class Ports:
    """The port of each service."""

    postgres: int
    kafka: int
    connect: int
    opensearch: int
    mysql: int = 0
    """MySQL's or MariaDB's; 0 in a folder that was begun before there were demos with one."""

    @property
    def broker(self) -> str:
        """Where clients of Kafka connect."""
        return f"{HOST}:{self.kafka}"

    @property
    def worker(self) -> str:
        """Where Connect's REST interface is."""
        return f"http://{HOST}:{self.connect}"

    @property
    def search(self) -> str:
        """Where OpenSearch answers."""
        return f"http://{HOST}:{self.opensearch}"


@dataclass(frozen=True)
class Notes:
    """What a demo remembers: its ports, and which variant of it was begun."""

    ports: Ports
    variant: str = ""


def notes_of(folder: DemoFolder) -> Notes | None:
    """What a demo wrote down; None if it was never begun here."""
    file = folder.path / "demo.json"
    if not file.exists():
        return None
    said = json.loads(file.read_text())
    return Notes(Ports(**said["ports"]), said["variant"])


def begin_notes(folder: DemoFolder, variant: str = "") -> Notes:
    """The notes of a demo, begun with free ports if there are none."""
    found = notes_of(folder)
    if found is not None:
        return found
    taken = {name: free_port_between(*PORTS) for name in ("postgres", "kafka", "connect", "mysql")}
    notes = Notes(Ports(**taken, opensearch=free_port_between(*FREE_PORTS)), variant)
    # Moved into place, so that a start that is interrupted here leaves all or nothing.
    fresh = folder.path / "demo.json.new"
    fresh.write_text(json.dumps(asdict(notes), indent=2))
    fresh.replace(folder.path / "demo.json")
    return notes


def begin_variant(folder: DemoFolder, variant: str) -> Notes:
    """The notes of a demo that comes in several variants; its folder belongs to the one it was begun with."""
    notes = begin_notes(folder, variant)
    if notes.variant == variant:
        return notes
    raise UsageError(
        f"this demo was begun {notes.variant}",
        detail=f"What was written and how far it came in {folder.path} belongs to that, and not to one {variant}.",
        hint="Begin anew with --fresh, or give this one a folder of its own with --state DIR.",
    )


class Database(PostgresServer):
    """The demo's Postgres, which has its tables once it runs."""

    def __init__(self, folder: Path, port: int, *, make_tables: Callable[[str], bool]) -> None:
        super().__init__(folder, port)
        self._make_tables = make_tables

    @property
    def place(self) -> str:
        """Where it is to be found."""
        return self.address

    def start(self) -> Self:
        """Start it and make the tables where there are none."""
        super().start()
        self._make_tables(self.uri)
        return self


@dataclass(frozen=True)
class Served:
    """A server, and how its place is best told."""

    server: Server
    place: str

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.server.start()

    def stop(self) -> None:
        """Stop it; harmless when it is down."""
        self.server.stop()


def kafka_part(folder: DemoFolder, ports: Ports) -> Part:
    """The demo's Kafka."""
    return Part("kafka", Served(KafkaServer(folder.path / "kafka", ports.kafka), ports.broker))


def connect_part(
    folder: DemoFolder, ports: Ports, *, database: str = "postgres", plugins: Sequence[str] = PLUGINS
) -> Part:
    """The demo's Connect worker with Debezium; it stops before the database whose log it reads."""
    worker = ConnectWorker(folder.path / "connect", ports.connect, kafka=ports.broker, plugins=plugins)
    return Part("connect", Served(worker, ports.worker), needs=(database, "kafka"))


def opensearch_part(folder: DemoFolder, ports: Ports) -> Part:
    """The demo's OpenSearch."""
    server = OpenSearchServer(folder.path / "opensearch", ports.opensearch)
    return Part("opensearch", Served(server, ports.search))
