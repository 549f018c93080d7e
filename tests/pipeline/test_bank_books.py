"""A bank in one database, its books in another: they are true after every batch, and whenever anybody looks.

Oracles: nothing is ever paid in or out, so that balances add up to 0; a row joined with itself is never alone; what the
transfers add up to is what the accounts hold; and the books are those that the bank's own database had after one of its
transactions, never an earlier one than before.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headwater.runtime.facts import BatchDone
from headwater.services.postgres import EmbeddedPostgres
from tests.faults.bank import AUDIT, BOOKS, TABLES, TRUE_BALANCE, Books, script_of
from tests.pipeline.world import Listening, made_database, pipeline
from tests.postgres.world import wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm]

TRUE = (0, 0, 0, 0, 0)

Balances = list[tuple[int, int]]


@dataclass
class Auditor(Listening):
    """Looks at the books after every committed batch, by a connection of its own."""

    books: Books = field(kw_only=True)
    truths: list[Balances] = field(default_factory=list)
    """What was true after each transaction."""
    places: list[int] = field(default_factory=list)
    """Which of them the books were, batch by batch."""

    def transact(self, dice: random.Random, transfers: int) -> None:
        """One transaction, and what is true after it."""
        self.books.transact(dice, least=transfers, most=transfers)
        self.truths.append(sorted(self.books.source.run(TRUE_BALANCE)))

    def batch(self, done: BatchDone) -> None:
        """No total is off, and the books are those of one moment."""
        super().batch(done)
        (found,) = self.books.target.run(AUDIT)
        assert tuple(map(int, found)) == TRUE, f"after batch {done.batch_id}"
        held = sorted(self.books.target.run("SELECT account, balance FROM balance"))
        first = self.places[-1] if self.places else 0
        self.places.append(self.truths.index(held, first))


@pytest.fixture
def books(server: EmbeddedPostgres) -> Iterator[Books]:
    """A bank with empty accounts, and empty books."""
    with made_database(server) as source, made_database(server) as target:
        source.run(TABLES)
        target.run(BOOKS)
        yield Books(source, target)


@pytest.mark.parametrize("transfers", [1, 10, 1000])
def test_the_books_are_true_after_every_batch(books: Books, folder: Path, transfers: int) -> None:
    dice, auditor = random.Random(transfers), Auditor(books=books)
    script = script_of(books.source, books.target, port=int(books.source.port or 0))
    auditor.transact(dice, 1000)
    with books.auditor():
        for _ in range(2):  # the second time after a restart
            with pipeline(script, folder, auditor) as running:
                for _ in range(6):
                    for _ in range(dice.randint(1, 3)):
                        auditor.transact(dice, transfers)
                    running.run_once()
        wait_for(lambda: books.audits.total() > len(auditor.batches))
    assert set(books.audits) == {TRUE}, books.audits
    assert len(auditor.places) >= 12 and auditor.places[-1] == len(auditor.truths) - 1
    assert len({str(truth) for truth in auditor.truths}) > 12, "the balances did change"
