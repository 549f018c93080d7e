"""What a table of the binary log is among the declared tables, and whether it still fits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.errors import SourceError
from headwater.log.layout import Layout
from headwater.log.manifest import LoggedTable
from headwater.log.pgoutput import Relation, RelationColumn
from headwater.log.text_values import can_read
from headwater.nearest import nearest_hint
from headwater.sources.mysql.catalog import ServerColumn
from headwater.sources.mysql.config import CaptureTable
from headwater.sources.mysql.types import family, unread


class Layouts:
    """Answers for each table the log announces; `zones` has the zone of the clock for each declared table."""

    def __init__(
        self, tables: Sequence[CaptureTable], logged: Mapping[str, LoggedTable], zones: Mapping[str, str]
    ) -> None:
        self._tables, self._logged, self._zones = tables, logged, zones
        self._columns: dict[int, tuple[ServerColumn, ...]] = {}

    def is_read(self, schema: str, table: str) -> bool:
        """True if somebody wants the rows of a table."""
        return any(declared.reads(schema, table) for declared in self._tables)

    def merged(self, schema: str, table: str, known: Sequence[tuple[str, str]]) -> CaptureTable | None:
        """A declared table that has the rows of this one and of others that are known; None if there is none."""
        return next(
            (
                declared
                for declared in self._tables
                if declared.reads(schema, table)
                and any(declared.reads(*name) for name in known if name != (schema, table))
            ),
            None,
        )

    def relation(self, number: int, schema: str, table: str, columns: tuple[ServerColumn, ...]) -> Relation:
        """A table of the log with its columns, as the collector takes it."""
        self._columns[number] = columns
        names = tuple(RelationColumn(column.name, 0, is_key=False) for column in columns)
        return Relation(number, schema, table, "f", names)

    def __call__(self, relation: Relation) -> tuple[Layout, ...]:
        """The declared tables that read this table."""
        return tuple(
            self._layout(table, relation)
            for table in self._tables
            if table.reads(relation.schema, relation.name)
        )

    def _layout(self, table: CaptureTable, relation: Relation) -> Layout:
        columns = self._columns[relation.id]
        names = [column.name for column in columns]
        folded = [name.lower() for name in names]
        # Behind the columns of a row stand the names of its database and table.
        extras = {"database_name": len(columns), "table_name": len(columns) + 1}
        places, families = [], []
        for column in table.schema:
            taken = table.metadata.get(column.name)
            if taken is not None:
                places.append(extras[taken])
                families.append("text")
                continue
            if column.name.lower() not in folded:
                raise _vanished(table, relation, column.name, names)
            at = names.index(column.name) if column.name in names else folded.index(column.name.lower())
            how = family(columns[at], self._zones[table.name]) if unread(columns[at]) is None else ""
            if not how or not can_read(how, column.type):
                raise _retyped(table, relation, columns[at], column.type)
            places.append(at)
            families.append(how)
        snapshot = self._logged[table.name].snapshot
        return Layout(table.name, table.schema, tuple(places), tuple(families), snapshot, table.place)


def _vanished(table: CaptureTable, relation: Relation, name: str, names: list[str]) -> SourceError:
    return SourceError(
        f"table '{relation.schema}.{relation.name}' no longer has the column '{name}'",
        detail=f"It was dropped or renamed; the columns are {', '.join(names)}.",
        hint=f"{nearest_hint(name, names, 'columns')} Change the declaration and start again: the table is read anew.",
        place=table.place,
    )


def _retyped(table: CaptureTable, relation: Relation, column: ServerColumn, kind: str) -> SourceError:
    return SourceError(
        f"column '{column.name}' of table '{relation.schema}.{relation.name}' can no longer be read as {kind}",
        detail=f"At the server it is now {column.shown}.",
        hint="Change the declaration and start again: the table is read anew.",
        place=table.place,
    )
