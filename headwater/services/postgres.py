"""A real Postgres from a wheel, for the demo and the tests.

    with EmbeddedPostgres(Path("data")) as server:
        psycopg2.connect(server.uri)

The server ends with the process that started it, also when that is killed: a shell stands between the two and
stops the server once its standard input closes.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from headwater.errors import ServiceError
from headwater.services.postgres_files import PASSWORD, USER, make_data, owner_of, program

HOST = "127.0.0.1"
START_SECONDS = 30.0
STOP_SECONDS = 30.0
GONE_SECONDS = 2.0

SETTINGS: Mapping[str, str] = {
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "unix_socket_directories": "",
}
"""What differs from a Postgres as it comes. No socket in the file system: its path may not be long."""

# The server is stopped (fast shutdown) as soon as the pipe to the parent closes, however that comes about.
_GUARD = """
exec 3<&0
"$@" 3<&- </dev/null & server=$!
( read -r _ <&3; kill -INT $server ) 2>/dev/null & guard=$!
wait $server; code=$?
kill $guard 2>/dev/null
exit $code
"""


class EmbeddedPostgres:
    """A Postgres server of ours on 127.0.0.1; the folder keeps its data from one start to the next."""

    def __init__(
        self, folder: Path, port: int | None = None, *, settings: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder.absolute()
        self.port = _free_port() if port is None else port
        self._owner = owner_of(self.folder)
        _require_free(self.port)
        make_data(self.folder, self._owner)
        self._process = self._start({**SETTINGS, **(settings or {})})

    @property
    def uri(self) -> str:
        """Where clients connect; the password in it is no secret."""
        return _uri(self.port)

    @property
    def pid(self) -> int:
        """The process id of the server itself."""
        running = _running(self.folder)
        if running is None:
            raise ServiceError("the embedded postgres is not running", detail=_log_tail(self.folder))
        return running.pid

    def stop(self) -> None:
        """Shut the server down in order; harmless when it is down."""
        self._end(self._process)

    def __enter__(self) -> EmbeddedPostgres:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start(self, settings: Mapping[str, str]) -> subprocess.Popen[bytes]:
        given = [f"{name}={value}" for name, value in settings.items()]
        given += [f"listen_addresses={HOST}", f"port={self.port}"]
        flags = [part for setting in given for part in ("-c", setting)]
        server = [str(program("postgres")), "-D", str(self.folder / "data"), *flags]
        _wait_free(self.folder)
        process = self._launch(["/bin/sh", "-c", _GUARD, "sh", *server])
        if not _came_up(process, self.folder, self.port):
            self._end(process)
            raise _not_up(self.folder, self.port)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None and not process.stdin.closed:
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # The session holds the shell and the server, so that neither outlives this call.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(STOP_SECONDS)

    def _launch(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "server.log").open("wb") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                # Ctrl-C in a terminal goes to a whole group: the server is to outlive it until `stop`.
                start_new_session=True,
                **self._owner.popen(),
            )


@dataclass(frozen=True)
class _Running:
    pid: int
    port: int
    ready: bool


@contextmanager
def temporary_postgres(settings: Mapping[str, str] | None = None) -> Iterator[EmbeddedPostgres]:
    """A server for a test: its folder is gone afterwards.

    The folder is made right below the system's temporary folder, since the server of root runs as another user
    who must be able to walk there, and since others may close the folders in between at any time.
    """
    folder = Path(tempfile.mkdtemp(prefix="headwater-postgres-"))
    try:
        with EmbeddedPostgres(folder, settings=settings) as server:
            yield server
    finally:
        shutil.rmtree(folder)


def psql_path() -> Path:
    """The `psql` program that came with the server."""
    return program("psql")


def running_uri(folder: Path) -> str | None:
    """The address of the server that runs on this folder, started by whomever; None if there is none."""
    running = _running(folder.absolute())
    return _uri(running.port) if running is not None and _connects(running.port) else None


def _uri(port: int) -> str:
    return f"postgresql://{USER}:{PASSWORD}@{HOST}:{port}/postgres"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise ServiceError(
                f"port {port} is in use",
                detail=f"Another program listens on {HOST}:{port} ({error.strerror}).",
                hint="Stop it, or choose another port.",
            ) from error


def _wait_free(folder: Path) -> None:
    """Wait for the server of a parent that was killed a moment ago; refuse if another one stays."""
    deadline = time.monotonic() + GONE_SECONDS
    while (running := _running(folder)) is not None and _is_alive(running.pid):
        if time.monotonic() > deadline and _connects(running.port):
            raise ServiceError(
                "another embedded postgres runs on this folder",
                detail=f"Process {running.pid} holds {folder} and listens on port {running.port}.",
                hint="Stop the other one first, or choose another folder.",
            )
        if time.monotonic() > deadline + STOP_SECONDS:
            # The process that has this number now need not be a server: the server itself will find out.
            return
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _came_up(process: subprocess.Popen[bytes], folder: Path, port: int) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        running = _running(folder)
        if running is not None and running.ready and running.port == port and _connects(port):
            return True
        time.sleep(0.02)
    return False


def _running(folder: Path) -> _Running | None:
    """What the server wrote of itself: line 1 its process, line 4 its port, line 8 how it is."""
    try:
        lines = (folder / "data" / "postmaster.pid").read_text().splitlines()
    except (FileNotFoundError, PermissionError):
        return None
    if len(lines) < 4:
        return None
    return _Running(int(lines[0]), int(lines[3]), len(lines) > 7 and lines[7].strip() == "ready")


def _connects(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((HOST, port)) == 0


def _not_up(folder: Path, port: int) -> ServiceError:
    tail = _log_tail(folder)
    if "Address already in use" in tail:
        return ServiceError(
            f"port {port} is in use", detail=tail, hint="Stop what listens there, or choose another port."
        )
    return ServiceError("the embedded postgres did not start", detail=tail, hint=f"See {folder}/server.log.")


def _log_tail(folder: Path) -> str:
    log = folder / "server.log"
    return log.read_text(errors="replace").strip()[-800:] if log.exists() else ""
