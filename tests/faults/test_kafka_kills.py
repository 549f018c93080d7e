"""Kill -9 of everyone on the way, while the database changes: nothing is lost, nothing is doubled.

In each round each of them is killed once, in an order of its own; the next may fall before the last has caught up.

Oracle: the query, asked of Postgres itself. The index and the output topic must come to hold exactly its answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.faults.cast import Cast, Life, cast
from tests.postgres.world import wait_for

VICTIMS = ("pipeline", "broker", "connector", "search")

pytestmark = [pytest.mark.services, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    """A cast whose pipeline has come to its first answer."""
    with cast(tmp_path_factory.mktemp("faults")) as found:
        found.register()
        wait_for(lambda: "faults.public.claims" in found.topics(), seconds=180)
        found.start_pipeline()
        found.become_equal()
        yield found


def test_whoever_is_killed_the_outputs_become_what_the_query_gives(stage: Cast, kills: int) -> None:
    dice = random.Random(kills)
    for number in range(kills):
        with Life(stage.postgres.uri, number) as life:
            for victim in dice.sample(VICTIMS, len(VICTIMS)):
                life.go_on(dice.randint(5, 60))
                stage.kill(victim)
            life.go_on(dice.randint(5, 60))
        stage.become_equal()
