"""What the tests of the jdbc source share: tables, sources, and what their events add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.log.events import Delivery, Events
from headwater.log.positions import Position
from headwater.options import read_options
from headwater.schema import WEIGHT, Schema
from headwater.sources.base import Report, SourceContext, SourceTable
from headwater.sources.jdbc.options import JdbcSourceOptions
from headwater.sources.jdbc.source import JdbcSource, open_source
from tests.ends.postgres_world import Database

Bag = Counter[tuple[Any, ...]]

HOUR = "1 h"
"""An interval that never ends in a test: reads come when they are asked for."""


def options(database: Database, table: str, **given: str) -> JdbcSourceOptions:
    """Options of a table; written with underscores for dashes and `__` for dots."""
    named = {
        "url": database.url(),
        "table-name": table,
        "username": "postgres",
        "password": "postgres",
    }
    named |= {key.replace("__", ".").replace("_", "-"): value for key, value in given.items()}
    return read_options(JdbcSourceOptions, named, owner="connector 'jdbc'", place=None)


def declared(
    database: Database, table: str, schema: Schema, *, anew: bool = True, **given: str
) -> SourceTable:
    """A declared table, called as it is in the database."""
    return SourceTable(table, schema, options(database, table, **given), anew=anew)


@dataclass
class Follower:
    """Reads a source as the runtime does, and adds up what it hears."""

    source: JdbcSource
    after: Position | None = None
    state: dict[str, Bag] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)

    def catch_up(self) -> list[Delivery]:
        """Everything that is committed now, not yet let go."""
        target, heard = self.source.now(), []
        while self.after is None or self.after < target:
            delivery = self.source.read(self.after, 1_000_000, wait=120.0)
            assert delivery is not None
            heard.append(self.take(delivery))
        return heard

    def take(self, delivery: Delivery) -> Delivery:
        """Add up a delivery."""
        self.after = delivery.position
        for table, events in delivery.tables.items():
            bag = self.state.setdefault(table, Counter())
            for row, weight in rows_of(events):
                bag[row] += weight
                if not bag[row]:
                    del bag[row]
        return delivery

    def commit(self) -> None:
        """All that was heard is done."""
        assert self.after is not None
        self.source.commit(self.after)


def rows_of(events: Events) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Rows and their weights; columns of ours are left out."""
    tables = [events.rows] if events.rows is not None else [pq.read_table(path) for path in events.files]
    whole = pa.concat_tables(tables)
    names = [name for name in whole.column_names if not name.startswith("__hw_")]
    columns = (whole.column(name).to_pylist() for name in names)
    values = [tuple(map(_hashable, row)) for row in zip(*columns, strict=True)]
    yield from zip(values, whole.column(WEIGHT).to_pylist(), strict=True)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@contextmanager
def following(
    folder: Path, *tables: SourceTable, after: Position | None = None, state: dict[str, Bag] | None = None
) -> Iterator[Follower]:
    """A started source and who follows it, from where another one stopped."""
    reports: list[Report] = []
    source = open_source(tables, SourceContext("p", folder, reports.append))
    try:
        source.start(after)
        yield Follower(source, after, state if state is not None else {}, reports)
    finally:
        source.close()


def bag(database: Database, query: str) -> Bag:
    """What Postgres itself answers."""
    return Counter(tuple(map(_hashable, row)) for row in database.run(query))
