"""The table in MySQL behind a sink table, checked before the first row is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.errors import SinkError
from headwater.schema import arrow_type
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.columns import Types, check_not_cascading, choose
from headwater.sinks.jdbc.mysql.lookup import (
    ENGINE,
    Name,
    columns_of,
    create,
    engine_of,
    indexes_of,
    missing,
    name_of,
    referring,
)
from headwater.sinks.jdbc.mysql.probe import check_rights
from headwater.sinks.jdbc.mysql.types import MysqlColumn, fits, mysql_type

TYPES = Types("MySQL", fits, mysql_type)


@dataclass(frozen=True)
class Target:
    """A checked table: what it is called there, and its columns in the order of the sink table's own."""

    table: SinkTable
    name: Name
    columns: tuple[MysqlColumn, ...]
    replaces: bool = False
    """True if another unique index could refuse a change: then rows that change are deleted and inserted anew."""

    @property
    def key(self) -> tuple[MysqlColumn, ...]:
        """The key columns."""
        names = self.table.schema.names
        return tuple(self.columns[names.index(name)] for name in self.table.schema.key)


def is_missing(cursor: Any, table: SinkTable, *, database: str) -> bool:
    """True if the table is not there and may be made; an error if it may not, or if the one there is no target.

    MySQL cannot undo the making of a table: so all are looked at before the first is made.
    """
    table.check_key_is_declared()
    _check_no_float_key(table)
    name = name_of(table, database)
    if engine_of(cursor, name) is not None:
        target_of(cursor, table, database=database)
        return False
    if not table.options.create_table:
        raise missing(cursor, table, name)
    table.check_may_be_made()
    return True


def make(cursor: Any, table: SinkTable, *, database: str) -> None:
    """Make the table of a sink table."""
    create(cursor, name_of(table, database), table.schema)


def target_of(cursor: Any, table: SinkTable, *, database: str) -> Target:
    """The target of a sink table that exists, or why it cannot be one."""
    name = name_of(table, database)
    engine = engine_of(cursor, name)
    if engine != ENGINE:
        is_view = engine == "view"
        raise SinkError(
            f"table '{name.shown}' of sink table '{table.name}' "
            + ("is a view" if is_view else f"is kept by the engine {engine}"),
            detail="A batch is written in one transaction over all tables, and only InnoDB has transactions.",
            hint="Name the table itself."
            if is_view
            else f"Run ALTER TABLE {name.tree.sql(dialect='mysql')} ENGINE = InnoDB.",
            place=table.place,
        )
    columns = choose(table, name.shown, columns=columns_of(cursor, name), types=TYPES)
    wanted = ("INSERT", "UPDATE", "DELETE", "SELECT") if table.schema.key else ("INSERT",)
    check_rights(cursor, table, name, columns=[column.name for column in columns], wanted=wanted)
    target = Target(table, name, columns)
    return Target(table, name, columns, replaces=bool(target.key) and _replaces(cursor, target))


def _replaces(cursor: Any, target: Target) -> bool:
    """True if there is a second unique index; an error if there is none on the key."""
    table, name = target.table, target.name
    written, key = (frozenset(column.name for column in columns) for columns in (target.columns, target.key))
    indexes = indexes_of(cursor, name)
    if not any(index.is_plain and index.columns == key for index in indexes):
        listed = ", ".join(f"`{column.name}`" for column in target.key)
        raise SinkError(
            f"table '{name.shown}' has no unique index on the key of sink table '{table.name}'",
            detail=f"The key is ({', '.join(table.schema.key)}); without the index a row could be there twice.",
            hint=f"Run ALTER TABLE {name.tree.sql(dialect='mysql')} ADD UNIQUE ({listed}).",
            place=table.place,
        )
    replaces = any(index.can_refuse(written, key) for index in indexes)
    if replaces:
        check_not_cascading(table, name.shown, referring(cursor, name))
    return replaces


def _check_no_float_key(table: SinkTable) -> None:
    for column in table.schema:
        if column.name in table.schema.key and arrow_type(column.type) == pa.float32():
            raise SinkError(
                f"key column '{column.name}' of sink table '{table.name}' is FLOAT",
                detail="MySQL does not find a FLOAT by its value.",
                hint="Cast it in the query to DOUBLE or DECIMAL, and declare it so.",
                place=table.place,
            )
