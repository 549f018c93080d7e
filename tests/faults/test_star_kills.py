"""A star schema that is killed while the shop works: it ends as the queries say, and no line ever stood alone.

Oracle: the queries, asked of the shop's own database.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from headwater.demo.classicmodels import Clerk
from tests.faults.star import SERVERS, star

pytestmark = [pytest.mark.services, pytest.mark.timeout(3600)]


@pytest.mark.parametrize("server", SERVERS)
def test_a_star_is_always_whole(tmp_path: Path, server: str, kills: int) -> None:
    dice = random.Random(server)
    with star(tmp_path, server) as found, found.connect() as client:
        client.select_db("classicmodels")
        clerk = Clerk(client, seed=len(server))
        found.start()
        with found.reader():
            found.become_equal()
            for number in range(kills):
                for _ in range(dice.randint(5, 25)):
                    clerk.work()
                found.kill("capture" if number % 2 else "pipeline")
                for _ in range(dice.randint(5, 25)):
                    clerk.work()
            found.become_equal()
        assert len(found.orphans) > 100
        assert set(found.orphans) == {0}
