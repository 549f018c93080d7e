"""Servers that run, told by their folders: which process, which port, and how to end it.

A server's folder holds a file `pid` and a file `port`, whoever started it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

STOP_SECONDS = 30.0
POLL_SECONDS = 0.05


def stop_process(folder: Path, how: signal.Signals = signal.SIGTERM) -> bool:
    """Shut down the server that runs on a folder, started by whomever; False if none runs."""
    pid = running_pid(folder)
    if pid is None:
        return False
    send(pid, how)
    if not wait_for(lambda: not is_alive(pid), STOP_SECONDS):
        send(pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(pid), STOP_SECONDS)
    (folder / "pid").unlink(missing_ok=True)
    return True


def running_pid(folder: Path) -> int | None:
    """The process that the folder's `pid` file names, if it runs and is the one that was started there."""
    try:
        pid = int((folder / "pid").read_text())
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except (OSError, ValueError):
        return None
    # A number is used again after a while: the server carries the name of its file in its environment.
    mark = b"HEADWATER_PID_FILE=" + os.fsencode(folder.absolute() / "pid")
    return pid if mark in environ.split(b"\0") and is_alive(pid) else None


def is_alive(pid: int) -> bool:
    """True unless the process is gone, or only waits to be counted by its parent."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        threads = len(os.listdir(f"/proc/{pid}/task"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    # The first thread of a killed program may be over while others still hold its port.
    return state not in ("Z", "X") or threads > 1


def noted_port(folder: Path) -> int | None:
    """The port of the server that was started last on a folder."""
    try:
        return int((folder / "port").read_text())
    except (OSError, ValueError):
        return None


def log_tail(log: Path) -> str:
    """The last words of a server."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 800))
        return file.read().decode(errors="replace").strip()


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """True as soon as the condition holds, False if it does not within this time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
