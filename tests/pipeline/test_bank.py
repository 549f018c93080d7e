"""The bank: money goes from account to account, and the total is 0 in every batch that anybody can see.

After "Internal consistency in streaming systems" (2021). Oracles: nothing is ever paid in or out, so that balances add up
to 0; a row that is joined with itself is never without a partner; and the balances themselves, added up by the test.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headwater.log.positions import Cut
from headwater.runtime.facts import BatchDone
from headwater.sinks.values import KEPT, kept
from headwater.sources.values import STORES, ValuesStore
from headwater.sources.values_events import Change
from tests.pipeline.world import Listening, pipeline

pytestmark = pytest.mark.jvm

ACCOUNTS = 10

SCRIPT = """
SET 'pipeline.name' = '{name}';
CREATE TABLE transfers (id INT, giver INT, taker INT, amount INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'values');
CREATE TABLE accounts (id INT, held BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');

CREATE VIEW credits AS SELECT taker AS account, SUM(amount) AS credits FROM transfers GROUP BY taker;
CREATE VIEW debits AS SELECT giver AS account, SUM(amount) AS debits FROM transfers GROUP BY giver;
CREATE VIEW balance AS
  SELECT COALESCE(c.account, d.account) AS account, COALESCE(credits, 0) - COALESCE(debits, 0) AS balance
  FROM credits c FULL JOIN debits d ON c.account = d.account;
CREATE VIEW total AS SELECT SUM(balance) AS total, COUNT(*) AS accounts FROM balance;
CREATE VIEW held AS SELECT SUM(held) AS total FROM accounts;
CREATE VIEW pairs AS
  SELECT t.id, u.id AS other FROM transfers t LEFT JOIN transfers u ON t.id = u.id AND t.amount = u.amount;
CREATE VIEW told_twice AS
  SELECT a.id FROM accounts a LEFT JOIN balance b ON a.id = b.account WHERE a.held <> COALESCE(b.balance, 0);

CREATE TABLE balance_out (account INT, balance BIGINT, PRIMARY KEY (account) NOT ENFORCED)
  WITH ('connector' = 'values');
CREATE TABLE total_out (total BIGINT, accounts BIGINT) WITH ('connector' = 'values');
CREATE TABLE held_out (total BIGINT) WITH ('connector' = 'values');
CREATE TABLE pairs_out (id INT, other INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE told_twice_out (id INT) WITH ('connector' = 'values');
INSERT INTO balance_out SELECT account, balance FROM balance;
INSERT INTO total_out SELECT total, accounts FROM total;
INSERT INTO held_out SELECT total FROM held;
INSERT INTO pairs_out SELECT id, other FROM pairs;
INSERT INTO told_twice_out SELECT id FROM told_twice;
"""


@dataclass
class Bank:
    """Accounts that pay each other, and what their books must say."""

    store: ValuesStore
    dice: random.Random
    held: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(ACCOUNTS), 0))
    paid: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    number: int = 0

    def open(self) -> None:
        """Every account is there, with nothing on it."""
        self.store.append({"accounts": [("+", {"id": id, "held": 0}) for id in self.held]})

    def transact(self, transfers: int) -> None:
        """So many transfers, changed and withdrawn ones among them, as one transaction."""
        before, moves = dict(self.held), list[Change]()
        for _ in range(transfers):
            moves += self._correct() if self.paid and self.dice.random() < 0.3 else self._pay()
        books: list[Change] = []
        for account in before:
            if before[account] != self.held[account]:
                books.append(("-", {"id": account, "held": before[account]}))
                books.append(("+", {"id": account, "held": self.held[account]}))
        self.store.append({"transfers": moves, "accounts": books})

    def _pay(self) -> list[Change]:
        self.number += 1
        giver, taker = self.dice.sample(range(ACCOUNTS), 2)
        self.paid[self.number] = (giver, taker, self.dice.randint(1, 1000))
        self._book(*self.paid[self.number])
        return [("+", self._row(self.number))]

    def _correct(self) -> list[Change]:
        """A transfer goes, or goes by another amount."""
        number = self.dice.choice(list(self.paid))
        gone: Change = ("-", self._row(number))
        giver, taker, amount = self.paid[number]
        self._book(taker, giver, amount)
        if self.dice.random() < 0.5:
            del self.paid[number]
            return [gone]
        self.paid[number] = (giver, taker, self.dice.randint(1, 1000))
        self._book(*self.paid[number])
        return [gone, ("+", self._row(number))]

    def _book(self, giver: int, taker: int, amount: int) -> None:
        self.held[giver] -= amount
        self.held[taker] += amount

    def _row(self, number: int) -> dict[str, int]:
        giver, taker, amount = self.paid[number]
        return {"id": number, "giver": giver, "taker": taker, "amount": amount}


@dataclass
class Auditor(Listening):
    """Looks at all sinks after every single batch."""

    name: str = ""
    totals: Counter[object] = field(default_factory=Counter)
    alone: int = 0
    books_apart: int = 0

    def batch(self, done: BatchDone) -> None:
        """Every batch leaves the books in order."""
        seen = kept(self.name)
        self.totals.update(row[0] for row in seen.rows("total_out"))
        self.totals.update(row[0] for row in seen.rows("held_out"))
        self.totals[sum(int(str(row[1])) for row in seen.rows("balance_out"))] += 1
        self.alone += sum(row[1] is None for row in seen.rows("pairs_out"))
        self.books_apart += len(seen.rows("told_twice_out"))


@pytest.mark.parametrize("transfers", [1, 10, 1000])
def test_no_batch_shows_money_that_comes_from_nowhere(transfers: int, tmp_path: Path) -> None:
    name = f"bank{transfers}"
    STORES[name] = ValuesStore(deliver_twice=True)
    KEPT.pop(name, None)
    bank, auditor = Bank(STORES[name], random.Random(transfers)), Auditor(name=name)
    bank.open()
    bank.transact(50)
    script = SCRIPT.format(name=name)
    for _ in range(2):  # the second time after a restart
        with pipeline(script, tmp_path, auditor) as running:
            for _ in range(3):
                for _ in range(bank.dice.randint(1, 3)):
                    bank.transact(transfers)
                running.run_once()
    assert set(auditor.totals) == {0}
    assert auditor.totals[0] >= 3 * 6, "three totals after each of six batches, or more"
    assert (auditor.alone, auditor.books_apart) == (0, 0)
    balances = {row[0]: row[1] for row in kept(name).rows("balance_out")}
    assert {a: b for a, b in balances.items() if b} == {a: b for a, b in bank.held.items() if b}
    assert {row[0] for row in kept(name).rows("pairs_out")} == set(bank.paid)
    assert kept(name).rows("total_out") == [(0, len(balances))]


def test_an_auditor_sees_half_a_transfer() -> None:
    """The check can fail: a sink that shows one side only is noticed."""
    auditor = Auditor(name="half")
    KEPT.pop("half", None)
    kept("half").keep(1, {}, {"balance_out": Counter([(1, -5)]), "pairs_out": Counter([(1, None)])})
    auditor.batch(BatchDone(1, Cut(), 0, {}))
    assert set(auditor.totals) == {-5}
    assert auditor.alone == 1
