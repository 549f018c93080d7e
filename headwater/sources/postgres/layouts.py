"""What a relation of the stream is among the declared tables, and whether it still fits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.errors import SourceError
from headwater.log.manifest import LoggedTable
from headwater.log.pending import Layout
from headwater.log.pgoutput import Relation
from headwater.log.text_values import can_read
from headwater.nearest import nearest_hint
from headwater.sources.postgres.catalog import types_of
from headwater.sources.postgres.config import CaptureTable
from headwater.sources.postgres.connect import Address, session
from headwater.sources.postgres.messages import message_layout, reads
from headwater.sources.postgres.types import ServerType, family


class Layouts:
    """Answers for each relation the stream announces; types are asked of the server once."""

    def __init__(
        self, tables: Sequence[CaptureTable], logged: Mapping[str, LoggedTable], address: Address
    ) -> None:
        self._tables = tables
        self._logged = logged
        self._address = address
        self._types: dict[int, ServerType] = {}
        self._messages = [
            (table, message_layout(table, logged[table.name].snapshot)) for table in tables if table.prefixes
        ]

    def __call__(self, relation: Relation) -> tuple[Layout, ...]:
        """The declared tables that read this relation; none if nobody does."""
        return tuple(
            self._layout(table, relation)
            for table in self._tables
            if (table.remote_schema, table.remote_table) == (relation.schema, relation.name)
        )

    def messages(self, prefix: str) -> tuple[Layout, ...]:
        """The declared tables that read an application's messages of this prefix."""
        return tuple(layout for table, layout in self._messages if reads(table.prefixes, prefix))

    def _layout(self, table: CaptureTable, relation: Relation) -> Layout:
        names = [column.name for column in relation.columns]
        folded = [name.lower() for name in names]
        places, families = [], []
        for column in table.schema:
            if column.name not in names and column.name.lower() not in folded:
                raise _vanished(table, column.name, names)
            exact = column.name in names
            at = names.index(column.name) if exact else folded.index(column.name.lower())
            kind = family(self._type(relation.columns[at].type_oid))
            if not can_read(kind, column.type):
                raise _retyped(table, column.name, column.type, self._type(relation.columns[at].type_oid))
            places.append(at)
            families.append(kind)
        _check_identity(table, relation)
        snapshot = self._logged[table.name].snapshot
        return Layout(table.name, table.schema, tuple(places), tuple(families), snapshot, table.place)

    def _type(self, oid: int) -> ServerType:
        if oid not in self._types:
            with session(self._address) as cursor:
                found = types_of(cursor, [oid])
            # A type that was dropped since is read as text.
            self._types[oid] = found.get(oid, ServerType("unknown"))
        return self._types[oid]

    def know(self, types: Mapping[int, ServerType]) -> None:
        """Take over what is known of types already."""
        self._types.update(types)


def _check_identity(table: CaptureTable, relation: Relation) -> None:
    key = [column.name for column in relation.columns if column.is_key]
    if relation.identity == "f" or not key:
        return
    if {name.lower() for name in key} != {name.lower() for name in table.schema.key}:
        raise SourceError(
            f"the replica identity of table '{table.name}' has changed",
            detail=f"The server now logs only ({', '.join(key)}) of a row that changes or goes; the declared"
            f" key is ({', '.join(table.schema.key) or 'none'}).",
            hint="ALTER TABLE ... REPLICA IDENTITY FULL at the server, or declare that key, then start anew.",
            place=table.place,
        )


def _vanished(table: CaptureTable, column: str, names: Sequence[str]) -> SourceError:
    return SourceError(
        f"column '{column}' of table '{table.name}' is gone",
        detail=f"'{table.remote_schema}.{table.remote_table}' now has the columns {', '.join(names)}.",
        hint="Remove it from the declaration, or add it again at the server."
        f" {nearest_hint(column, names, 'columns')}",
        place=table.place,
    )


def _retyped(table: CaptureTable, column: str, declared: str, found: ServerType) -> SourceError:
    return SourceError(
        f"column '{column}' of table '{table.name}' can no longer be read as {declared}",
        detail=f"At the server its type is now {found.name}{'[]' if found.is_array else ''}.",
        hint="Declare it with a type that fits, or change it back at the server.",
        place=table.place,
    )
