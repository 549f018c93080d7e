"""The table `headwater_batches`: which batch of which pipeline a database holds.

    pipeline | batch_id
    claims   | 4711

It is moved in the transaction that writes the rows, so rows and batch id are true together.
"""

from __future__ import annotations

from typing import Any

from psycopg2 import sql

from headwater.errors import SinkError
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.server import BATCHES

NAME = BATCHES

COLUMNS = "pipeline text PRIMARY KEY, batch_id bigint NOT NULL"

LOCK = 0x68656164
"""The advisory lock under which two pipelines that start at once make the table once."""


def check_database(cursor: Any, table: SinkTable) -> None:
    """See that there is a schema to write to and that this server takes writes."""
    cursor.execute("SELECT current_schema(), current_setting('transaction_read_only')")
    schema, read_only = cursor.fetchone()
    if schema is None:
        raise SinkError(
            "the schema of the jdbc url does not exist",
            detail="The parameter currentSchema names none that this user may use.",
            hint="Create it, or remove the parameter currentSchema.",
            place=table.place,
        )
    if read_only == "on":
        raise SinkError(
            "the database only allows reading",
            detail="It is a standby, or default_transaction_read_only is on.",
            hint="Connect to the primary server.",
            place=table.place,
        )


def prepare(cursor: Any, table: SinkTable) -> sql.Identifier:
    """The name of the batches table, made if it is missing; an error if this user may not."""
    cursor.execute("SELECT current_schema(), quote_ident(current_user)")
    schema, user = cursor.fetchone()
    identifier = sql.Identifier(schema, NAME)
    if not _exists(cursor, schema):
        _make(cursor, identifier, schema=schema, user=user, table=table)
    name = identifier.as_string(cursor)
    cursor.execute(
        "SELECT has_table_privilege(%s, 'SELECT') AND has_table_privilege(%s, 'INSERT') "
        "AND has_table_privilege(%s, 'UPDATE')",
        [name, name, name],
    )
    if not cursor.fetchone()[0]:
        raise SinkError(
            f"table {schema}.{NAME} may not be written by this user",
            detail="Headwater keeps there which batch is written, in the transaction that writes the rows.",
            hint=f"Run GRANT SELECT, INSERT, UPDATE ON {schema}.{NAME} TO {user}.",
            place=table.place,
        )
    return identifier


def last(cursor: Any, batches: sql.Identifier, *, pipeline: str) -> int | None:
    """The last batch of a pipeline that the database holds."""
    cursor.execute(sql.SQL("SELECT batch_id FROM {} WHERE pipeline = %s").format(batches), [pipeline])
    row = cursor.fetchone()
    return None if row is None else int(row[0])


def advance(cursor: Any, batches: sql.Identifier, *, pipeline: str, batch_id: int) -> bool:
    """Claim a batch for this transaction; False if the database holds it, or a later one, already.

    The row stays locked until the transaction ends: a second process with the same batch waits here, and then
    finds that there is nothing to do.
    """
    cursor.execute(
        sql.SQL(
            "INSERT INTO {batches} AS b (pipeline, batch_id) VALUES (%s, %s) "
            "ON CONFLICT (pipeline) DO UPDATE SET batch_id = excluded.batch_id "
            "WHERE b.batch_id < excluded.batch_id"
        ).format(batches=batches),
        [pipeline, batch_id],
    )
    return bool(cursor.rowcount == 1)


def _exists(cursor: Any, schema: str) -> bool:
    cursor.execute("SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = %s", [schema, NAME])
    return cursor.fetchone() is not None


def _make(cursor: Any, identifier: sql.Identifier, *, schema: str, user: str, table: SinkTable) -> None:
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    if _exists(cursor, schema):
        return
    cursor.execute("SELECT has_schema_privilege(%s, 'CREATE')", [schema])
    if not cursor.fetchone()[0]:
        raise SinkError(
            f"the table {schema}.{NAME} cannot be made",
            detail=f"User {user} lacks CREATE on schema {schema}. Headwater keeps there which batch is "
            "written, in the transaction that writes the rows.",
            hint=f"Run GRANT CREATE ON SCHEMA {schema} TO {user}; or, as the owner, CREATE TABLE {schema}."
            f"{NAME} ({COLUMNS}); GRANT SELECT, INSERT, UPDATE ON {schema}.{NAME} TO {user}.",
            place=table.place,
        )
    cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(identifier, sql.SQL(COLUMNS)))
