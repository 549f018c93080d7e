"""Servers start, end with whom they belong to, and say why they do not start.

Oracle: the processes that are there, and a web server as small as can be.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.services.http import answers_well
from headwater.services.ports import free_port, is_free
from headwater.services.process import Launch, Lifetime, Server
from headwater.services.running import noted_port, running_pid, stop_process, wait_for

pytestmark = pytest.mark.services

HOUSE = str(Path(__file__).parent.parent.parent)


class WebServer(Server):
    """Serves the files of its folder."""

    name = "web"
    start_seconds = 120.0
    arguments: tuple[str, ...] = ("-m", "http.server", "--bind", "127.0.0.1", "--directory")

    def launch(self) -> Launch:
        return Launch([sys.executable, *self.arguments, str(self.folder), str(self.port)], {}, {})

    def answers(self) -> bool:
        return answers_well(self.port, "/pid")


class BrokenServer(WebServer):
    """Says something and ends."""

    arguments = ("-c", "print('no room on the moon'); raise SystemExit(3)")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebServer]:
    """A server that is gone after the test, whatever the test did."""
    server = WebServer(tmp_path / "web", free_port())
    yield server
    server.kill()


def test_it_answers_until_it_is_stopped(web: WebServer) -> None:
    with web:
        assert wait_for(web.answers, 60) and web.pid is not None
        assert running_pid(web.folder) == web.pid and noted_port(web.folder) == web.port
    assert web.pid is None and is_free(web.port)
    web.stop()


def test_one_that_was_killed_is_started_again_on_its_port(web: WebServer) -> None:
    web.start()
    first = web.pid
    web.kill()
    assert web.pid is None
    web.start()
    assert web.pid not in (None, first) and wait_for(web.answers, 60)


def test_one_that_was_killed_from_outside_is_started_again_on_its_port(web: WebServer) -> None:
    web.start()
    assert web.pid is not None
    os.kill(web.pid, signal.SIGKILL)
    web.start()
    assert wait_for(web.answers, 60)


def test_a_port_that_is_taken_is_named(web: WebServer) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", web.port))
        taken.listen()
        with pytest.raises(ServiceError, match=f"port {web.port} is in use"):
            web.start()
    assert not web.folder.exists()


def test_a_folder_has_one_server(web: WebServer) -> None:
    web.start()
    with pytest.raises(ServiceError, match="another web runs on this folder") as raised:
        WebServer(web.folder, free_port()).start()
    assert str(web.pid) in raised.value.detail
    assert wait_for(web.answers, 60)


def test_what_it_said_before_it_ended_is_told(tmp_path: Path) -> None:
    server = BrokenServer(tmp_path / "broken", free_port())
    with pytest.raises(ServiceError, match="web did not start") as raised:
        server.start()
    assert raised.value.detail == "no room on the moon"
    assert server.pid is None


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServiceError, match="cannot be started in this folder"):
        WebServer(tmp_path / "file" / "web", free_port()).start()


def test_the_number_of_another_process_is_not_taken_for_the_server(web: WebServer) -> None:
    web.folder.mkdir()
    (web.folder / "pid").write_text(str(os.getpid()))
    assert running_pid(web.folder) is None
    assert stop_process(web.folder) is False


CHILD = """
import sys
from pathlib import Path
from headwater.services.process import Lifetime
from tests.services.test_process import WebServer
WebServer(Path(sys.argv[1]), int(sys.argv[2]), lifetime=Lifetime(sys.argv[3])).start()
print("up", flush=True)
sys.stdin.read()
"""


def start_and_die(server: Server, lifetime: Lifetime) -> None:
    """Start the server from a process that is killed once the server is up."""
    given = [sys.executable, "-c", CHILD, str(server.folder), str(server.port), lifetime.value]
    with subprocess.Popen(
        given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": HOUSE}
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        parent.kill()


def test_it_ends_with_the_process_that_started_it(web: WebServer) -> None:
    start_and_die(web, Lifetime.PARENT)
    assert wait_for(lambda: running_pid(web.folder) is None, 60)


def test_one_with_a_life_of_its_own_stays_and_anyone_can_stop_it(web: WebServer) -> None:
    start_and_die(web, Lifetime.OWN)
    assert web.pid is not None and wait_for(web.answers, 60)
    assert stop_process(web.folder) is True
    assert web.pid is None and is_free(web.port)


def test_one_that_belongs_to_a_pipe_ends_when_nobody_holds_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path / "pipe", os.O_RDWR)
    server = WebServer(tmp_path / "web", free_port(), lifetime=tmp_path / "pipe").start()
    assert wait_for(server.answers, 60)
    os.close(held)
    assert wait_for(lambda: running_pid(server.folder) is None, 60)
    with pytest.raises(ServiceError, match="did not start"):
        server.start()
