"""A demo that runs as a program of its own: what it says, what it made, what is left of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2

HEADWATER = [sys.executable, "-m", "headwater"]

PATIENCE = 240.0
"""Seconds after which something that should happen is missed."""


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """True as soon as the condition holds, False if it does not within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def left_behind(session: int, folder: Path) -> list[str]:
    """Processes of a session, or that were given the folder or work in it, which still run."""
    return list(_running(session, folder).values())


def _running(session: int, folder: Path) -> dict[int, str]:
    """Of these processes the number and the command. A capture and a Postgres have sessions of their own."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state, *rest = (process / "stat").read_text().rpartition(")")[2].split()
            is_named = str(folder) in command or _works_in(process, folder)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z" and (int(rest[2]) == session or is_named):
            found[int(process.name)] = command
    return found


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink().is_relative_to(folder)
    except PermissionError:
        # It is another user's; ours all work here as who we are, or name the folder.
        return False


def ended(program: subprocess.Popen[str], folder: Path, seconds: float) -> tuple[str, str]:
    """What a program in a session of its own has said; if it does not end, that fails with what all of it was doing.

    Python tells that on SIGABRT if it was started with PYTHONFAULTHANDLER, Java on SIGQUIT.
    """
    try:
        return program.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        stuck = _running(program.pid, folder)
        for number, name in ((signal.SIGQUIT, "java"), (signal.SIGABRT, "python")):
            for pid in (pid for pid, command in stuck.items() if name in command.split(" ")[0]):
                os.kill(pid, number)
            time.sleep(1.0)
        os.killpg(program.pid, signal.SIGKILL)
        out, err = program.communicate()
        raise AssertionError(f"it runs for more than {seconds} s\n{stuck}\n{out}\n{err}") from None


class Demo:
    """A demo in a folder; it is stopped, and nothing of it runs any more, when the block ends."""

    def __init__(self, name: str, folder: Path, *arguments: str) -> None:
        self.name, self.folder = name, folder
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        command = [*HEADWATER, "demo", name, "--plain", "--state", str(folder / "demo"), *arguments]
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self._process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)

    def __enter__(self) -> Demo:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(PATIENCE)

    def says(self, words: str) -> None:
        """Wait until it has said something."""

        def said() -> bool:
            assert self._process.poll() is None, self.told()
            return words in self.told()

        assert wait_for(said, PATIENCE), self.told()

    def told(self) -> str:
        """All it has said by now."""
        return self.err.read_text() + self.out.read_text()

    def end(self, number: signal.Signals | None = None) -> int:
        """Its exit code, after a signal or when it ends by itself."""
        if number is not None:
            self._process.send_signal(number)
        return self._process.wait(PATIENCE)

    def leaves_nothing(self) -> None:
        """Nothing of it runs any more."""
        assert wait_for(lambda: left_behind(self._process.pid, self.folder) == [], PATIENCE)

    @property
    def ports(self) -> dict[str, int]:
        """Where its services are."""
        ports = json.loads((self.folder / "demo" / "demo.json").read_text())["ports"]
        assert isinstance(ports, dict)
        return ports

    @property
    def uri(self) -> str:
        """Its Postgres."""
        return f"postgresql://postgres:postgres@127.0.0.1:{self.ports['postgres']}/postgres"

    def psql(self, sql: str) -> str:
        """What the demo's own client answers."""
        command = [*HEADWATER, "demo", "psql", self.name, "--state", str(self.folder / "demo"), "-c", sql]
        said = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert said.returncode == 0, said.stderr
        return said.stdout

    @contextmanager
    def held(self, tables: str) -> Iterator[Any]:
        """A cursor; while the block runs nobody changes these tables, so that all that reads them can come to rest."""
        connection = psycopg2.connect(self.uri)
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {tables} IN SHARE MODE")
                yield cursor
        finally:
            connection.close()
