"""A bank whose pipeline is killed again and again, everywhere: the books are true at every moment anybody looks.

Oracles: nothing is ever paid in or out, so that balances add up to 0; a row joined with itself is never alone; what the
transfers add up to is what the accounts hold; no table is read again; and at the end the bank's own database.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
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


@pytest.mark.parametrize(("count", "near", "far"), [(FEW, 40, 10), (MANY, 700, 100)])
def test_so_many_kills_are_of_everyone(count: int, near: int, far: int) -> None:
    died = Counter(victim(number, random.Random(f"7 {number}")) for number in range(count))
    assert sum(died[who] for who in NEAR) >= near and sum(died[who] for who in FAR) >= far
    assert set(died) == {*NEAR, *FAR}


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
    plan = Plan(seed, iter(range(int(pytestconfig.getoption("kill_from")), count)))
    with ExitStack() as closing, ThreadPoolExecutor(beside) as pool:
        banks = [closing.enter_context(branch(server, tmp_path / f"bank{n}")) for n in range(beside)]
        working = [pool.submit(many_kills, found, plan) for found in banks]
        try:
            wait(working, return_when=FIRST_EXCEPTION)
        finally:
            # If one has failed, the others begin with nothing more.
            for _ in plan.numbers:
                pass
        died = sum((one.result() for one in working), Counter())
    looks = sum((found.audits for found in banks), Counter())
    told = {"seed": seed, "kills": dict(died), "looks": looks.total()}
    record_property("told", told)
    print(told)
    assert looks.total() > 100
    assert set(looks) == {TRUE}, told


@dataclass(frozen=True)
class Plan:
    """The kills of a run: what they are drawn from, and the numbers that are left."""

    seed: str
    numbers: Iterator[int]

    def dice(self, number: int) -> random.Random:
        """Whatever happens around a kill is drawn from these: it is the same whichever kill a run begins with."""
        return random.Random(f"{self.seed} {number}")


def many_kills(found: Bank, plan: Plan) -> Counter[str]:
    """Let a bank work while somebody dies for each of the numbers; who died how often."""
    died: Counter[str] = Counter()
    found.start()
    with found.auditor():
        # From so many on, every transaction changes some of them.
        found.transact(random.Random(plan.seed), least=1000)
        found.become_equal()
        read = found.tables_read()
        assert read >= 2, "of both tables it is said"
        for number in plan.numbers:
            named, dice = f"kill {number} of seed {plan.seed}", plan.dice(number)
            who = victim(number, dice)
            print(f"{named}: {who}", flush=True)
            one_kill(found, number, who, dice)
            died[who] += 1
            # At every kill, so that a run that is stopped and goes on elsewhere has not looked in vain.
            assert set(found.audits) <= {TRUE}, f"{named}: {found.audits}"
            print(f"{named}: true, {found.audits.total()} looks", flush=True)
        found.become_equal()
        assert found.tables_read() == read, "no table is read again"
    return died


def one_kill(found: Bank, number: int, who: str, dice: random.Random) -> None:
    """Let the bank work, let someone die; every tenth time the books have to become equal before the next."""
    before = found.batch()
    for _ in range(dice.randint(1, 4)):
        found.transact(dice)
    # One of three falls while it is still starting, the others at work.
    if dice.random() < 0.67:
        found.move_on(before)
    found.kill(who, dice)
    if number % 10 == 9:
        found.become_equal()
