"""A real server at a port of this machine, in this process, with applications over values."""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import uvicorn

from headwater.server.access import Access
from headwater.server.http import make_app
from headwater.server.server import Server
from headwater.sources.values import ValuesStore, store
from tests.postgres.world import wait_for

SECONDS = 120.0
"""Java and Spark may take long on a busy machine."""


@dataclass
class Live:
    """The server, and somebody who asks it."""

    server: Server
    client: httpx.Client
    stores: dict[str, ValuesStore] = field(default_factory=dict)

    def deploy(self, name: str, script: str, **how: str) -> ValuesStore:
        """Let an application run, or another version of it, and wait until it does."""
        if name not in self.stores:
            self.stores[name] = store(called := f"{name}_{uuid4().hex[:8]}")
            self.stores[name].name = called  # type: ignore[attr-defined]  # for the next version
            self.client.post("/applications", json={"name": name}).raise_for_status()
        text = script.replace("{store}", self.stores[name].name)  # type: ignore[attr-defined]  # see above
        version = self.client.post(f"/applications/{name}/versions", json={"statement": text})
        version.raise_for_status()
        body = {"version_id": version.json()["id"], "confirmed": True, **how}
        self.client.post(f"/applications/{name}/deployments", json=body).raise_for_status()
        wait_for(lambda: self.is_running(name), seconds=SECONDS)
        return self.stores[name]

    def is_running(self, name: str) -> bool:
        """True if its pipeline stands; what failed is told at once."""
        found = self.client.get(f"/applications/{name}/deployments/latest").json()
        assert found["status"] != "FAILED", found
        return bool(found["status"] == "RUNNING" or found["runs"] > 1)

    def catch_up(self, name: str) -> None:
        """Wait until an application knows what was handed in."""
        assert self.server.running()[name].turning.catch_up(SECONDS)


@contextmanager
def live_server(folder: Path) -> Iterator[Live]:
    """A server that answers at a port inside the block."""
    server = Server(folder)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        make_app(server, Access()), log_config=None, lifespan="off", timeout_graceful_shutdown=1
    )
    answering = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: answering.run(sockets=[listening]))
    thread.start()
    try:
        server.start()
        with httpx.Client(
            base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=SECONDS
        ) as client:
            yield Live(server, client)
    finally:
        answering.should_exit = True
        thread.join()
        server.close()
        listening.close()


@dataclass
class Event:
    """One event as a browser gets it."""

    kind: str
    id: str | None
    data: Any


def events(answer: httpx.Response) -> Iterator[Event]:
    """The events of an answer as they come."""
    assert answer.status_code == 200, answer.read()
    found: dict[str, str] = {}
    for line in answer.iter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            found[name] = value
        elif found:
            yield Event(found["event"], found.get("id"), json.loads(found["data"]))
            found = {}


@dataclass
class Copy:
    """What someone has who does nothing but apply events."""

    rows: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    last_id: str | None = None
    seen: list[int] = field(default_factory=list)
    """The batches, each as often as it came."""

    def apply(self, event: Event) -> None:
        """Apply one event as the docs say."""
        assert event.kind == "changes", event
        if event.data["anew"]:
            self.rows.clear()
        for change in event.data["changes"]:
            row = tuple(change["row"].values())
            self.rows[row] += 1 if change["op"] == "+" else -1
            if not self.rows[row]:
                del self.rows[row]
        if not event.data["more"]:
            self.last_id = event.id
            self.seen.append(event.data["batch"])
