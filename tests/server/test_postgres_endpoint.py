"""The door of the Postgres endpoint stays open. Oracle: a client that is let in after one that could not be."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

import pytest

from headwater.server.postgres.endpoint import Door, Endpoint
from tests.server.postgres_world import MemoryReader


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
        with socket.create_connection(("127.0.0.1", endpoint.port), 10) as asking:
            asking.sendall(bytes([0, 0, 0, 8, 4, 210, 22, 47]))
            assert asking.recv(1) == b"N"
    finally:
        endpoint.close()
