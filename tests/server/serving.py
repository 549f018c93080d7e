"""A real `headwater serve` in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headwater.cli.server_client import ServerClient
from tests.server.waiting import until

START_SECONDS = 180.0

HOUSE = Path(__file__).parents[2]


class Served:
    """A server that is started, killed and started again on one folder."""

    def __init__(self, folder: Path, *more: str, program: Sequence[str] = ("headwater", "serve")) -> None:
        self.folder = folder
        self._more = more
        self._program = program
        self.url = ""
        self.postgres_port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def client(self) -> ServerClient:
        """What the command line asks it with."""
        return ServerClient(self.url)

    def start(self) -> None:
        """Start it, if it does not run, and wait until it answers."""
        if self._process is not None:
            return
        command = [sys.executable, "-m", *self._program, "--port", "0", "--state", str(self.folder)]
        command += self._more
        env = os.environ | {"PYTHONPATH": str(HOUSE)}
        log = (self.folder.parent / "serve.log").open("a")
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=self.folder.parent, env=env
        )
        log.close()
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said.startswith("headwater serves at http://"), said
        self.url = said.split()[-1]
        if "--pg-port" in self._more:
            self.postgres_port = int(self._process.stdout.readline().rpartition(":")[2])

    def kill(self) -> None:
        """End it as a crash would, with its Java, which ends when nobody holds its input."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """End it in order; its exit code."""
        return self._end(signal.SIGTERM)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """What it answers."""
        return self.client.ask(method, path, body)

    def wait_for(self, application: str, status: str) -> dict[str, Any]:
        """The last deployment of an application, once it has a status."""
        return until(
            lambda: self.ask("GET", f"/applications/{application}/deployments/latest"),
            lambda said: said["status"] == status,
            START_SECONDS,
        )

    def _end(self, number: int) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(number)
        code = process.wait(START_SECONDS)
        assert process.stdout is not None
        process.stdout.close()
        return code
