"""A server in this process, and who asks it over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from headwater.server.access import Access
from headwater.server.http import make_app
from headwater.server.server import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that was not told to start: Spark starts with the first deployment."""
    server = Server(tmp_path / "server")
    yield server
    server.close()


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    """Asks the server as this machine does; a mistake of ours is an answer, as for everyone."""
    app = make_app(server, Access())
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client
