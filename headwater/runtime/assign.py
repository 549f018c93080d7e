"""Which columns of a query fit which columns of an INSERT's target: by position, as in Flink."""

from __future__ import annotations

from headwater.errors import SqlError
from headwater.schema import Column, Schema, is_number
from headwater.sql.catalog import Relation
from headwater.sql.statements import InsertInto

_TIMES = ("date", "timestamp", "timestamp_ntz")


def check_assignable(statement: InsertInto, given: Schema, target: Relation) -> list[Column]:
    """The target columns the query's columns go to, in the query's order, or an error that names the misfit."""
    wanted = [_column(statement, target, name) for name in statement.columns] or list(target.written)
    if len(wanted) != len(given.columns):
        raise SqlError(
            f'the query has {len(given.columns)} columns, "{target.name}" takes {len(wanted)}',
            detail=f"The query gives {', '.join(given.names)}; the table takes {', '.join(c.name for c in wanted)}.",
            hint="Columns go by position: select as many as the table has.",
            place=statement.place,
        )
    for source, column in zip(given, wanted, strict=True):
        if not _fits(source.type, column.type):
            raise SqlError(
                f'column "{column.name}" of "{target.name}" is {column.type}, the query gives {source.type}',
                detail=f'The value comes from the query\'s column "{source.name}".',
                hint=f"Write CAST({source.name} AS {column.type.upper()}) in the query.",
                place=statement.place,
            )
    return wanted


def _column(statement: InsertInto, target: Relation, name: str) -> Column:
    column = target.written.find(name)
    if column is None:
        raise SqlError(
            f'column "{name}" does not exist in table "{target.name}"',
            hint=f"The columns are {', '.join(target.written.names)}.",
            place=statement.place,
        )
    return column


def _fits(given: str, wanted: str) -> bool:
    if given == wanted or given == "void":
        return True
    return (is_number(given) and is_number(wanted)) or (given in _TIMES and wanted in _TIMES)
