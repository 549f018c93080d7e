"""What killed queries left is removed, and nothing else. Oracle: the names of the folders that are removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.runtime import live_query
from headwater.runtime.facts import Listener


def test_only_queries_without_a_name_are_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[str] = []

    def drop(folder: Path, *, listener: Listener) -> None:
        dropped.append(folder.name)

    monkeypatch.setattr(live_query, "drop_state", drop)
    for name in ("query-orders", "query-2026", "query-17-3", "queries", "shop"):
        (tmp_path / name).mkdir()
    live_query.remove_leftovers(tmp_path)
    assert dropped == ["query-17-3"]
