"""What the tests of patterns share: a declared table over several at the server, and what it holds in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headwater.log.events import Delivery
from headwater.log.positions import Position
from headwater.schema import WEIGHT
from headwater.sources.base import SourceTable
from headwater.sources.captured.source import CapturedSource
from headwater.tables.slices import whole
from headwater.tables.state import State, appended
from headwater.tables.upsert import changes_of
from tests.postgres.world import Database, read_to, wait_for

ORDERS = "shard string, id int, n int"


def orders(database: Database, columns: str = ORDERS, *key: str, **options: str) -> SourceTable:
    """A declared table over all tables `orders_` with a number, in which each row tells the table it is of."""
    given = {"table_name": r"orders_\d+"} | options
    table = database.table("orders", columns, *(key or ("shard", "id")), **given)
    metadata = {"shard": "table_name", "area": "schema_name"}
    return replace(table, metadata={n: what for n, what in metadata.items() if n in table.schema.names})


def make(database: Database, *names: str, identity: str = "DEFAULT") -> None:
    """Tables of a key and a number, each with a row of key 1."""
    for name in names:
        database.run(f"CREATE TABLE {name} (id int PRIMARY KEY, n int)")
        database.run(f"ALTER TABLE {name} REPLICA IDENTITY {identity}; INSERT INTO {name} VALUES (1, 1)")


def at_server(database: Database, *names: str) -> Counter[tuple[Any, ...]]:
    """The rows of some tables, each with the name of its table."""
    return Counter(
        (name.rpartition(".")[2], *row) for name in names for row in database.run(f"SELECT id, n FROM {name}")
    )


@dataclass
class Holder:
    """A reader of a source, who holds what its table is after every delivery; each row that goes must be there."""

    table: SourceTable
    folder: Path
    after: Position | None = None
    deliveries: list[Delivery] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._state = State(self.table.name, self.table.schema, self.folder)

    def take(self, deliveries: Sequence[Delivery]) -> None:
        """Go on with what a source said."""
        for delivery in deliveries:
            self.deliveries.append(delivery)
            self.after = delivery.position
            if self.table.name in delivery.tables:
                changes = changes_of(delivery.tables[self.table.name], self._state)
                self._state = appended(self._state, changes, len(self.deliveries))
                self.rows()

    def read(self, source: CapturedSource) -> Counter[tuple[Any, ...]]:
        """All that is committed by now; the rows that are there then."""
        self.take(read_to(source, source.now(), after=self.after))
        return self.rows()

    def until(self, source: CapturedSource, wanted: Counter[tuple[Any, ...]]) -> None:
        """Read until these rows are there, and no others."""
        wait_for(lambda: self.read(source) == wanted, seconds=120.0)

    def rows(self) -> Counter[tuple[Any, ...]]:
        """The rows that are there."""
        names, found = self.table.schema.names, Counter[tuple[Any, ...]]()
        for row in whole(self._state, tuple(names)).to_pylist():
            found[tuple(row[name] for name in names)] += row[WEIGHT]
        assert set(found.values()) <= {0, 1}, f"a row went that was not there, or came twice: {found}"
        return +found
