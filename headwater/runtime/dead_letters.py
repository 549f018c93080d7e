"""The table headwater.dead_letters in a script: there as soon as a table puts messages or rows aside."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.runtime.program import TableNode, fingerprint
from headwater.runtime.scope import Scope
from headwater.sources.base import SourceTable
from headwater.sources.dead_letters import DEAD_LETTER, DEAD_LETTERS, SCHEMA, TABLE, DeadLetterOptions
from headwater.sql import statements as sql
from headwater.sql.catalog import Relation

NODE = TableNode(
    TABLE,
    SCHEMA,
    "headwater",
    DEAD_LETTERS,
    SourceTable(TABLE, SCHEMA, DeadLetterOptions()),
    fingerprint("table", TABLE, SCHEMA.to_json()),
)


def declare_dead_letters(scope: Scope, statement: sql.CreateTable) -> None:
    """Make the table known if a declared one puts messages or rows aside."""
    if statement.options.get("errors") == DEAD_LETTER and scope.catalog.find(TABLE) is None:
        scope.catalog.add(Relation(TABLE, "table", SCHEMA), statement.place)
        scope.tables[TABLE] = NODE
        columns = tuple(sql.ColumnDef(column.name, column.type) for column in SCHEMA)
        scope.declared[TABLE] = sql.CreateTable(TABLE, columns, place=statement.place, text="")


def parks_messages(tables: Iterable[TableNode]) -> bool:
    """True if one of some tables puts messages or rows aside."""
    return any(table.type.parks(table.table.options) for table in tables)
