"""A real OpenSearch. Oracle: what its REST interface says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import urllib3

from headwater.errors import ServiceError
from headwater.services.java import is_from_wheel, java_home
from headwater.services.opensearch import HIGHEST_PORT, OpenSearchServer
from tests.stage.shared import SharedOpenSearch


def bulk(url: str, *lines: object) -> list[int]:
    """The status of each item of one bulk request."""
    body = "".join(json.dumps(line) + "\n" for line in lines)
    answer: Any = urllib3.request(
        "POST", f"{url}/_bulk?refresh=true", body=body, headers={"Content-Type": "application/x-ndjson"}
    ).json()
    return [item["status"] for entry in answer["items"] for item in entry.values()]


def index(name: str, version: int) -> dict[str, object]:
    """The line that announces a document with a version of ours."""
    return {"index": {"_index": name, "_id": "1", "version": version, "version_type": "external"}}


@pytest.mark.services
def test_a_late_write_never_wins(opensearch: SharedOpenSearch) -> None:
    name = opensearch.index("claims")
    statuses = bulk(opensearch.url, index(name, 2), {"cost": 2}, index(name, 1), {"cost": 1})
    assert statuses == [201, 409]
    answer: Any = urllib3.request("GET", f"{opensearch.url}/{name}/_doc/1").json()
    assert answer["_source"] == {"cost": 2}


def test_a_machine_without_a_java_of_its_own_has_indices_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert is_from_wheel(java_home())
    (folder := tmp_path / "opensearch").mkdir()
    program = Path(OpenSearchServer(folder).launch().command[0])
    assert program == java_home() / "bin" / "java"


def test_a_port_it_cannot_have_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=f"cannot listen on port {HIGHEST_PORT + 1}"):
        OpenSearchServer(tmp_path, HIGHEST_PORT + 1)
