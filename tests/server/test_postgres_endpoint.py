"""The door of the Postgres endpoint stays open. Oracle: a client that is let in after one that could not be."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from headwater.server.postgres import endpoint as endpoint_module
from headwater.server.postgres.endpoint import Door, Endpoint
from tests.postgres.world import wait_for
from tests.server.postgres_world import MemoryReader

SECONDS = 60
"""A thread of the endpoint may have to wait for its turn on a busy machine."""

ENCRYPTION = bytes([0, 0, 0, 8, 4, 210, 22, 47])
"""What a client asks first; the answer is N where there is no certificate."""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    endpoint = Endpoint(MemoryReader(), Door(passwords=("a-token-of-the-server",)), note=tmp_path / "note")
    yield endpoint.port
    endpoint.close()


def answered(port: int) -> bytes:
    """What a client hears first; nothing if it is hung up on."""
    with socket.create_connection(("127.0.0.1", port), SECONDS) as asking, suppress(ConnectionError):
        asking.sendall(ENCRYPTION)
        return asking.recv(1)
    return b""


def test_those_who_say_nothing_are_not_let_in_without_end(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "MOST_WIRES", 3, raising=False)
    # They are not hung up on for their silence while the test looks.
    monkeypatch.setattr(endpoint_module, "GREETING_SECONDS", 600.0)
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))
        wait_for(lambda: answered(port) == b"")
    wait_for(lambda: answered(port) == b"N")


def test_whoever_takes_too_long_to_say_who_he_is_is_hung_up_on(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_module, "GREETING_SECONDS", 1.0)

    def drip() -> bool:
        try:
            slow.sendall(b"\0")
        except ConnectionError:
            return True
        return False

    with socket.create_connection(("127.0.0.1", port), SECONDS) as slow:
        slow.sendall(bytes([0, 0, 39, 0, 0, 3, 0, 0]))
        wait_for(drip, seconds=SECONDS)


def test_a_client_that_cannot_be_let_in_keeps_no_other_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept, problems = socket.socket.accept, [errno.EMFILE, errno.ECONNABORTED]

    def refusing(self: socket.socket) -> tuple[socket.socket, object]:
        if problems:
            raise OSError(problems.pop(), "not now")
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", refusing)
    endpoint = Endpoint(MemoryReader(), Door(), note=tmp_path / "note")
    try:
        with socket.create_connection(("127.0.0.1", endpoint.port), SECONDS) as asking:
            asking.sendall(ENCRYPTION)
            assert asking.recv(1) == b"N"
    finally:
        endpoint.close()
