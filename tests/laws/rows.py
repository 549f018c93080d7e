"""Rows in Python: a list of all that ever came, each with its weight. Nothing here is fast or clever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.schema import WEIGHT, Schema
from tests.laws.to_duckdb import type_in_duckdb

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Rows:
    """Rows of named columns, whose types are DuckDB's; where they are weighted, the weight comes last."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...] = ()

    def chosen(self, names: Sequence[str]) -> Rows:
        """These columns of it, called as they are asked for; case does not matter."""
        places = {name.lower(): place for place, (name, _) in enumerate(self.columns)}
        at = [places[name.lower()] for name in names]
        columns = tuple((name, self.columns[place][1]) for name, place in zip(names, at, strict=True))
        return Rows(columns, tuple(tuple(row[place] for place in at) for row in self.rows))

    def values(self, name: str) -> list[Any]:
        """The values of a column, row by row."""
        return [value for (value,) in self.chosen([name]).rows]

    def where(self, name: str, wanted: Iterable[Any]) -> Rows:
        """Those whose column has one of these values; NULL meets NULL."""
        among = set(wanted)
        pairs = zip(self.rows, self.values(name), strict=True)
        return Rows(self.columns, tuple(row for row, value in pairs if value in among))

    def typed(self, schema: Schema) -> Rows:
        """The same rows as those of a relation, column by column."""
        assert len(self.columns) == len(schema.columns) + 1
        return weighted(schema, self.rows)

    def added(self, more: Rows) -> Rows:
        """These and some more."""
        assert self.columns == more.columns
        return Rows(self.columns, self.rows + more.rows)

    def negated(self) -> Rows:
        """What came goes, what went comes."""
        return Rows(self.columns, tuple((*row[:-1], -row[-1]) for row in self.rows))

    def net(self) -> dict[Row, int]:
        """Each weighted row once, with what its weights add up to; what came to nothing is left out."""
        total: Counter[Row] = Counter()
        for *row, weight in self.rows:
            total[tuple(row)] += weight
        return {row: weight for row, weight in total.items() if weight}

    def consolidated(self) -> Rows:
        """The same in as few rows as can be, each with +1 or -1."""
        once = [[(*row, 1 if weight > 0 else -1)] * abs(weight) for row, weight in self.net().items()]
        return Rows(self.columns, tuple(row for rows in once for row in rows))

    def bag(self) -> Rows:
        """Weighted rows as often as they are there, without weights."""
        net = self.net()
        assert all(weight > 0 for weight in net.values()), "a stored row went more often than it came"
        return Rows(self.columns[:-1], tuple(Counter(net).elements()))


def weighted(schema: Schema, rows: Iterable[Row] = ()) -> Rows:
    """Weighted rows of a relation."""
    columns = [(column.name, type_in_duckdb(column.type)) for column in schema]
    return Rows((*columns, (WEIGHT, "TINYINT")), tuple(rows))
