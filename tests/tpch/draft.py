"""One transaction while it is written: what the tables hold so far, and what was said to get there.

Rows stay in Arrow: a draft of a table of millions of rows makes no Python object for any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.events import DELETE, INSERT, KIND
from tests.tpch.tables import KEYS, Rows

Changes: TypeAlias = Mapping[str, pa.Table]
"""What a transaction says of each table: whole rows in order, with a column that calls each an insert or a delete."""


class Draft:
    """Rows that come and go, several tables in one transaction; a row may also come and go again."""

    def __init__(self, rows: Rows, dice: Random) -> None:
        self.rows = dict(rows)
        """What the tables hold now."""
        self.dice = dice
        self._said: dict[str, list[pa.Table]] = {}

    def insert(self, name: str, new: pa.Table) -> None:
        """Rows come; their keys are new."""
        self._say(name, new, INSERT)
        self.rows[name] = pa.concat_tables([self.rows[name], new])

    def delete(self, name: str, old: pa.Table) -> None:
        """Rows that the table holds go."""
        self._say(name, old, DELETE)
        gone = key_numbers(name, old)
        self.rows[name] = self.rows[name].filter(pc.invert(among(key_numbers(name, self.rows[name]), gone)))

    def update(self, name: str, old: pa.Table, new: pa.Table) -> None:
        """Rows that the table holds become others with the same keys."""
        self.delete(name, old)
        self.insert(name, new)

    def changes(self) -> Changes:
        """All that was said."""
        return {name: pa.concat_tables(said).combine_chunks() for name, said in self._said.items()}

    def drawn(self, rows: pa.Table, count: int) -> pa.Table:
        """So many of some rows, each at most once, in random order."""
        return rows.take(pa.array(self.dice.sample(range(len(rows)), min(count, len(rows))), pa.int64()))

    def _say(self, name: str, rows: pa.Table, kind: str) -> None:
        if len(rows):
            said = rows.append_column(KIND, pa.repeat(kind, len(rows)))
            self._said.setdefault(name, []).append(said)


def key_numbers(name: str, rows: pa.Table) -> pa.ChunkedArray:
    """A number for each row by which it can be found; no two keys share one up to scale 100."""
    first, *rest = (rows.column(column).cast(pa.int64()) for column in KEYS[name])
    return pc.add(pc.multiply(first, 1 << 24), rest[0]) if rest else first


def among(values: pa.ChunkedArray, wanted: pa.ChunkedArray) -> pa.ChunkedArray:
    """True where a value is one of the wanted."""
    return pc.is_in(values, value_set=wanted.combine_chunks())


def with_column(rows: pa.Table, column: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    """The same rows with other values in one column, cast to its type."""
    place = rows.schema.get_field_index(column)
    return rows.set_column(place, rows.schema.field(place), values.cast(rows.schema.field(place).type))
