"""The notebook of the claims, top to bottom, with the Postgres it starts.

Oracle: the query of Postgres in the notebook itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.services.cast import look
from tests.notebook.executed import Executed, tables


@pytest.mark.jvm
@pytest.mark.services
@pytest.mark.timeout(1200)
def test_the_costs_of_the_claims_are_those_of_the_database(folder: Path) -> None:
    claims = Executed("claims", folder)
    kept, differ = tables(claims.text("rows_that_differ"))
    assert len(kept) == 28 and differ == [["0"]]
    (chart,) = claims.outputs("--chart bar")
    by_animal: dict[str, float] = {}
    for _, _, animal, cost in kept:
        by_animal[animal] = by_animal.get(animal, 0) + float(cost)
    (shown,) = tables(chart["data"]["text/plain"])
    assert {animal: float(cost) for animal, cost in shown} == by_animal
    assert look(folder / ".headwater" / "services") == []
