"""Queries written by hand stay true; the oracle is Spark batch running their own text, after the fill and every step."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from headwater.runtime.open import open_engine
from tests.random_queries.campaign import TOGETHER, Quiet, history
from tests.random_queries.oracle import oracle_beside
from tests.random_queries.trial import Trial, View

WRITTEN = [
    line
    for line in Path(__file__).with_name("written.sql").read_text().splitlines()
    if line and not line.startswith("--")
]


@pytest.mark.jvm
@pytest.mark.timeout(600)
def test_written_queries_stay_true(random_seed: str, tmp_path: Path) -> None:
    oracle = oracle_beside(open_engine("written queries", tmp_path / "spark" / "work", Quiet()).spark)
    views = [View(f"view{number}", query) for number, query in enumerate(WRITTEN, 1)]
    wrong: list[str] = []
    for begin in range(0, len(views), TOGETHER):
        trial = Trial(
            views[begin : begin + TOGETHER],
            history(Random(f"{random_seed} {begin}")),
            tmp_path / f"from-{begin}",
            oracle,
        )
        trial.run()
        wrong += [f"{f.view.sql}\nafter step {f.step}: {f.what}" for f in trial.failures.values()]
        wrong += [f"Spark does not take {name}: {said}" for name, said in trial.unanswered.items()]
        assert trial.moved > 0
    assert not wrong, "\n\n".join([f"--seed {random_seed}", *wrong])
