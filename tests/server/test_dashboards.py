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


def test_a_file_that_cannot_be_read_is_told_and_hides_no_other(client: httpx.Client, server: Server) -> None:
    client.put("/dashboards/animals", json=BODY)
    (server.folder / "dashboards" / "ours.json").mkdir()
    answer = client.get("/dashboards/ours")
    assert answer.status_code == 409, answer.text
    assert 'the dashboard in "ours.json" cannot be read' in answer.json()["error"]["message"]
    animals, ours = client.get("/dashboards").json()["dashboards"]
    assert (animals["title"], animals["error"]) == ("Animals", None)
    assert {**ours["error"], "place": None} == answer.json()["error"]


def test_what_was_changed_since_it_was_seen_is_not_overwritten(client: httpx.Client, server: Server) -> None:
    new = {"If-Match": '"nothing"'}
    first = client.put("/dashboards/animals", json=BODY, headers=new).headers["etag"]
    assert client.get("/dashboards/animals").headers["etag"] == first
    assert client.put("/dashboards/animals", json={"title": "Late"}, headers=new).status_code == 409
    (server.folder / "dashboards" / "animals.json").write_text('{"title": "Put there"}')
    late = client.put("/dashboards/animals", json={"title": "Late"}, headers={"If-Match": first})
    assert (late.status_code, client.get("/dashboards/animals").json()["title"]) == (409, "Put there")
    seen = {"If-Match": client.get("/dashboards/animals").headers["etag"]}
    assert client.put("/dashboards/animals", json={"title": "Now"}, headers=seen).status_code == 200


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
