"""What the server's catalog says of tables and types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from headwater.errors import Place, SourceError
from headwater.log.messages import MESSAGE_SCHEMA
from headwater.nearest import nearest_hint
from headwater.options import revealed
from headwater.schema import Column, Schema
from headwater.sources.captured.asking import asked
from headwater.sources.postgres.connect import address_of, session
from headwater.sources.postgres.identities import identity_of, index_keys
from headwater.sources.postgres.labels import Labels, labels_of
from headwater.sources.postgres.matching import find_matching
from headwater.sources.postgres.options import PostgresOptions, is_pattern
from headwater.sources.postgres.partitions import Partitions, partitions_of
from headwater.sources.postgres.patterns import literal
from headwater.sources.postgres.types import ServerType, spark_type

PARTITIONED = "p"
"""Postgres' letter for a table whose rows are those of its partitions."""


@dataclass(frozen=True)
class ServerColumn:
    """A column at the server."""

    name: str
    type_oid: int
    type: ServerType
    generated: bool
    number: int = 0
    """Its place in the table, which it keeps under another name."""


@dataclass(frozen=True)
class ServerTable:
    """A table at the server."""

    oid: int
    schema: str
    name: str
    kind: str
    """Postgres' letter: r table, p partitioned, v view, m materialized view, f foreign table."""
    unlogged: bool
    primary_key: tuple[str, ...]
    columns: tuple[ServerColumn, ...]
    estimate: int | None
    """About how many rows it has; None if the server never counted."""
    partitions: Partitions = field(default_factory=dict)
    """Of a partitioned table."""
    labels: Labels = field(default_factory=dict)
    """What columns with enums can hold."""

    def column(self, name: str) -> ServerColumn | None:
        """The column of that name; an exact match wins over one that differs in case."""
        return column_named(self.columns, name)


def column_named(columns: Sequence[ServerColumn], name: str) -> ServerColumn | None:
    """The column of that name among some; an exact match wins over one that differs in case."""
    exact = [c for c in columns if c.name == name]
    loose = [c for c in columns if c.name.lower() == name.lower()]
    return next(iter(exact + loose), None)


def describe(options: PostgresOptions) -> Schema:
    """A table's own columns and primary key, for a declaration without a column list."""
    options = revealed(options)
    if options.messages:
        return MESSAGE_SCHEMA
    found = asked(_session(options), lambda cursor: _first(cursor, options))
    columns = tuple(Column(c.name, spark_type(c.type)) for c in found.columns if not c.generated)
    # What tells a row of one table that matches from a row of another is no column of theirs.
    return Schema(columns, () if is_pattern(options) else found.primary_key)


def _first(cursor: Any, options: PostgresOptions) -> ServerTable:
    """The table that is meant; of several that match a pattern the first one."""
    if not is_pattern(options):
        return find_table(cursor, literal(options.schema) or "", literal(options.table) or "")
    found = find_matching(cursor, options.schema, options.table)[0]
    return find_table(cursor, found.schema, found.name)


def find_table(cursor: Any, schema: str, table: str, *, place: Place | None = None) -> ServerTable:
    """A table by name, or an error that names what is near."""
    cursor.execute(
        "SELECT c.oid, c.relkind, c.relpersistence = 'u', c.reltuples::float8"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        (schema, table),
    )
    row = cursor.fetchone()
    if row is None:
        raise _missing(cursor, schema, table, place)
    oid, kind, unlogged, estimate = row
    if kind == "p":
        estimate = _partition_estimate(cursor, oid)
    return ServerTable(
        oid,
        schema,
        table,
        kind,
        unlogged,
        primary_key_of(cursor, oid),
        columns_of(cursor, oid),
        None if estimate is None or estimate < 0 else int(estimate),
        partitions_of(cursor, oid) if kind == PARTITIONED else {},
        labels_of(cursor, [oid]).get(oid, {}),
    )


def primary_key_of(cursor: Any, oid: int) -> tuple[str, ...]:
    """The columns of a table's primary key, by the number of the table, as it is now."""
    return index_keys(cursor, oid).get("primary", ())


