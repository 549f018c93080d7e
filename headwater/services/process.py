"""A server of ours: a folder, a port, a process that can be started, stopped and killed.

A server ends with the process that started it, also when that is killed: a shell stands between the two and stops
the server once its standard input closes. One that is to stay (`Lifetime.OWN`) has no such shell, and one that belongs
to another process has that one's named pipe. In any case the file `pid` in its folder says which process it is.
"""

from __future__ import annotations

import enum
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from headwater.errors import ServiceError
from headwater.services.ports import HOST, connects, is_free, port_in_use, require_free
from headwater.services.running import (
    STOP_SECONDS,
    is_alive,
    log_tail,
    noted_port,
    running_pid,
    send,
    stop_process,
    wait_for,
)

GONE_SECONDS = 2.0

# The server is asked to stop as soon as the pipe to the parent closes, however that comes about; one that waits for
# another server that is gone too is not waited for.
_GUARD = """
exec 3<&0
"$@" 3<&- </dev/null & server=$!
echo "$server" > "$HEADWATER_PID_FILE"
( read -r _ <&3; kill -s "$HEADWATER_STOP_SIGNAL" $server && sleep 30 && kill -KILL $server ) 2>/dev/null & guard=$!
wait $server; code=$?
kill $guard 2>/dev/null
exit $code
"""

# The shell notes its own number and becomes the server.
_STAY = 'echo "$$" > "$HEADWATER_PID_FILE"; exec "$@"'


class Lifetime(enum.Enum):
    """How long a server runs: as long as the process that started it, or until it is stopped.

    A path in its place is a named pipe: the server runs for as long as somebody has it open for writing.
    """

    PARENT = "parent"
    OWN = "own"


@dataclass(frozen=True)
class Launch:
    """How a server's process is started."""

    command: list[str]
    environ: Mapping[str, str]
    owner: Mapping[str, Any]


class Server:
    """What all servers have; each kind says how it is launched and whether it answers."""

    name = "server"
    start_seconds = 300.0
    """So long it may take until it answers, where several start on a busy machine. One that has ended is told at once."""
    stop_signal = signal.SIGTERM

    def __init__(self, folder: Path, port: int, *, lifetime: Lifetime | Path = Lifetime.PARENT) -> None:
        self.folder = folder.absolute()
        self.port = port
        self._lifetime = lifetime
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where clients connect, `host:port`."""
        return f"{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.folder / "server.log"

    @property
    def pid(self) -> int | None:
        """The process id of the server itself, None when it is down."""
        return running_pid(self.folder)

    def start(self) -> Self:
        """Start the server and wait until it answers; it goes on with the data it had."""
        self._wait_gone()
        for port in self.ports():
            if noted_port(self.folder) is not None:
                # The threads of a server that was killed a moment ago may still hold it.
                wait_for(partial(is_free, port), GONE_SECONDS)
            require_free(port, self.name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._process = self._launch(self.launch())
        except OSError as broken:
            raise ServiceError(
                f"{self.name} cannot be started in this folder",
                detail=f"{self.folder}: {broken.strerror or broken}.",
                hint="Is there room, and may you write there?",
            ) from broken
        try:
            came_up = self._came_up(self._process)
        except BaseException:
            self.kill()
            raise
        if not came_up:
            self.kill()
            raise self._not_up()
        return self

    def stop(self) -> None:
        """Shut the server down in order; harmless when it is down."""
        stop_process(self.folder, self.stop_signal)
        self.kill()

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        pid = running_pid(self.folder)
        if pid is not None:
            send(pid, signal.SIGKILL)
            wait_for(lambda: not is_alive(pid), STOP_SECONDS)
        (self.folder / "pid").unlink(missing_ok=True)
        if self._process is not None:
            _end(self._process)
            self._process = None

    def ports(self) -> list[int]:
        """Every port that must be free."""
        return [self.port]

    def launch(self) -> Launch:
        """Write the server's files and say how it is started."""
        raise NotImplementedError

    def answers(self) -> bool:
        """True if the server does what it is for."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _launch(self, launch: Launch) -> subprocess.Popen[bytes]:
        number = self.folder / "pid"
        number.write_text("")
        if "user" in launch.owner:
            # The shell runs as this user, who may write nothing else in the folder.
            os.chown(number, launch.owner["user"], -1)
        (self.folder / "port").write_text(str(self.port))
        notes = {"HEADWATER_PID_FILE": str(number), "HEADWATER_STOP_SIGNAL": self.stop_signal.name[3:]}
        # Truncated and not replaced: who follows the file sees the next start too.
        with self.log.open("wb") as log, _held(self._lifetime) as stdin:
            script = _STAY if self._lifetime is Lifetime.OWN else _GUARD
            return subprocess.Popen(
                ["/bin/sh", "-c", script, "sh", *launch.command],
                stdin=stdin,
                stdout=log,
                stderr=log,
                cwd="/",
                env={**os.environ, **launch.environ, **notes},
                # Ctrl-C in a terminal goes to a whole group: the server is to outlive it until `stop`.
                start_new_session=True,
                **launch.owner,
            )

    def _came_up(self, process: subprocess.Popen[bytes]) -> bool:
        def ready() -> bool:
            return process.poll() is not None or (running_pid(self.folder) is not None and self.answers())

        return wait_for(ready, self.start_seconds) and process.poll() is None

    def _wait_gone(self) -> None:
        """Wait for the server of a parent that was killed a moment ago; refuse if another one stays."""
        if wait_for(lambda: running_pid(self.folder) is None, GONE_SECONDS):
            return
        # One that shuts down listens no more, and may still have much to write.
        port = noted_port(self.folder)
        if (port is not None and connects(port)) or not wait_for(
            lambda: running_pid(self.folder) is None, STOP_SECONDS
        ):
            raise ServiceError(
                f"another {self.name} runs on this folder",
                detail=f"Process {running_pid(self.folder)} holds {self.folder} and listens on port {port}.",
                hint="Stop the other one first, or choose another folder.",
            )

    def _not_up(self) -> ServiceError:
        for port in self.ports():
            # Taken by another in the moment between our look and the server's.
            if not is_free(port):
                return port_in_use(port, self.name)
        return ServiceError(
            f"{self.name} did not start",
            detail=log_tail(self.log) or "It said nothing.",
            hint=f"See {self.log}.",
        )


@contextmanager
def _held(lifetime: Lifetime | Path) -> Iterator[int]:
    """The standard input of a server's shell."""
    match lifetime:
        case Lifetime.PARENT:
            yield subprocess.PIPE
        case Lifetime.OWN:
            yield subprocess.DEVNULL
        case Path():
            # Opened without waiting for somebody at the other end: if nobody is there, the server ends at once.
            pipe = os.open(lifetime, os.O_RDONLY | os.O_NONBLOCK)
            os.set_blocking(pipe, True)
            try:
                yield pipe
            finally:
                os.close(pipe)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let nothing of a session outlive this call: neither the shell nor a server that has no number yet."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(2 * GONE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP_SECONDS)
