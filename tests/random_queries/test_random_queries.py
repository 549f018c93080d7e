"""Random queries stay true; the oracle is Spark batch on rows the test keeps itself, after the fill and every step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.random_queries.campaign import run_campaign
from tests.random_queries.queries import OPERATORS

LEAST = 10
"""So often each operator comes."""


@pytest.mark.jvm
@pytest.mark.timeout(3000)
def test_random_queries_stay_true(
    random_seed: str, query_count: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    found = run_campaign(random_seed, query_count, folder=tmp_path)
    record_property("told", found.told())
    wrong = [f"{f.view.name} after step {f.step}: {f.what}\n{f.view.sql}" for f, _ in found.failures]
    assert not wrong, "\n\n".join([f"--seed {random_seed} --queries {query_count}", *wrong])
    assert len(found.refused) < 0.1 * found.made, "\n\n".join(found.refused)
    if query_count >= 150:
        seldom = {name: found.operators[name] for name in OPERATORS if found.operators[name] < LEAST}
        assert not seldom, f"--seed {random_seed}"
        assert found.filled >= 0.8 * found.made, f"--seed {random_seed}"
