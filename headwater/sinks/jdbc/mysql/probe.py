"""What a user may do with a table: the statements are tried on no rows, for grants of roles are seen in no table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pymysql
from sqlglot import exp

from headwater.errors import SinkError
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.mysql.lookup import Name

DENIED = (1142, 1143, 1370)
READ_ONLY = (1290, 1792, 1836)


def check_rights(
    cursor: Any, table: SinkTable, name: Name, *, columns: Sequence[str], wanted: Sequence[str]
) -> None:
    """Refuse a table that this user, or this server, does not let be written."""
    lacking = list(_lacking(cursor, table, name, columns=columns, wanted=wanted))
    if lacking:
        user = user_of(cursor)
        raise SinkError(
            f"the user of sink table '{table.name}' may not write table '{name.shown}'",
            detail=f"User {user} lacks {', '.join(lacking)}.",
            hint=f"Run GRANT {', '.join(lacking)} ON {name.shown} TO {user}.",
            place=table.place,
        )


def user_of(cursor: Any) -> str:
    """Who the server takes us for: `'ann'@'%'`."""
    cursor.execute("SELECT current_user()")
    user, _, host = cursor.fetchone()[0].rpartition("@")
    return f"'{user}'@'{host}'"


def _lacking(
    cursor: Any, table: SinkTable, name: Name, *, columns: Sequence[str], wanted: Sequence[str]
) -> Iterator[str]:
    tries = _tries(name, columns)
    for right in wanted:
        try:
            cursor.execute(tries[right].sql(dialect="mysql"))
        except pymysql.Error as error:
            if error.args[0] in READ_ONLY:
                raise SinkError(
                    "the database only allows reading",
                    detail=f"{error.args[-1]}.",
                    hint="Connect to the server that takes writes.",
                    place=table.place,
                ) from None
            if error.args[0] not in DENIED:
                raise
            yield right


def _tries(name: Name, columns: Sequence[str]) -> dict[str, exp.Expression]:
    never = exp.false()
    named = [exp.column(column, quoted=True) for column in columns]
    nothing = exp.select(*(exp.null() for _ in columns)).limit(0)
    written = exp.Schema(
        this=name.tree, expressions=[exp.to_identifier(column, quoted=True) for column in columns]
    )
    same = exp.EQ(this=named[0], expression=named[0].copy())
    return {
        "INSERT": exp.Insert(this=written, expression=nothing),
        "UPDATE": exp.Update(this=name.tree, expressions=[same], where=exp.Where(this=never)),
        "DELETE": exp.delete(name.tree).where(never),
        "SELECT": exp.select(*named).from_(name.tree).where(never),
    }
