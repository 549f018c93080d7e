"""What the names in a statement mean, where the script stands: its own relations, or tables of registered catalogs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp
from sqlglot.errors import OptimizeError

from headwater.errors import Place, SqlError
from headwater.plan.walk import relations_of, rename
from headwater.runtime.catalogs import outside_relation, outside_statement
from headwater.runtime.history import ask
from headwater.runtime.scope import Scope
from headwater.runtime.versions import leave_out_version, refuse_moments
from headwater.sql import statements as sql
from headwater.sql.catalog import Relation
from headwater.sql.history_calls import asked_of
from headwater.sql.like import merged
from headwater.sql.names import DEFAULT_CATALOG, Outside, parts_of
from headwater.sql.places import place_of

Asking = TypeVar("Asking", sql.CreateView, sql.InsertInto, sql.Select)


def own_name(scope: Scope, name: str, place: Place) -> str:
    """The name of what a statement declares; a registered catalog takes nothing."""
    parts = parts_of(name)
    catalog = scope.session.find(parts[0]) if len(parts) > 2 else None
    if catalog is not None and catalog != DEFAULT_CATALOG:
        raise SqlError(
            f'nothing can be made in catalog "{catalog}"',
            detail="It shows what its server has.",
            hint=f"Leave the catalog out: {parts[-1]}.",
            place=place,
        )
    default = scope.session.copy()
    default.use(DEFAULT_CATALOG, None)
    meant = default.meant(parts, lambda name: False, place)
    assert isinstance(meant, str)
    return meant


def relation_of(scope: Scope, name: str, place: Place | None) -> Relation:
    """The relation that a name means, or an error that names the nearest."""
    return _relation(scope, parts_of(name), place)


def _relation(scope: Scope, parts: Sequence[str], place: Place | None) -> Relation:
    meant = _meant(scope, parts, place)
    if isinstance(meant, Outside):
        return outside_relation(scope, meant, place)
    return scope.catalog.get(meant, place)


def _meant(scope: Scope, parts: Sequence[str], place: Place | None) -> str | Outside:
    return scope.session.meant(parts, lambda name: scope.catalog.find(name) is not None, place)


def named(scope: Scope, statement: Asking) -> Asking:
    """The statement with every table under the one name by which the script knows it.

    >>> named(scope, parse("SELECT * FROM pg.shop.orders")).query.sql()
    'SELECT * FROM `pg.shop.public.orders` AS orders'
    """
    query = statement.query.copy()
    for table in list(query.find_all(exp.Table)):
        place = place_of(table.this, statement)
        asked = asked_of(table, place)
        if asked is not None:
            ask(scope, table, asked, of=_relation(scope, asked.relation, place), place=place)
        else:
            _join_dots(table)
    try:
        tables = relations_of(query)
    except OptimizeError:
        return statement  # binding says what is wrong
    meant = [_relation(scope, [p.name for p in t.parts], place_of(t, statement)) for t in tables]
    for table, relation in zip(tables, meant, strict=True):
        if len(table.parts) > 1 or relation.name.lower() != table.name.lower():
            _rename(query, table, relation.name)
        leave_out_version(table, scope.declared[relation.name.lower()], meant, statement)
    refuse_moments(query, meant, statement)
    return replace(statement, query=query)


def _join_dots(table: exp.Table) -> None:
    """A name of four parts is that of a table in a schema: `a.b.c.d` is a.b.`c.d`."""
    if isinstance(table.this, exp.Dot):
        *_, schema, last = table.parts
        joined = exp.to_identifier(f"{schema.name}.{last.name}", quoted=True)
        joined.meta.update(last.meta)
        table.set("this", joined)


def _rename(query: exp.Query, table: exp.Table, name: str) -> None:
    before, parts = table.this, [part.name.lower() for part in table.parts]
    rename(table, name)
    table.this.meta.update(before.meta)
    for column in query.find_all(exp.Column):
        if column.args.get("db") and [part.name.lower() for part in column.parts[:-1]] == parts:
            column.set("catalog", None)
            column.set("db", None)


def written_out(scope: Scope, statement: sql.CreateTable) -> sql.CreateTable:
    """A CREATE TABLE ... LIKE with all columns and options it stands for."""
    like = statement.like
    if like is None:
        return statement
    known = _known_base(scope, statement, like)
    if known is not None:
        return merged(statement, known)
    relation = relation_of(scope, like.source, like.place)
    declared = scope.declared[relation.name.lower()]
    if not isinstance(declared, sql.CreateTable):
        raise SqlError(
            f'"{relation.name}" is a view; LIKE takes a table',
            hint="List the columns in parentheses.",
            place=like.place,
        )
    if declared.columns is None:
        columns = tuple(sql.ColumnDef(c.name, c.type) for c in relation.schema)
        declared = replace(declared, columns=columns, key=relation.schema.key)
    return merged(statement, declared)


def _known_base(scope: Scope, statement: sql.CreateTable, like: sql.Like) -> sql.CreateTable | None:
    """The table of a catalog that comes along, without asking for it: its columns stand before the added ones."""
    known = scope.known_columns.get(statement.name)
    meant = _meant(scope, parts_of(like.source), like.place)
    if known is None or not isinstance(meant, Outside):
        return None
    come = known.columns[: len(known.columns) - len(statement.columns or ())]
    columns = tuple(sql.ColumnDef(c.name, c.type) for c in come)
    base = outside_statement(scope, meant, like.place)
    return replace(base, columns=columns, key=() if statement.key else known.key)
