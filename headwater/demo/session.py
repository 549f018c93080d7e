"""One run of a demo: its folder, its Postgres, its generator."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from headwater.demo.background import Background
from headwater.demo.claims import MOST_AT_ONCE, Office, connected, make_tables
from headwater.errors import ServiceError
from headwater.services.postgres import EmbeddedPostgres, running_uri
from headwater.services.running import running_pid, wait_for

GONE_SECONDS = 45.0


@dataclass(frozen=True)
class DemoFolder:
    """Where a demo lives: the database, the pipeline's state, the port it was given first."""

    path: Path
    name: str = "claims"

    @property
    def database(self) -> Path:
        """The folder of its Postgres."""
        return self.path / "postgres"

    @property
    def state(self) -> Path:
        """The folder of its pipeline."""
        return self.path / "state"

    @property
    def port_file(self) -> Path:
        """The port of its Postgres: saved progress belongs to one address."""
        return self.path / "port"

    def saved_port(self) -> int | None:
        """The port of the last run."""
        return int(self.port_file.read_text()) if self.port_file.exists() else None

    def uri(self) -> str:
        """The address of the running demo's database."""
        uri = running_uri(self.database)
        if uri is None:
            raise not_running(self, "Postgres")
        return uri

    @property
    def flag(self) -> str:
        """What commands need to find the demo: ` --state DIR`, unless it lives where they look first."""
        return "" if self == demo_folder(self.name, None) else f" --state {self.path}"

    @contextmanager
    def alone(self, *, fresh: bool, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Nobody else runs the demo in this folder while the block does; with `fresh` it is a new one.

        `waits` is called if the services of a demo that was killed a moment ago still have to end.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Beside the folder, which may be removed.
        with self.path.with_name(f"{self.path.name}.lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise self._is_running(
                    "Stop the other one with Ctrl-C, or give this one a folder of its own with --state DIR."
                ) from None
            if not self._is_quiet():
                waits()
            if not wait_for(self._is_quiet, GONE_SECONDS):
                raise self._is_running("Stop its services first.")
            if fresh:
                shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(parents=True, exist_ok=True)
            yield

    def _is_quiet(self) -> bool:
        return all(running_pid(folder.absolute()) is None for folder in self.path.glob("*/"))

    def _is_running(self, hint: str) -> ServiceError:
        return ServiceError("the demo is running already", detail=f"It runs in {self.path}.", hint=hint)


def not_running(folder: DemoFolder, service: str) -> ServiceError:
    """Who asks for a service of a demo is told that the demo does not run."""
    return ServiceError(
        "the demo is not running",
        detail=f"No {service} runs in {folder.path}.",
        hint=f"Start it in another terminal with: headwater demo {folder.name}",
    )


def demo_folder(name: str, path: Path | None) -> DemoFolder:
    """The folder of a demo, its usual one unless told otherwise."""
    return DemoFolder(path or Path(".headwater") / f"demo-{name}", name)


@contextmanager
def demo_database(folder: DemoFolder, *, port: int | None, fresh: bool) -> Iterator[str]:
    """The address of the claims demo's Postgres, with its tables, while the block runs."""
    with folder.alone(fresh=fresh):
        server = EmbeddedPostgres(folder.database, port or folder.saved_port())
        try:
            folder.port_file.write_text(str(server.port))
            make_tables(server.uri)
            yield server.uri
        finally:
            server.stop()


class Worker(Protocol):
    """Someone who changes rows of a database."""

    def work(self, most: int) -> int:
        """One transaction that changes at most so many rows; returns how many."""


class Generator(Background):
    """A thread that changes rows until it is stopped, or until `rows` of them are changed."""

    def __init__(
        self,
        uri: str,
        *,
        every: float,
        rows: int | None = None,
        worker: Callable[[Any], Worker] = Office,
        connect: Callable[[str], AbstractContextManager[Any]] = connected,
    ) -> None:
        super().__init__("demo generator")
        self.changed = 0
        self._uri, self._every, self._rows = uri, every, rows
        self._worker, self._connect = worker, connect

    def work(self) -> None:
        """Change rows until it is stopped."""
        with self._connect(self._uri) as connection:
            worker = self._worker(connection)
            while not self._ended.is_set() and self._left() > 0:
                self.changed += worker.work(self._left())
                self._ended.wait(self._every if self._left() else 0)

    def _left(self) -> int:
        return MOST_AT_ONCE if self._rows is None else min(MOST_AT_ONCE, self._rows - self.changed)
