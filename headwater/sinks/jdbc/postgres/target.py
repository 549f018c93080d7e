"""The table in Postgres behind a sink table, checked before the first row is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from psycopg2 import sql

from headwater.errors import SinkError
from headwater.sinks.base import SinkTable
from headwater.sinks.jdbc.columns import (
    Types,
    UniqueIndex,
    check_not_cascading,
    choose,
)
from headwater.sinks.jdbc.postgres.lookup import Found, columns_of, create, find
from headwater.sinks.jdbc.postgres.types import TargetColumn, fits, postgres_type

TYPES = Types("Postgres", fits, postgres_type)


@dataclass(frozen=True)
class Target:
    """A checked table: what it is called there, and its columns in the order of the sink table's own."""

    table: SinkTable
    schema: str
    name: str
    columns: tuple[TargetColumn, ...]
    nulls_equal: bool = False
    """True if the unique index on the key takes two NULLs for the same."""
    replaces: bool = False
    """True if another unique index could refuse a change: then rows that change are deleted and inserted anew."""

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
    table.check_key_is_declared()
    found = find(cursor, table) or create(cursor, table)
    chosen = choose(table, found.shown, columns=columns_of(cursor, found), types=TYPES)
    _check_privileges(cursor, table, found)
    target = Target(table, found.schema, found.name, chosen)
    if not target.key:
        return target
    nulls_equal = _check_key(cursor, target, found)
    replaces = _has_second_index(cursor, target, found)
    if replaces:
        check_not_cascading(table, found.shown, _referring(cursor, found))
    return replace(target, nulls_equal=nulls_equal, replaces=replaces)


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


def _check_key(cursor: Any, target: Target, found: Found) -> bool:
    """True if the index on the key takes NULLs for equal; an error if there is no unique index on it."""
    table = target.table
    key = sorted(column.name for column in target.key)
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
    wanted = sql.SQL("CREATE UNIQUE INDEX ON {} ({})").format(
        sql.Identifier(found.schema, found.name), sql.SQL(", ").join(map(sql.Identifier, key))
    )
    raise SinkError(
        f"table '{found.shown}' has no unique index on the key of sink table '{table.name}'",
        detail=f"The key is ({', '.join(table.schema.key)}); without the index a row could be there twice.",
        hint=f"Run {wanted.as_string(cursor)}.",
        place=table.place,
    )


def _has_second_index(cursor: Any, target: Target, found: Found) -> bool:
    cursor.execute(
        """
        SELECT array(SELECT a.attname::text FROM pg_attribute a
                     WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1])),
               i.indexprs IS NULL AND NOT i.indisexclusion
        FROM pg_index i
        WHERE i.indrelid = %s AND (i.indisunique OR i.indisexclusion) AND i.indimmediate
        """,
        [found.oid],
    )
    indexes = [UniqueIndex(frozenset(columns), is_plain) for columns, is_plain in cursor.fetchall()]
    written, key = (frozenset(column.name for column in columns) for columns in (target.columns, target.key))
    return any(index.can_refuse(written, key) for index in indexes)


def _referring(cursor: Any, found: Found) -> list[str]:
    cursor.execute(
        "SELECT conrelid::regclass::text FROM pg_constraint "
        "WHERE confrelid = %s AND contype = 'f' AND confdeltype IN ('c', 'n', 'd') ORDER BY 1",
        [found.oid],
    )
    return [name for (name,) in cursor.fetchall()]