def resolving_key(options: PostgresOptions) -> tuple[str, ...]:
    """The columns by which an old row has to be looked up; none if the server logs whole rows."""
    options = revealed(options)
    if options.messages or is_pattern(options):
        # Of tables that match a pattern the key has to be declared, with what tells them apart.
        return ()
    _, identity = asked(_session(options), lambda cursor: identity_of(cursor, _first(cursor, options).oid))
    return identity.key


def _session(options: PostgresOptions) -> Callable[[], AbstractContextManager[Any]]:
    return partial(session, address_of(options, "headwater"))


def types_of(cursor: Any, oids: Sequence[int]) -> dict[int, ServerType]:
    """Types by oid, domains resolved to what they are made of."""
    cursor.execute(
        "WITH RECURSIVE chain AS ("
        " SELECT oid AS start, oid, typtype, typbasetype, typtypmod FROM pg_type WHERE oid = ANY(%s)"
        " UNION ALL SELECT c.start, b.oid, b.typtype, b.typbasetype, greatest(c.typtypmod, b.typtypmod)"
        " FROM chain c JOIN pg_type b ON b.oid = c.typbasetype WHERE c.typtype = 'd')"
        " SELECT chain.start, t.typname, e.typname, chain.typtypmod FROM chain"
        " JOIN pg_type t ON t.oid = chain.oid"
        # An int2vector has elements too, but is not written as an array of them.
        " LEFT JOIN pg_type e ON e.oid = t.typelem AND e.typarray = t.oid"
        " WHERE chain.typtype <> 'd'",
        (list(oids),),
    )
    return {
        start: ServerType(element or name, modifier, element is not None)
        for start, name, element, modifier in cursor.fetchall()
    }


def columns_of(cursor: Any, oid: int) -> tuple[ServerColumn, ...]:
    """The columns of a table by its number, as they are now; none if it is gone."""
    cursor.execute(
        "SELECT attname, atttypid, atttypmod, attgenerated <> '', attnum FROM pg_attribute"
        " WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        (oid,),
    )
    rows = cursor.fetchall()
    types = types_of(cursor, [row[1] for row in rows])
    return tuple(
        ServerColumn(name, kind, modified(types[kind], modifier), generated, number)
        for name, kind, modifier, generated, number in rows
    )


def modified(kind: ServerType, modifier: int) -> ServerType:
    """A type with what stands in brackets behind it."""
    return kind if modifier < 0 else ServerType(kind.name, modifier, kind.is_array)


def _partition_estimate(cursor: Any, oid: int) -> float | None:
    cursor.execute(
        "SELECT sum(greatest(c.reltuples, 0))::float8 FROM pg_partition_tree(%s) p"
        " JOIN pg_class c ON c.oid = p.relid WHERE p.isleaf",
        (oid,),
    )
    row = cursor.fetchone()
    return None if row is None or not row[0] else float(row[0])


def _missing(cursor: Any, schema: str, table: str, place: Place | None) -> SourceError:
    cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1")
    schemas = [name for (name,) in cursor.fetchall() if name != "information_schema"]
    if schema not in schemas:
        return SourceError(
            f"the database has no schema '{schema}'",
            detail=f"Table '{schema}.{table}' was asked for.",
            hint=nearest_hint(schema, schemas, "schemas"),
            place=place,
        )
    cursor.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p') AND n.nspname = ANY(%s) ORDER BY 2",
        (schemas,),
    )
    tables = cursor.fetchall()
    elsewhere = [where for where, name in tables if name == table]
    hint = nearest_hint(table, [name for where, name in tables if where == schema], "tables")
    if elsewhere:
        hint = f"There is one in schema '{elsewhere[0]}': set 'schema-name' = '{elsewhere[0]}'."
    return SourceError(
        f"the schema '{schema}' has no table '{table}'",
        detail=f"The database has {len(tables)} tables in {len(schemas)} schemas.",
        hint=hint,
        place=place,
    )
