"""Registered catalogs: servers whose tables need no declaration, and are asked only when one of them is named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from headwater.errors import HeadwaterError, OptionError, Place, SourceError, SqlError, placed
from headwater.nearest import nearest
from headwater.runtime.scope import Registered, Scope
from headwater.schema import Schema
from headwater.sources.registry import CATALOG_TYPES
from headwater.sql import statements as sql
from headwater.sql.catalog import Relation
from headwater.sql.names import DEFAULT_CATALOG, DEFAULT_DATABASE, Outside
from headwater.sql.types import written


def create_catalog(scope: Scope, statement: sql.CreateCatalog) -> None:
    """Register a catalog; its server is not asked."""
    if scope.session.find(statement.name) is not None:
        if statement.if_not_exists:
            return
        raise SqlError(
            f'catalog "{statement.name}" is registered twice',
            hint="Give one of the two another name, or DROP CATALOG the first.",
            place=statement.place,
        )
    known, kind = ", ".join(CATALOG_TYPES), statement.options.get("type")
    if kind not in CATALOG_TYPES:
        raise OptionError(
            f"unknown catalog type '{kind}'" if kind else "the catalog has no type",
            detail=f"The types are {known}.",
            hint=f"Write 'type' = '{next(iter(CATALOG_TYPES))}'.",
            place=statement.option_places.get("type", statement.place),
        )
    found = CATALOG_TYPES[kind]
    options = scope.options_of(statement, found.options)
    scope.registered[statement.name] = Registered(statement, found, options)
    scope.session.catalogs[statement.name] = found.default_database(options)


def drop_catalog(scope: Scope, statement: sql.Drop) -> None:
    """Forget a catalog, unless something still stands on it."""
    if scope.session.find(statement.name) is None and statement.if_exists:
        return
    name = scope.session.get(statement.name, statement.place)
    if name in (DEFAULT_CATALOG, scope.session.catalog):
        raise SqlError(
            f'catalog "{name}" is the current one'
            if name != DEFAULT_CATALOG
            else f'"{name}" cannot be dropped',
            hint=f"USE CATALOG {DEFAULT_CATALOG} first."
            if name != DEFAULT_CATALOG
            else "Drop its tables and views.",
            place=statement.place,
        )
    of_it = [relation for relation in scope.outside if relation.startswith(f"{name}.")]
    readers = [r.name for r in scope.results.values() if any(read in of_it for read in r.reads)]
    readers += [node.relation for node in scope.sinks if node.table.name in of_it]
    if readers:
        raise SqlError(
            f'catalog "{name}" is still used by "{readers[0]}"',
            hint="Drop what uses it first.",
            place=statement.place,
        )
    for relation in of_it:
        scope.forget(relation)
    del scope.registered[name], scope.session.catalogs[name]


def use(scope: Scope, statement: sql.Use) -> None:
    """Stand in another catalog or database; a database has to be there."""
    session, place = scope.session, statement.place
    catalog = session.get(statement.catalog, place) if statement.catalog else session.catalog
    if statement.database is not None and scope.asks:
        check_database(scope, catalog, statement.database, place)
    session.use(catalog, statement.database)


def check_database(scope: Scope, catalog: str, database: str, place: Place | None) -> None:
    """Raise unless a catalog has a database of that name."""
    known = databases(scope, catalog, place)
    if database not in known:
        near = nearest(database, known)
        raise SqlError(
            f'catalog "{catalog}" has no database "{database}"',
            detail=f"Its databases are {', '.join(known)}." if near else "",
            hint=f'Did you mean "{near}"?' if near else f"Its databases are {', '.join(known)}.",
            place=place,
        )


def databases(scope: Scope, catalog: str, place: Place | None) -> Sequence[str]:
    """The databases of a catalog."""
    if catalog == DEFAULT_CATALOG:
        return [DEFAULT_DATABASE]
    registered = scope.registered[catalog]
    with placed(place), worded(registered):
        return registered.kind.databases(registered.options)


def tables(scope: Scope, catalog: str, database: str, place: Place | None) -> Sequence[str]:
    """The tables of a database of a catalog."""
    if catalog == DEFAULT_CATALOG:
        own = [r.name for r in scope.catalog if r.kind == "table" and r.name not in scope.outside]
        return own if database == DEFAULT_DATABASE else []
    registered = scope.registered[catalog]
    with placed(place), worded(registered):
        try:
            return registered.kind.tables(registered.options, database)
        except SourceError:
            check_database(scope, catalog, database, place)
            raise


@contextmanager
def worded(registered: Registered) -> Iterator[None]:
    """Let hints speak of the options that were written, which are the catalog's."""
    try:
        yield
    except HeadwaterError as problem:
        for said, meant in registered.kind.words.items():
            problem.hint = problem.hint.replace(said, meant)
        raise


def outside_relation(scope: Scope, meant: Outside, place: Place | None) -> Relation:
    """A table of a registered catalog, as a relation that can be read and written like a declared one."""
    statement = outside_statement(scope, meant, place)
    name = statement.name
    known = scope.catalog.find(name)
    if known is not None and known.name != name:
        raise SqlError(
            f'"{name}" and "{known.name}" differ only in case',
            hint="Declare one of them under another name: CREATE TABLE other LIKE ...",
            place=place,
        )
    if known is not None:
        return known
    try:
        with worded(scope.registered[meant.catalog]):
            schema = scope.stored_schema(statement)
    except SourceError:
        check_database(scope, meant.catalog, meant.database, place)
        raise
    relation = Relation(name, "table", schema)
    scope.catalog.add(relation, place)
    scope.declared[name.lower()] = replace(
        statement,
        columns=tuple(sql.ColumnDef(c.name, c.type) for c in schema),
        key=schema.key,
        text=_text(name, schema, statement.options),
    )
    scope.outside.add(name)
    return relation


def outside_statement(scope: Scope, meant: Outside, place: Place | None) -> sql.CreateTable:
    """The CREATE TABLE that a table of a catalog amounts to, without its columns."""
    registered = scope.registered[meant.catalog]
    table = registered.kind.table_name(registered.options, meant.table)
    options = registered.kind.table_options(registered.statement.options, meant.database, table)
    at = place or registered.statement.place
    return sql.CreateTable(replace(meant, table=table).name, options=options, place=at, text="")


def _text(name: str, schema: Schema, options: Mapping[str, str]) -> str:
    """The CREATE TABLE that somebody would have to write for it."""
    listed = [f"  `{column.name}` {written(column.type)}" for column in schema]
    if schema.key:
        listed.append(f"  PRIMARY KEY ({', '.join(f'`{part}`' for part in schema.key)}) NOT ENFORCED")
    given = [
        f"  '{option}' = '{re.sub(chr(39), chr(39) * 2, str(value))}'" for option, value in options.items()
    ]
    body = ",\n".join(listed)
    return f"CREATE TABLE `{name}` (\n{body}\n) WITH (\n" + ",\n".join(given) + "\n)"
