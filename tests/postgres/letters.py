"""What the tests of rows that do not fit share: a table as its events make it, and its letters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from headwater.log.events import DELETE, DELETE_KEY, INSERT, TRUNCATE, UPSERT, Delivery
from headwater.log.letters import DEAD_LETTERS
from tests.postgres.world import Database, brief, events

Row = tuple[Any, ...]

PARKS = {"errors": "dead-letter"}

FIT = "n IS NULL OR n BETWEEN -999 AND 999 AND n = trunc(n)"
"""What a decimal(3,0) holds."""

KIND_COLUMN = {"kind": "row_kind"}

COLUMNS = "id int, n decimal(3,0), name string"


def letters(said: Sequence[Delivery]) -> list[tuple[str, str, dict[str, str | None]]]:
    """Of each letter the table, the column, and the row as it was sent."""
    return [
        (row["table_name"], row["column_name"], json.loads(row["value"]))
        for row in events(said, DEAD_LETTERS)
    ]


def folded(said: Sequence[Delivery], table: str, *, keys: int = 1) -> Counter[Row]:
    """The rows of a table after its events; the first columns are its key. A row that goes must have been there."""
    state: Counter[Row] = Counter()
    for kind, *values in brief(said, table):
        row = tuple(values)
        if kind == TRUNCATE:
            state.clear()
        if kind in (UPSERT, DELETE_KEY):
            for old in [one for one in state if one[:keys] == row[:keys]]:
                del state[old]
        if kind in (INSERT, UPSERT):
            state[row] += 1
        if kind == DELETE:
            assert state[row] > 0, f"{row} goes and was not there"
            state[row] -= 1
    return +state


def make(database: Database, identity: str = "FULL", key: str = "PRIMARY KEY") -> None:
    """A table of three rows, of which one fits `COLUMNS`."""
    database.run(f"CREATE TABLE t (id bigint {key}, n numeric, name text)")
    database.run(f"ALTER TABLE t REPLICA IDENTITY {identity}")
    database.run("INSERT INTO t VALUES (1, 1, 'ann'), (2, 2000, 'bob'), (3, 'NaN', NULL)")


def fitting(database: Database) -> Counter[Row]:
    """The rows of that table that fit."""
    return Counter(database.run(f"SELECT id, n, name FROM t WHERE ({FIT}) AND id < 1000"))
