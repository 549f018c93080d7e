"""The tables that random queries read: few rows, few distinct values, many NULLs, so that everything meets.

Three have a primary key, one a key of two columns, one none at all: its rows come more than once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

from headwater.schema import Column as Declared
from headwater.schema import Schema
from tests.random_queries.words import Column, Grade, Kind

VALUES: dict[Kind, tuple[Any, ...]] = {
    Kind.INT: (0, 1, 2, 3, 4),
    Kind.BIGINT: (-3, 0, 1, 2, 7, 40, 3_000_000_000),
    Kind.STRING: ("", "a", "ab", "b", "Bc", "ä"),
    Kind.DECIMAL: tuple(map(Decimal, ("-2.25", "0.00", "1.50", "10.00", "99.99"))),
    # Multiples of a quarter: sums of them are exact in whatever order they are added.
    Kind.DOUBLE: (-2.0, 0.0, 0.25, 1.5, 3.75, 10.0),
    Kind.DATE: (date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(2024, 3, 15)),
    Kind.BOOLEAN: (False, True),
}
"""What a column of each kind holds besides NULL."""

WILD_VALUES = (1e17, inf, nan)
"""What a floating sum must forget once it is gone."""

NULLS = 0.2
WILD = 0.12


@dataclass(frozen=True)
class Table:
    """A table: its columns, its key, and the range of those key columns that number its rows."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        """Its columns and key as the engine knows them."""
        return Schema(tuple(Declared(c.name, c.kind.spark) for c in self.columns), self.key)

    @property
    def ddl(self) -> str:
        """The statement that declares it."""
        columns = [f"{c.name} {c.kind.spark.upper()}" for c in self.columns]
        key = [f"PRIMARY KEY ({', '.join(self.key)}) NOT ENFORCED"] if self.key else []
        return f"CREATE TABLE {self.name} ({', '.join([*columns, *key])}) WITH ('connector' = 'values')"

    def random_row(self, dice: Random) -> dict[str, Any]:
        """A row; its key may be taken."""
        return {column.name: self._random_cell(column, dice) for column in self.columns}

    def _random_cell(self, column: Column, dice: Random) -> Any:
        if column.name == "id":
            return dice.randint(1, 24)
        if column.name not in self.key and dice.random() < NULLS:
            return None
        if column.grade is Grade.WILD and dice.random() < WILD:
            return dice.choice(WILD_VALUES)
        return dice.choice(VALUES[column.kind])


def _table(name: str, columns: str, *, key: str = "") -> Table:
    """`_table("t", "k INT, w WILD", key="k")`; a wild column is a DOUBLE that also holds extreme values."""
    made = []
    for column in columns.split(", "):
        called, kind = column.split(" ")
        is_wild = kind == "WILD"
        made.append(Column(called, Kind.DOUBLE if is_wild else Kind[kind], Grade(is_wild)))
    return Table(name, tuple(made), tuple(key.split()))


TABLES = (
    _table("items", "id INT, k INT, s STRING, n BIGINT, p DECIMAL, x DOUBLE, d DATE, b BOOLEAN", key="id"),
    _table("users", "id BIGINT, k INT, s STRING, d DATE, x DOUBLE", key="id"),
    _table("parts", "k INT, m INT, s STRING, p DECIMAL, n BIGINT", key="k m"),
    _table("tiny", "k INT, s STRING, p DECIMAL, b BOOLEAN", key="k"),
    _table("notes", "k INT, s STRING, x DOUBLE, w WILD, d DATE, b BOOLEAN"),
)
BY_NAME = {table.name: table for table in TABLES}
