"""A star schema that is killed while the shop works: it ends as the queries say, and no line ever stood alone.

Oracle: the queries, asked of the shop's own database.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.connect.client import ConnectClient
from headwater.connect.files import connector_of
from headwater.demo.classicmodels import Clerk
from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.faults.star import Star, connector, star, through
from tests.pipeline.world import made_database
from tests.postgres.world import Database, wait_for
from tests.stage.shared import SharedConnect, SharedMysql, fresh

pytestmark = [pytest.mark.services, pytest.mark.timeout(7200)]


FEW = {
    ("log", "mariadb"): ("pipeline", "capture"),
    ("topics", "mysql"): ("pipeline",),
    ("topics", "mariadb"): (),
}
"""Who is killed where three kills have to do for all ways to a star; the way left out is that of `headwater demo star`,
which tests/demo looks at."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each server in turn."""
    way = "topics" if "connect" in metafunc.fixturenames else "log"
    has_few = metafunc.config.getoption("--kills") <= 3
    metafunc.parametrize(
        "kind", [k for k in ("mysql", "mariadb") if not has_few or (way, k) in FEW], scope="function"
    )


@pytest.fixture
def source(request: pytest.FixtureRequest, kind: str) -> SharedMysql:
    """Where the shop is."""
    found: SharedMysql = request.getfixturevalue(kind)
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    """Where the stars are."""
    with temporary_postgres({"fsync": "off"}) as running:
        yield running


@pytest.fixture
def target(server: EmbeddedPostgres) -> Iterator[Database]:
    """A database for a star."""
    with made_database(server) as found:
        yield found


def victims(way: str, kind: str, kills: int) -> tuple[str, ...]:
    """Who is killed, one after the other: each way has so many kills of its own, unless they are few."""
    if kills <= 3:
        return FEW[way, kind]
    return (("pipeline", "capture") * kills if way == "log" else ("pipeline",) * kills)[:kills]


def kill_and_compare(found: Star, victims: tuple[str, ...]) -> None:
    """Let the shop work, kill someone, and so on; at the end the star is what the queries give."""
    dice = random.Random(str(victims))
    with found.connect() as client:
        client.select_db("classicmodels")
        clerk = Clerk(client, seed=len(victims))
        found.start()
        with found.reader():
            found.become_equal()
            for number, victim in enumerate(victims):
                before = found.batch()
                work(clerk, dice)
                # One of three falls while it is still starting, the others at work.
                if number % 3 != 2:
                    found.move_on(before)
                found.kill(victim)
            work(clerk, dice)
            found.become_equal()
            wait_for(lambda: len(found.orphans) > 100, seconds=120)
    assert set(found.orphans) == {0}


def work(clerk: Clerk, dice: random.Random) -> None:
    """Many transactions, of all kinds."""
    for _ in range(dice.randint(20, 50)):
        clerk.work()


def test_a_star_from_the_server_s_own_log_is_always_whole(
    tmp_path: Path, kind: str, source: SharedMysql, target: Database, kills: int
) -> None:
    with star(tmp_path, source, target) as found:
        kill_and_compare(found, victims("log", kind, kills))


def test_a_star_through_kafka_is_always_whole(
    tmp_path: Path, kind: str, source: SharedMysql, target: Database, connect: SharedConnect, kills: int
) -> None:
    prefix = fresh("shop").replace("-", "_")
    with star(tmp_path, source, target) as found:
        client = ConnectClient(connect.url)
        said = connector(kind, found.source, connect.kafka, prefix)
        client.put(connector_of(said, "register-mysql.json"))
        try:
            assert not client.wait(prefix, seconds=180).failed
            found.text = through(connect.kafka, prefix, found.target)
            kill_and_compare(found, victims("topics", kind, kills))
        finally:
            client.delete(prefix)
