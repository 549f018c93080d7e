"""Random changes: first rows of every table, then batches of inserts, deletes and updates, several tables at once.

There are few values, and NULL is one of them, so that rows meet, repeat and leave groups empty. A table with a key
holds each key once. Within a batch a row may come and go again: nothing says that a source has cancelled it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from headwater.schema import Schema
from tests.laws.rows import Row

drawn = settings(
    max_examples=20,
    deadline=None,
    print_blob=True,
    # The first example compiles a script and translates its statements; the others find that done.
    suppress_health_check=[HealthCheck.too_slow],
)

VALUES: dict[str, tuple[object, ...]] = {
    "int": (1, 2, 3, 11),
    "string": ("a", "b", "a,b"),
    # Of three bins; their sums are exact in whatever order they are added.
    "double": (0.25, -2.0, 1e9),
}
"""What a column of each type holds besides NULL."""

MOVES = (0, 1, 2, 3)
"""How many rows of a table a batch changes."""

_KINDS = st.sampled_from(("update", "insert", "update", "delete"))

Batch = Mapping[str, tuple[Row, ...]]
"""Weighted rows by table, in the order in which they came and went."""


@dataclass(frozen=True)
class Course:
    """What becomes of the tables: their first rows, then two batches."""

    first: Mapping[str, tuple[Row, ...]]
    batches: tuple[Batch, Batch]


@st.composite
def courses(draw: st.DrawFn, tables: Mapping[str, Schema], rows: int = 6) -> Course:
    """A course of two batches, after so many first rows of each table, or fewer."""
    held: dict[str, list[Row]] = {name: [] for name in tables}
    for name, schema in tables.items():
        for _ in range(draw(st.sampled_from((0, *range(2, rows + 1))))):
            _put(schema, held[name], draw(_rows(schema)))
    first = {name: tuple(held[name]) for name in tables}
    one, other = (
        {name: tuple(_moves(draw, schema, held[name])) for name, schema in tables.items()} for _ in "12"
    )
    return Course(first, (one, other))


def both(one: Batch, other: Batch) -> Batch:
    """Two batches in one."""
    return {name: (*one[name], *other[name]) for name in one}


def negated(batch: Batch) -> Batch:
    """What came goes and what went comes, the last first."""
    return {name: tuple((*row, -weight) for *row, weight in reversed(rows)) for name, rows in batch.items()}


def _moves(draw: st.DrawFn, schema: Schema, held: list[Row]) -> list[Row]:
    """Weighted rows of one table; what it holds follows them."""
    moves: list[Row] = []
    for _ in range(draw(st.sampled_from(MOVES))):
        kind = draw(_KINDS)
        gone = held.pop(draw(st.integers(0, len(held) - 1))) if kind != "insert" and held else None
        if gone is not None:
            moves.append((*gone, -1))
        if kind != "delete":
            come = draw(_rows(schema) if gone is None else _updates(schema, gone))
            moves += [(*other, -1) for other in _put(schema, held, come)]
            moves.append((*come, 1))
    return moves


def _put(schema: Schema, held: list[Row], row: Row) -> list[Row]:
    """Let a row come; the one that has its key goes, and is told."""
    gone = [other for other in held if schema.key and _key(schema, other) == _key(schema, row)]
    for other in gone:
        held.remove(other)
    held.append(row)
    return gone


def _key(schema: Schema, row: Row) -> Row:
    return tuple(value for name, value in zip(schema.names, row, strict=True) if name in schema.key)


@cache
def _rows(schema: Schema) -> st.SearchStrategy[Row]:
    """A row."""
    return st.tuples(*[_cells(schema, name) for name in schema.names])


@cache
def _updates(schema: Schema, row: Row) -> st.SearchStrategy[Row]:
    """A row with another value in one column, which may be part of its key."""
    at = range(len(row))
    changed = [
        st.tuples(*[_cells(schema, schema.names[j]) if i == j else st.just(row[j]) for j in at]) for i in at
    ]
    return st.one_of(changed)


def _cells(schema: Schema, name: str) -> st.SearchStrategy[object]:
    """A value of a column; a key is never NULL."""
    (column,) = (column for column in schema if column.name == name)
    values = VALUES[column.type]
    return st.sampled_from(values if name in schema.key else (*values, None))
