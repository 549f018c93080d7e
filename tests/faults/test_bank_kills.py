"""A bank whose pipeline is killed again and again, everywhere: the books are true at every moment anybody looks.

Oracles: nothing is ever paid in or out, so that balances add up to 0; a row joined with itself is never alone; what the
transfers add up to is what the accounts hold; and at the end the bank's own database.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from headwater.services.postgres import EmbeddedPostgres, temporary_postgres
from tests.faults.bank import OF_CAPTURE, OF_PIPELINE, Bank, bank
from tests.pipeline.world import made_database

pytestmark = [pytest.mark.services, pytest.mark.timeout(4 * 3600)]

TRUE = (0, 0, 0, 0, 0)
"""What the auditor finds in books that are true."""

FEW, MANY = 60, 1000
"""So many kills in `make test`, and in `make faults`."""

BANKS = 2
"""So many banks share the many kills: while one waits for its Java, the other works."""

NEAR = ("capture", "backend", "line", *OF_CAPTURE)
FAR = ("pipeline", *OF_PIPELINE)
"""Whose death takes a start of Java to mend: one of six kills."""


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    """Where the bank and its books are."""
    with temporary_postgres({"fsync": "off"}) as running:
        yield running


@contextmanager
def branch(server: EmbeddedPostgres, folder: Path) -> Iterator[Bank]:
    """A bank with a folder and two databases of its own: one for the bank, one where its books are kept."""
    folder.mkdir()
    with (
        made_database(server) as source,
        made_database(server) as target,
        bank(folder, source, target) as found,
    ):
        yield found


def victim(number: int, dice: random.Random) -> str:
    """Who dies: everyone in turn, so that none is left out."""
    turn, rest = divmod(number, 6)
    return FAR[turn % len(FAR)] if rest == 5 else dice.choice(NEAR)


def test_the_books_are_true_whoever_dies(
    tmp_path: Path,
    server: EmbeddedPostgres,
    kills: int,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    seed = str(pytestconfig.getoption("--seed")) or str(secrets.randbelow(10**9))
    count, beside = (FEW, 1) if kills <= 3 else (MANY, BANKS)
    # Each number goes to the bank that is free.
    numbers = iter(range(int(pytestconfig.getoption("kill_from")), count))
    with ExitStack() as closing, ThreadPoolExecutor(beside) as pool:
        banks = [closing.enter_context(branch(server, tmp_path / f"bank{n}")) for n in range(beside)]
        working = [pool.submit(many_kills, found, seed, numbers) for found in banks]
        try:
            wait(working, return_when=FIRST_EXCEPTION)
        finally:
            # If one has failed, the others begin with nothing more.
            for _ in numbers:
                pass
        died = sum((one.result() for one in working), Counter())
    looks = sum((found.audits for found in banks), Counter())
    told = {"seed": seed, "kills": dict(died), "looks": looks.total()}
    record_property("told", told)
    print(told)
    assert looks.total() > 100
    assert set(looks) == {TRUE}, told


def many_kills(found: Bank, seed: str, numbers: Iterator[int]) -> Counter[str]:
    """Let a bank work while somebody dies for each of the numbers; who died how often."""
    died: Counter[str] = Counter()
    found.start()
    with found.auditor():
        # From so many on, every transaction changes some of them.
        found.transact(random.Random(seed), least=1000)
        found.become_equal()
        for number in numbers:
            print(f"kill {number} of seed {seed}", flush=True)
            died[one_kill(found, number, random.Random(f"{seed} {number}"))] += 1
            # At every kill, so that a run that is stopped and goes on elsewhere has not looked in vain.
            assert set(found.audits) <= {TRUE}, f"kill {number} of seed {seed}: {found.audits}"
        found.become_equal()
    return died


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
