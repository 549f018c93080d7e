"""A bank whose pipeline is killed again and again, everywhere: the books are true at every moment anybody looks.

Oracles: nothing is ever paid in or out, so that balances add up to 0; a row joined with itself is never alone; what the
transfers add up to is what the accounts hold; and at the end the bank's own database.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.faults.bank import OF_CAPTURE, OF_PIPELINE, Bank, bank
from tests.pipeline.world import made_database
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.timeout(4 * 3600)]

TRUE = (0, 0, 0, 0, 0)
"""What the auditor finds in books that are true."""

FEW, MANY = 60, 1000
"""So many kills in `make test`, and in `make faults`."""

NEAR = ("capture", "backend", "line", *OF_CAPTURE)
FAR = ("pipeline", *OF_PIPELINE)
"""Whose death takes a start of Java to mend: one of six kills."""


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    """Where the bank and its books are."""
    with temporary_postgres({"fsync": "off"}) as running:
        yield running


@pytest.fixture
def source(server: EmbeddedPostgres) -> Iterator[Database]:
    """The bank's database."""
    with made_database(server) as found:
        yield found


@pytest.fixture
def target(server: EmbeddedPostgres) -> Iterator[Database]:
    """Where the books are kept."""
    with made_database(server) as found:
        yield found


def victim(number: int, dice: random.Random) -> str:
    """Who dies: everyone in turn, so that none is left out."""
    turn, rest = divmod(number, 6)
    return FAR[turn % len(FAR)] if rest == 5 else dice.choice(NEAR)


def test_the_books_are_true_whoever_dies(
    tmp_path: Path,
    source: Database,
    target: Database,
    kills: int,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    seed = str(pytestconfig.getoption("--seed")) or str(secrets.randbelow(10**9))
    first, count = int(pytestconfig.getoption("kill_from")), FEW if kills <= 3 else MANY
    died: Counter[str] = Counter()
    with bank(tmp_path, source, target) as found:
        found.start()
        with found.auditor():
            # From so many on, every transaction changes some of them.
            found.transact(random.Random(seed), least=1000)
            found.become_equal()
            for number in range(first, count):
                print(f"kill {number} of seed {seed}", flush=True)
                died[one_kill(found, number, random.Random(f"{seed} {number}"))] += 1
                # At every kill, so that a run that is stopped and goes on elsewhere has not looked in vain.
                assert set(found.audits) <= {TRUE}, f"kill {number} of seed {seed}: {found.audits}"
            found.become_equal()
    told = {"seed": seed, "kills": dict(died), "looks": found.audits.total()}
    record_property("told", told)
    print(told)
    assert found.audits.total() > 100
    assert set(found.audits) == {TRUE}, told


def one_kill(found: Bank, number: int, dice: random.Random) -> str:
    """Let the bank work, let someone die; every tenth time the books have to become equal before the next."""
    before = found.batch()
    for _ in range(dice.randint(1, 4)):
        found.transact(dice)
    who = victim(number, dice)
    # One of three falls while it is still starting, the others at work.
    if dice.random() < 0.67:
        found.move_on(before)
    found.kill(who, dice)
    if number % 10 == 9:
        found.become_equal()
    return who
