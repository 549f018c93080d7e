"""A star schema that is killed while the shop works: it ends as the queries say, and no line ever stood alone.

Oracle: the queries, asked of the shop's own database.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from headwater.connect.client import ConnectClient
from headwater.connect.files import connector_of
from headwater.demo.classicmodels import Clerk
from tests.faults.star import SERVERS, Star, connector, star, through
from tests.stage.shared import SharedConnect, fresh

pytestmark = [pytest.mark.services, pytest.mark.timeout(7200)]


def of_each_way(kills: int) -> int:
    """How many kills each of the four ways is given: a few are shared by all of them, many are for each."""
    return kills if kills > len(SERVERS) * 2 else 1


def kill_and_compare(found: Star, victims: tuple[str, ...], kills: int) -> None:
    """Let the shop work, kill someone, and so on; at the end the star is what the queries give."""
    dice = random.Random(str(victims))
    with found.connect() as client:
        client.select_db("classicmodels")
        clerk = Clerk(client, seed=kills)
        found.start()
        with found.reader():
            found.become_equal()
            for number in range(kills):
                for _ in range(dice.randint(5, 25)):
                    clerk.work()
                # One of three falls while it is still starting, the others at work.
                if number % 3 != 2:
                    found.move_on()
                found.kill(victims[number % len(victims)])
                for _ in range(dice.randint(5, 25)):
                    clerk.work()
            found.become_equal()
    assert len(found.orphans) > 100
    assert set(found.orphans) == {0}


@pytest.mark.parametrize("server", SERVERS)
def test_a_star_from_the_server_s_own_log_is_always_whole(tmp_path: Path, server: str, kills: int) -> None:
    with star(tmp_path, server) as found:
        kill_and_compare(found, ("pipeline", "capture"), of_each_way(kills) + 1)


@pytest.mark.parametrize("server", SERVERS)
def test_a_star_through_kafka_is_always_whole(
    tmp_path: Path, server: str, connect: SharedConnect, kills: int
) -> None:
    prefix = fresh("shop").replace("-", "_")
    with star(tmp_path, server) as found:
        client = ConnectClient(connect.url)
        said = connector(server, found.source, connect.kafka, prefix)
        client.put(connector_of(said, "register-mysql.json"))
        try:
            assert not client.wait(prefix).failed
            found.text = through(connect.kafka, prefix, found.target)
            kill_and_compare(found, ("pipeline",), of_each_way(kills))
        finally:
            client.delete(prefix)
