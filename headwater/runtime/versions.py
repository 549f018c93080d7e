"""FOR SYSTEM_TIME AS OF, as Flink's lookup joins write it, and the PROCTIME() columns that stand behind it.

A join with a looked-up table is a join with the table as it was read: the clause is read and left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.errors import SqlError
from headwater.sql.catalog import Computed, Relation
from headwater.sql.places import place_of
from headwater.sql.statements import ComputedColumn, CreateTable, CreateView, Statement

LOOKED_UP = ("jdbc",)
"""Connectors whose tables are looked up in Flink."""


def is_moment(expression: exp.Expr) -> bool:
    """True for PROCTIME()."""
    return isinstance(expression, exp.Anonymous) and expression.name.upper() == "PROCTIME"


def computed_of(columns: Sequence[ComputedColumn]) -> tuple[tuple[Computed, ...], tuple[str, ...]]:
    """The computed columns of a table, and the names of those that are PROCTIME(), which hold nothing."""
    kept: list[Computed] = []
    moments: list[str] = []
    for column in sorted(columns, key=lambda column: column.index):
        if is_moment(column.expression):
            moments.append(column.name)
        else:
            kept.append(Computed(column.name, column.expression, column.index - len(moments)))
    return tuple(kept), tuple(moments)


def leave_out_version(
    table: exp.Table, declared: CreateTable | CreateView, relations: Sequence[Relation], statement: Statement
) -> None:
    """Take FOR SYSTEM_TIME AS OF from a looked-up table, or say why it cannot be meant."""
    version = table.args.get("version")
    if version is None:
        return
    connector = declared.options.get("connector") if isinstance(declared, CreateTable) else None
    if connector not in LOOKED_UP:
        raise SqlError(
            f'"{declared.name}" has no versions, so FOR SYSTEM_TIME AS OF cannot be asked of it',
            detail=f"It is understood for tables of the connectors {', '.join(LOOKED_UP)}.",
            hint="Leave it out: the join follows both tables as they change.",
            place=place_of(table, statement),
        )
    moment = version.args.get("expression")
    moments = {name.lower() for relation in relations for name in relation.moments}
    if not (is_moment(moment) or (isinstance(moment, exp.Column) and moment.name.lower() in moments)):
        raise SqlError(
            "FOR SYSTEM_TIME AS OF takes PROCTIME(), or a column that is computed so",
            detail="A jdbc table is known only as it was read last.",
            hint="Declare a column: proc_time AS PROCTIME(), or leave the clause out.",
            place=place_of(moment, statement),
        )
    table.set("version", None)


def refuse_moments(query: exp.Query, relations: Sequence[Relation], statement: Statement) -> None:
    """Raise if a query asks for the value of a PROCTIME() column: it would be another one each time."""
    known = {name.lower() for relation in relations for name in relation.columns}
    moments = {name.lower() for relation in relations for name in relation.moments} - known
    for column in query.find_all(exp.Column):
        if column.name.lower() in moments:
            raise SqlError(
                f'column "{column.name}" is PROCTIME() and stands only after FOR SYSTEM_TIME AS OF',
                hint="Put the time into a column of the source table, and use that column.",
                place=place_of(column.this, statement),
            )
