"""Random transactions on the tables, and the rows they leave."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa

from tests.random_queries.tables import TABLES, Table
from tests.stories.law import Truth

Change = tuple[str, dict[str, Any]]
Transaction = dict[str, list[Change]]
"""The changes of each table, as connector 'values' takes them."""

ROWS = 14
"""About how many rows a table has."""


@dataclass
class Rows:
    """What every table holds."""

    truth: Truth = field(default_factory=Truth)

    def of(self, table: Table) -> list[dict[str, Any]]:
        """The rows of a table, in an order that is always the same."""
        bag = self.truth.bags.get(table.name, Counter())
        rows = [row for row, count in bag.items() for _ in range(count)]
        return [dict(zip(table.schema.names, row, strict=True)) for row in rows]

    def take(self, transaction: Transaction) -> None:
        """A transaction is committed."""
        for table in TABLES:
            for sign, values in transaction.get(table.name, []):
                self.truth.remember(table.name, table.schema, sign, values)
            self.truth.bags[table.name] = +self.truth.bags.get(table.name, Counter())

    def arrow(self) -> dict[str, pa.Table]:
        """All tables."""
        return {table.name: self.truth.rows(table.name, table.schema) for table in TABLES}


def fill(dice: Random) -> Transaction:
    """The first rows; one table may still be empty."""
    late = dice.choice([*TABLES, None, None])
    return {t.name: _inserts(t, [], dice, ROWS) for t in TABLES if t is not late}


def step(dice: Random, rows: Rows) -> list[Transaction]:
    """One to three transactions, each on some of the tables; `rows` takes them in."""
    made = []
    for _ in range(dice.randint(1, 3)):
        chosen = dice.sample(TABLES, dice.randint(1, 3))
        transaction = {table.name: changes(table, rows.of(table), dice) for table in chosen}
        rows.take(transaction)
        made.append(transaction)
    return made


def refilled(dice: Random, rows: Rows) -> Transaction:
    """Tables with few rows get more."""
    few = [(table, held) for table in TABLES if len(held := rows.of(table)) < ROWS // 2]
    transaction = {table.name: _inserts(table, held, dice, ROWS) for table, held in few}
    rows.take(transaction)
    return transaction


def emptied(table: Table, rows: Rows) -> Transaction:
    """All rows of a table go."""
    transaction = {table.name: [("-", row) for row in rows.of(table)]}
    rows.take(transaction)
    return transaction


def changes(table: Table, rows: list[dict[str, Any]], dice: Random) -> list[Change]:
    """Some rows change, some go, some come, and the table stays about as large as it was."""
    touched = dice.sample(rows, min(len(rows), dice.randint(1, 4)))
    made: list[Change] = []
    for row in touched:
        made.append(("-", row))
        if dice.random() < 0.6:
            made.append(("+", row | _new_values(table, row, dice)))
    gone = [row for row in rows if not any(row is other for other in touched)]
    stay = gone + [row for sign, row in made if sign == "+"]
    return made + _inserts(table, stay, dice, min(6, max(1, ROWS - len(stay))))


def _new_values(table: Table, row: dict[str, Any], dice: Random) -> dict[str, Any]:
    other = table.random_row(dice)
    names = [name for name in row if name not in table.key]
    return {name: other[name] for name in dice.sample(names, dice.randint(1, 2))}


def _inserts(table: Table, rows: list[dict[str, Any]], dice: Random, count: int) -> list[Change]:
    """New rows; of a table without a key some come twice, of one with a key each key once."""
    taken = {tuple(row[name] for name in table.key) for row in rows}
    made: list[Change] = []
    for _ in range(count):
        row = table.random_row(dice)
        key = tuple(row[name] for name in table.key)
        if not table.key:
            made += [("+", row)] * dice.choice([1, 1, 2])
        elif key not in taken:
            taken.add(key)
            made.append(("+", row))
    return made
