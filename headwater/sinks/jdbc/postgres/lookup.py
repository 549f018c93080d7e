"""The tables of a Postgres: found by name, described, and made if asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg2 import sql

from headwater.errors import SinkError
from headwater.nearest import nearest
from headwater.options import Secret
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.columns import FoundColumn
from headwater.sinks.jdbc.postgres import batches
from headwater.sinks.jdbc.postgres.types import TargetColumn, postgres_type


@dataclass(frozen=True)
class Found:
    """A table as the server describes it."""

    oid: int
    schema: str
    name: str

    @property
    def shown(self) -> str:
        return f"{self.schema}.{self.name}"


def _name(table: SinkTable) -> tuple[str | None, str]:
    text = table.options.table_name
    schema, dot, name = (text.reveal() if isinstance(text, Secret) else text).partition(".")
    return (schema, name) if dot else (None, schema)


def _schemas(cursor: Any, table: SinkTable) -> list[str]:
    schema, _ = _name(table)
    if schema is not None:
        return [schema]
    cursor.execute("SELECT current_schemas(false)::text[]")
    found: list[str] = cursor.fetchone()[0]
    return found


def find(cursor: Any, table: SinkTable) -> Found | None:
    """The table a sink table names, None if there is none."""
    cursor.execute(
        """
        SELECT c.oid, n.nspname, c.relname
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname = %(name)s AND c.relkind IN ('r', 'p', 'f', 'v') AND n.nspname = ANY (%(schemas)s)
        ORDER BY array_position(%(schemas)s, n.nspname::text) LIMIT 1
        """,
        {"name": _name(table)[1], "schemas": _schemas(cursor, table)},
    )
    row = cursor.fetchone()
    return Found(*row) if row else None


def create(cursor: Any, table: SinkTable) -> Found:
    """Make the table of a sink table, if it asks for that; else it is missing."""
    schemas = _schemas(cursor, table)
    if not table.options.create_table:
        raise _missing(cursor, table, schemas)
    table.check_may_be_made()
    _check_schema(cursor, table, schemas[0])
    parts = [
        sql.SQL("{} {}").format(sql.Identifier(column.name), sql.SQL(postgres_type(column.type)))
        for column in table.schema
    ]
    if table.schema.key:
        key = sql.SQL(", ").join(map(sql.Identifier, table.schema.key))
        parts.append(sql.SQL("PRIMARY KEY ({})").format(key))
    identifier = sql.Identifier(schemas[0], _name(table)[1])
    cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(identifier, sql.SQL(", ").join(parts)))
    made = find(cursor, table)
    assert made is not None
    return made


def _check_schema(cursor: Any, table: SinkTable, schema: str) -> None:
    cursor.execute(
        "SELECT has_schema_privilege(oid, 'CREATE'), quote_ident(current_user) "
        "FROM pg_namespace WHERE nspname = %s",
        [schema],
    )
    row = cursor.fetchone()
    if row is None or not row[0]:
        raise SinkError(
            f"table '{schema}.{_name(table)[1]}' of sink table '{table.name}' cannot be made",
            detail="There is no such schema."
            if row is None
            else f"User {row[1]} lacks CREATE on the schema.",
            hint=f"Run CREATE SCHEMA {schema}."
            if row is None
            else f"Run GRANT CREATE ON SCHEMA {schema} TO {row[1]}.",
            place=table.place,
        )


def _missing(cursor: Any, table: SinkTable, schemas: list[str]) -> SinkError:
    cursor.execute(
        """
        SELECT n.nspname || '.' || c.relname
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND c.relname <> %s
          AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%%' ORDER BY 1
        """,
        [batches.NAME],
    )
    known = [row[0] for row in cursor.fetchall()]
    name = f"{schemas[0]}.{_name(table)[1]}"
    near = nearest(name, known)
    return SinkError(
        f"table '{name}' of sink table '{table.name}' does not exist",
        detail=f"The tables there are {', '.join(known[:20])}." if known else "The database has no tables.",
        hint=(f"Did you mean 'table-name' = '{near}'? Or " if near else "Create it, or ")
        + "let it be made: 'sink.create-table' = 'true'.",
        place=table.place,
    )


def columns_of(cursor: Any, found: Found) -> list[FoundColumn[TargetColumn]]:
    """The columns of a table, a domain as the type it stands for."""
    cursor.execute(
        """
        SELECT a.attname, format_type(b.oid, -1), b.typname, b.typcategory,
               CASE WHEN b.typname = 'numeric' AND m.typmod > 0 THEN (m.typmod - 4) & 65535 END,
               format_type(a.atttypid, a.atttypmod),
               a.attnotnull AND NOT a.atthasdef AND a.attidentity = '',
               a.attgenerated <> '' OR a.attidentity = 'a'
        FROM pg_attribute a
        JOIN pg_type t ON t.oid = a.atttypid
        JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
        CROSS JOIN LATERAL (
            SELECT CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END AS typmod
        ) m
        WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attnum
        """,
        [found.oid],
    )
    return [
        FoundColumn(TargetColumn(name, kind, base, category, scale, shown), required, computed)
        for name, kind, base, category, scale, shown, required, computed in cursor.fetchall()
    ]
