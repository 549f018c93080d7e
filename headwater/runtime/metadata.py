"""METADATA columns, held against what a connector has."""

from __future__ import annotations

from headwater.errors import SqlError
from headwater.nearest import nearest
from headwater.schema import is_number
from headwater.sinks.base import SinkType
from headwater.sources.base import SourceType
from headwater.sql.statements import ColumnDef, CreateTable
from headwater.sql.types import written

_TIMES = ("timestamp", "timestamp_ntz")


def metadata_of(statement: CreateTable, kind: SourceType | SinkType) -> dict[str, str]:
    """The METADATA columns of a table that is read, or of one that is written: virtual ones are only read.

    >>> metadata_of(table, KAFKA)
    {'at': 'timestamp'}
    """
    is_written = isinstance(kind, SinkType)
    found: dict[str, str] = {}
    for column in statement.columns or ():
        if column.metadata is None:
            continue
        if is_written and column.virtual:
            _check_unkeyed(column, statement)
            continue
        _check(column, kind, str(statement.options.get("connector")), is_written=is_written)
        found[column.name] = column.metadata
    return found


def _check(column: ColumnDef, kind: SourceType | SinkType, connector: str, *, is_written: bool) -> None:
    key, known = str(column.metadata), kind.metadata
    listed = f"It has {', '.join(known)}." if known else "It has none."
    if key not in known:
        near = nearest(key, known)
        read_only = "Add VIRTUAL if the column is only read, or leave it out."
        raise SqlError(
            f"connector '{connector}' has no metadata '{key}'{' to write' if is_written else ''}",
            detail=listed,
            hint=f"Did you mean '{near}'?" if near else read_only if is_written else "Leave the column out.",
            place=column.place,
        )
    if not _fits(known[key], column.type):
        raise SqlError(
            f"metadata '{key}' of connector '{connector}' is {known[key]}, column \"{column.name}\" is"
            f" {column.type}",
            hint=f"Declare the column as {written(known[key])}, and cast it in a query.",
            place=column.place,
        )


def _check_unkeyed(column: ColumnDef, statement: CreateTable) -> None:
    """What is not written cannot be looked for."""
    if column.name in statement.key:
        raise SqlError(
            f'metadata column "{column.name}" cannot be in the primary key of a table that is written',
            detail="It is VIRTUAL, which is only read.",
            hint="Declare a column of its own for it.",
            place=statement.key_places.get(column.name, column.place),
        )


def _fits(given: str, declared: str) -> bool:
    same = (is_number(given) and is_number(declared)) or (given in _TIMES and declared in _TIMES)
    return given == declared or same
