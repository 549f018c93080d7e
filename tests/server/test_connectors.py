"""Connectors over HTTP. Oracle: no Kafka Connect answers, and that is told whatever a connector is called."""

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
def nowhere(tmp_path: Path) -> Iterator[httpx.Client]:
    """A server whose Kafka Connect is away."""
    server = Server(tmp_path / "server", connect_url="http://127.0.0.1:1")
    with TestClient(make_app(server, Access()), base_url="http://localhost") as client:
        yield client
    server.close()


@pytest.mark.parametrize("name", ["claims", "shop%2Forders", "%3Cscript%3E1%3C%2Fscript%3E", "a%2Fpause"])
def test_a_connector_may_be_called_as_its_cluster_likes(nowhere: httpx.Client, name: str) -> None:
    for answer in (nowhere.post(f"/connectors/{name}/pause"), nowhere.delete(f"/connectors/{name}")):
        assert answer.status_code == 502, answer.text
        assert "--connect of headwater serve" in answer.json()["error"]["hint"]
