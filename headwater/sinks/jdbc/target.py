"""The table in Postgres behind a sink table, checked before the first row is written."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from psycopg2 import sql

from headwater.errors import SinkError
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.lookup import Found, FoundColumn, columns_of, create, find
from headwater.sinks.jdbc.types import TargetColumn, fits, postgres_type


@dataclass(frozen=True)
class Target:
    """A checked table: what it is called there, and its columns in the order of the sink table's own."""

    table: SinkTable
    schema: str
    name: str
    columns: tuple[TargetColumn, ...]
    nulls_equal: bool = False
    """True if the unique index on the key takes two NULLs for the same."""

    @property
    def identifier(self) -> sql.Identifier:
        """The name for a statement."""
        return sql.Identifier(self.schema, self.name)

    @property
    def key(self) -> tuple[TargetColumn, ...]:
        """The key columns."""
        names = self.table.schema.names
        return tuple(self.columns[names.index(name)] for name in self.table.schema.key)


def target_of(cursor: Any, table: SinkTable) -> Target:
    """The target of a sink table, or why it cannot be one."""
    _check_declared(table)
    found = find(cursor, table) or create(cursor, table)
    columns = columns_of(cursor, found)
    chosen = tuple(_column(table, found, columns, name=c.name, kind=c.type) for c in table.schema)
    _check_required(table, found, columns, chosen)
    _check_privileges(cursor, table, found)
    nulls_equal = _check_key(cursor, table, found, chosen)
    return Target(table, found.schema, found.name, chosen, nulls_equal)


def _check_declared(table: SinkTable) -> None:
    if not table.schema.key and not table.append_only:
        raise SinkError(
            f"sink table '{table.name}' needs a key",
            detail="Its query updates and deletes rows, and without a key no row could be found again.",
            hint="Declare PRIMARY KEY (...) NOT ENFORCED in its CREATE TABLE statement.",
            place=table.place,
        )


def _column(
    table: SinkTable, found: Found, columns: list[FoundColumn], *, name: str, kind: str
) -> TargetColumn:
    same = [c for c in columns if c.column.name == name]
    match = same or [c for c in columns if c.column.name.lower() == name.lower()]
    if len(match) != 1:
        names = [c.column.name for c in columns]
        near = difflib.get_close_matches(name, names, n=1)
        raise SinkError(
            f"column '{name}' of sink table '{table.name}' is not in table '{found.shown}'",
            detail=f"Its columns are {', '.join(names)}.",
            hint=f"Did you mean '{near[0]}'?" if near else "Add it there, or remove it here.",
            place=table.place,
        )
    chosen = match[0]
    if chosen.computed:
        raise SinkError(
            f"column '{name}' of table '{found.shown}' is made by Postgres and cannot be written",
            detail="It is a generated column or an identity GENERATED ALWAYS.",
            hint=f"Remove it from sink table '{table.name}'.",
            place=table.place,
        )
    if not fits(kind, chosen.column):
        raise SinkError(
            f"column '{name}' of sink table '{table.name}' does not fit table '{found.shown}'",
            detail=f"It is {kind} here and {chosen.column.shown} there.",
            hint=f"Declare it as the table has it, or alter the table to {postgres_type(kind)}.",
            place=table.place,
        )
    return chosen.column


def _check_required(
    table: SinkTable, found: Found, columns: list[FoundColumn], chosen: tuple[TargetColumn, ...]
) -> None:
    for column in columns:
        if column.required and column.column not in chosen:
            raise SinkError(
                f"column '{column.column.name}' of table '{found.shown}' must have a value and gets none",
                detail=f"It is NOT NULL without a default, and sink table '{table.name}' has no such column.",
                hint="Declare it in the sink table, give it a default, or make it nullable.",
                place=table.place,
            )


def _check_privileges(cursor: Any, table: SinkTable, found: Found) -> None:
    wanted = ["INSERT", "UPDATE", "DELETE", "SELECT"] if table.schema.key else ["INSERT"]
    cursor.execute(
        """
        SELECT has_schema_privilege(c.relnamespace, 'USAGE'), quote_ident(current_user),
               array(SELECT p FROM unnest(%s) p
                     WHERE NOT CASE p WHEN 'DELETE' THEN has_table_privilege(c.oid, p)
                                      ELSE has_any_column_privilege(c.oid, p) END)
        FROM pg_class c WHERE c.oid = %s
        """,
        [wanted, found.oid],
    )
    usage, user, lacking = cursor.fetchone()
    if usage and not lacking:
        return
    what = f"USAGE ON SCHEMA {found.schema}" if not usage else f"{', '.join(lacking)} ON {found.shown}"
    raise SinkError(
        f"the user of sink table '{table.name}' may not write table '{found.shown}'",
        detail=f"User {user} lacks {', '.join(lacking) if usage else 'USAGE on the schema'}.",
        hint=f"Run GRANT {what} TO {user}.",
        place=table.place,
    )


def _check_key(cursor: Any, table: SinkTable, found: Found, chosen: tuple[TargetColumn, ...]) -> bool:
    """True if the index on the key takes NULLs for equal; an error if there is no unique index on it."""
    if not table.schema.key:
        return False
    names = table.schema.names
    key = sorted(chosen[names.index(name)].name for name in table.schema.key)
    cursor.execute(
        """
        SELECT coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)
        FROM pg_index i
        WHERE i.indrelid = %s AND i.indisunique AND i.indimmediate AND i.indisvalid
          AND i.indpred IS NULL AND i.indexprs IS NULL
          AND (SELECT array_agg(a.attname::text ORDER BY a.attname::text COLLATE "C")
               FROM pg_attribute a
               WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1])) = %s
        ORDER BY 1 DESC LIMIT 1
        """,
        [found.oid, key],
    )
    row = cursor.fetchone()
    if row is not None:
        return bool(row[0])
    target = sql.SQL("CREATE UNIQUE INDEX ON {} ({})").format(
        sql.Identifier(found.schema, found.name), sql.SQL(", ").join(map(sql.Identifier, key))
    )
    raise SinkError(
        f"table '{found.shown}' has no unique index on the key of sink table '{table.name}'",
        detail=f"The key is ({', '.join(table.schema.key)}); without the index a row could be there twice.",
        hint=f"Run {target.as_string(cursor)}.",
        place=table.place,
    )
