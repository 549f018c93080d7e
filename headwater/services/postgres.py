"""A real Postgres from a wheel, for the demo and the tests.

with EmbeddedPostgres(Path("data")) as server:
    psycopg2.connect(server.uri)
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import ServiceError
from headwater.services.ports import HOST, connects, free_port
from headwater.services.postgres_files import PASSWORD, USER, Programs, make_data, owner_of, packaged, program
from headwater.services.process import Launch, Lifetime, Server
from headwater.services.running import log_tail

SETTINGS: Mapping[str, str] = {
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "unix_socket_directories": "",
}
"""What differs from a Postgres as it comes. No socket in the file system: its path may not be long."""


class PostgresServer(Server):
    """A Postgres server of ours on 127.0.0.1; the folder keeps its data from one start to the next."""

    name = "postgres"
    user = USER
    password = PASSWORD
    # Fast shutdown: a server that is asked to end more politely waits for its clients.
    stop_signal = signal.SIGINT

    def __init__(
        self,
        folder: Path,
        port: int | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        lifetime: Lifetime | Path = Lifetime.PARENT,
        programs: Programs | None = None,
    ) -> None:
        super().__init__(folder, free_port() if port is None else port, lifetime=lifetime)
        self._settings = {**SETTINGS, **(settings or {})}
        self._programs = programs

    @property
    def uri(self) -> str:
        """Where clients connect; the password in it is no secret."""
        return _uri(self.port)

    def launch(self) -> Launch:
        """Make the data folder if there is none, and say how the server is started."""
        owner, programs = owner_of(self.folder), self._programs or packaged()
        make_data(self.folder, owner, programs)
        given = {**self._settings, "listen_addresses": HOST, "port": str(self.port)}
        flags = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
        command = [str(programs.folder / "postgres"), "-D", str(self.folder / "data"), *flags]
        return Launch(command, dict(programs.environ), owner.popen())

    def answers(self) -> bool:
        """True if the server says of itself that it is ready."""
        running = _running(self.folder)
        return running is not None and running.ready and running.port == self.port and connects(self.port)


class EmbeddedPostgres(PostgresServer):
    """A Postgres that is started where it is named."""

    name = "embedded postgres"

    def __init__(
        self,
        folder: Path,
        port: int | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        programs: Programs | None = None,
    ) -> None:
        super().__init__(folder, port, settings=settings, programs=programs)
        self.start()

    @property
    def pid(self) -> int:
        """The process id of the server itself."""
        running = super().pid
        if running is None:
            raise ServiceError("the embedded postgres is not running", detail=log_tail(self.log))
        return running

    def __enter__(self) -> EmbeddedPostgres:
        return self


@dataclass(frozen=True)
class _Running:
    port: int
    ready: bool


@contextmanager
def temporary_postgres(
    settings: Mapping[str, str] | None = None, programs: Programs | None = None
) -> Iterator[EmbeddedPostgres]:
    """A server for a test, of other programs than the package's if they are given: its folder is gone afterwards.

    The folder is made right below the system's temporary folder, since the server of root runs as another user
    who must be able to walk there, and since others may close the folders in between at any time.
    """
    folder = Path(tempfile.mkdtemp(prefix="headwater-postgres-"))
    try:
        with EmbeddedPostgres(folder, settings=settings, programs=programs) as server:
            yield server
    finally:
        shutil.rmtree(folder)


def psql_path() -> Path:
    """The `psql` program that came with the server."""
    return program("psql")


def running_uri(folder: Path) -> str | None:
    """The address of the server that runs on this folder, started by whomever; None if there is none."""
    running = _running(folder.absolute())
    return _uri(running.port) if running is not None and connects(running.port) else None


def _uri(port: int) -> str:
    return f"postgresql://{USER}:{PASSWORD}@{HOST}:{port}/postgres"


def _running(folder: Path) -> _Running | None:
    """What the server wrote of itself: line 4 its port, line 8 how it is."""
    try:
        lines = (folder / "data" / "postmaster.pid").read_text().splitlines()
    except (FileNotFoundError, PermissionError):
        return None
    if len(lines) < 4:
        return None
    return _Running(int(lines[3]), len(lines) > 7 and lines[7].strip() == "ready")
