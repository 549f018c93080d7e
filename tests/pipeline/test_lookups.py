"""What is kept beside large runs in the life of a pipeline. Oracle: the rows, joined by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from headwater.runtime import compaction
from headwater.sources.values import STORES, ValuesStore
from headwater.tables import lookup, slices, small_runs
from tests.pipeline.world import pipeline, rows

pytestmark = pytest.mark.jvm

# The table has the name of the folder that is kept beside its runs.
SCRIPT = """
SET 'pipeline.name' = 'looked_up';
CREATE TABLE lookups (id INT, k INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE names (k INT, name STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'values');
CREATE VIEW named AS SELECT l.id, n.name FROM lookups l JOIN names n ON l.k = n.k;
"""


def kept(folder: Path) -> set[str]:
    """The runs of the table beside which something is kept."""
    return {path.name.rpartition("-")[0] for path in (folder / "state").glob("state/lookups/lookups/*")}


def test_it_goes_with_its_runs_and_a_start_begins_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "LEAST_ROWS", 0)
    monkeypatch.setattr(slices, "LOOKED_UP_SHARE", 0)
    monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", 0)
    monkeypatch.setattr(compaction, "MOST_RUNS", 3)
    monkeypatch.setitem(STORES, "looked_up", store := ValuesStore())
    expected: Counter[tuple[Any, ...]] = Counter()
    with pipeline(SCRIPT, tmp_path) as running:
        for number in range(1, 9):
            ids: list[tuple[str, Any]] = [("+", {"id": 10 * number + i, "k": i}) for i in range(3)]
            store.append({"lookups": ids, "names": [("+", {"k": number % 8, "name": f"n{number % 8}"})]})
            named = {n % 8 for n in range(1, number + 1)}
            expected = Counter(
                (10 * n + i, f"n{i}") for n in range(1, number + 1) for i in range(3) if i in named
            )
            running.run_once()
            assert rows(running, "named") == expected
            there = {path.stem for path in running.states["lookups"].paths}
            assert kept(tmp_path) <= there
        assert kept(tmp_path)
        assert len(there) < 8
    with pipeline(SCRIPT, tmp_path) as running:
        assert not kept(tmp_path)
        assert rows(running, "named") == expected
