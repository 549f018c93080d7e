"""Dashboards are files. Oracle: the files; what cannot be read or written is told, and is no mistake of ours."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from headwater.server.server import Server

BODY = {"title": "Animals", "charts": [{"view": "shop.totals"}]}


def test_a_dashboard_is_kept_and_removed(client: httpx.Client, server: Server) -> None:
    assert client.put("/dashboards/animals", json=BODY).status_code == 200
    assert [file.name for file in (server.folder / "dashboards").iterdir()] == ["animals.json"]
    assert client.get("/dashboards/animals").json()["title"] == "Animals"
    assert client.delete("/dashboards/animals").status_code == 204
    assert client.get("/dashboards/animals").status_code == 404


def test_a_file_that_cannot_be_read_is_told(client: httpx.Client, server: Server) -> None:
    client.put("/dashboards/animals", json=BODY)
    (server.folder / "dashboards" / "ours.json").mkdir()
    for path in ("/dashboards", "/dashboards/ours"):
        answer = client.get(path)
        assert answer.status_code == 409, answer.text
        assert 'the dashboard in "ours.json" cannot be read' in answer.json()["error"]["message"]


def test_on_a_full_disk_the_former_dashboard_stays(
    client: httpx.Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.put("/dashboards/animals", json=BODY)

    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("headwater.server.dashboards.os.replace", full)
    answer = client.put("/dashboards/animals", json={"title": "Others"})
    assert answer.status_code == 503
    assert "No space left on device" in answer.json()["error"]["detail"]
    assert client.get("/dashboards/animals").json()["title"] == "Animals"


def test_many_may_keep_one_at_the_same_time(client: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(client.put, "/dashboards/animals", json={"title": str(n)}) for n in range(40)]
    assert {one.result().status_code for one in sent} == {200}
