"""The table `headwater_batches` of a MySQL: which batch of which pipeline its databases hold.

    pipeline | batch_id
    claims   | 4711

It is moved in the transaction that writes the rows, so rows and batch id are true together.
"""

from __future__ import annotations

from typing import Any

import pymysql
from sqlglot import exp

from headwater.errors import SinkError
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.mysql.lookup import ENGINE, Name, engine_of, exact_collation, make_table, new_column
from headwater.sinks.jdbc.mysql.probe import check_rights, user_of
from headwater.sinks.jdbc.server import BATCHES

DENIED = (1044, 1142)


def prepare(cursor: Any, table: SinkTable, *, database: str) -> Name:
    """The name of the batches table, made if it is missing; an error if this user may not."""
    name = Name(database, BATCHES)
    engine = engine_of(cursor, name)
    if engine is None:
        _make(cursor, name, table)
    elif engine != ENGINE:
        raise SinkError(
            f"table {name.shown} is kept by the engine {engine}",
            detail="It must move in the transaction that writes the rows, and only InnoDB has transactions.",
            hint=f"Run ALTER TABLE {name.shown} ENGINE = InnoDB.",
            place=table.place,
        )
    check_rights(cursor, table, name, columns=("pipeline", "batch_id"), wanted=("INSERT", "UPDATE"))
    return name


def last(cursor: Any, batches: Name, *, pipeline: str) -> int | None:
    """The last batch of a pipeline that the database holds."""
    wanted = exp.select("batch_id").from_(batches.tree).where("pipeline = :p")
    cursor.execute(_bound(wanted), {"p": pipeline})
    row = cursor.fetchone()
    return None if row is None else int(row[0])


def advance(cursor: Any, batches: Name, *, pipeline: str, batch_id: int) -> bool:
    """Claim a batch for this transaction; False if the database holds it, or a later one, already.

    The row stays locked until the transaction ends: a second process with the same batch waits here, and then
    finds that there is nothing to do.
    """
    columns = [exp.to_identifier(name) for name in ("pipeline", "batch_id")]
    claim = exp.Insert(
        this=exp.Schema(this=batches.tree, expressions=columns),
        expression=exp.values([(exp.Placeholder(this="p"), exp.Placeholder(this="n"))]),
        conflict=exp.OnConflict(
            duplicate=True,
            action=exp.Var(this="UPDATE"),
            expressions=[exp.condition("batch_id = greatest(batch_id, :n)")],
        ),
    )
    # The server counts only rows that changed.
    return bool(cursor.execute(_bound(claim), {"p": pipeline, "n": batch_id}))


def _bound(tree: exp.Expression) -> str:
    """A statement with its placeholders as the driver writes them."""
    named = tree.transform(
        lambda node: exp.Var(this=f"%({node.name})s") if isinstance(node, exp.Placeholder) else node
    )
    return named.sql(dialect="mysql")


def _make(cursor: Any, name: Name, table: SinkTable) -> None:
    columns = [
        new_column("pipeline", "VARCHAR(255)", null=False),
        new_column("batch_id", "BIGINT", null=False),
    ]
    made = make_table(name, columns, key=("pipeline",), collation=exact_collation(cursor))
    try:
        cursor.execute(made.sql(dialect="mysql"))
    except pymysql.Error as error:
        if error.args[0] not in DENIED:
            raise
        user = user_of(cursor)
        raise SinkError(
            f"the table {name.shown} cannot be made",
            detail=f"User {user} lacks CREATE. Headwater keeps there which batch is written, in the "
            "transaction that writes the rows.",
            hint=f"Run GRANT CREATE ON {name.database}.* TO {user}; or, as the owner, "
            f"{made.sql(dialect='mysql')}; GRANT SELECT, INSERT, UPDATE ON {name.shown} TO {user}.",
            place=table.place,
        ) from None
