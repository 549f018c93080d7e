"""What SHOW answers, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headwater.errors import OptionError
from headwater.runtime.answers import listed
from headwater.runtime.catalogs import databases, tables
from headwater.runtime.naming import relation_of
from headwater.runtime.scope import Scope
from headwater.sinks.registry import SINK_TYPES
from headwater.sources.registry import SOURCE_TYPES
from headwater.sql import statements as sql
from headwater.sql.names import DEFAULT_CATALOG, parts_of
from headwater.sql.show import show_create


def show(scope: Scope, statement: sql.Show) -> str:
    """SHOW TABLES and the like; a server is asked for what it has."""
    match statement.what:
        case "current catalog":
            return scope.session.catalog
        case "current database":
            return scope.session.database
        case "connectors":
            ways = (("read", SOURCE_TYPES), ("write", SINK_TYPES))
            both = sorted({*SOURCE_TYPES, *SINK_TYPES})
            return listed([f"{n}  {', '.join(way for way, known in ways if n in known)}" for n in both])
        case "create table" | "create view":
            relation = relation_of(scope, statement.name or "", statement.place)
            return show_create(scope.declared[relation.name.lower()])
        case "create catalog":
            return _create_catalog(scope, statement)
        case "tables" | "views" | "catalogs" | "databases":
            return listed(_alike(_names(scope, statement), statement))
        case _:
            raise OptionError(
                f"SHOW {statement.what.upper()} has nothing to show here",
                hint="Use SHOW TABLES, SHOW VIEWS, SHOW CONNECTORS or SHOW CREATE TABLE.",
                place=statement.place,
            )


def _names(scope: Scope, statement: sql.Show) -> Sequence[str]:
    if statement.what == "catalogs":
        return list(scope.session.catalogs)
    catalog, database = _within(scope, statement)
    if statement.what == "views":
        own = [relation.name for relation in scope.catalog if relation.kind == "view"]
        return own if catalog == DEFAULT_CATALOG else []
    if not scope.asks and catalog != DEFAULT_CATALOG:
        return []
    if statement.what == "databases":
        return databases(scope, catalog, statement.place)
    return tables(scope, catalog, database, statement.place)


def _within(scope: Scope, statement: sql.Show) -> tuple[str, str]:
    """The catalog and database that are meant: FROM c.d, FROM d, and a catalog alone means its default database."""
    session = scope.session
    if statement.within is None:
        return session.catalog, session.database
    *before, last = parts_of(statement.within)
    if before:
        return session.get(before[0], statement.place), last
    if statement.what == "databases":
        catalog = session.get(last, statement.place)
        return catalog, session.catalogs[catalog]
    found = session.find(last) if session.catalog == DEFAULT_CATALOG else None
    return (found, session.catalogs[found]) if found is not None else (session.catalog, last)


def _alike(names: Sequence[str], statement: sql.Show) -> list[str]:
    """The names that are LIKE the pattern: % stands for any letters, _ for one."""
    if statement.pattern is None:
        return list(names)
    signs = {"%": ".*", "_": "."}
    pattern = "".join(signs.get(sign, re.escape(sign)) for sign in statement.pattern)
    is_like = re.compile(pattern, re.IGNORECASE | re.DOTALL).fullmatch
    return [name for name in names if (is_like(name) is None) == statement.is_negated]


def _create_catalog(scope: Scope, statement: sql.Show) -> str:
    name = scope.session.get(statement.name or "", statement.place)
    if name == DEFAULT_CATALOG:
        raise OptionError(
            f'catalog "{name}" was never created', hint="It is always there.", place=statement.place
        )
    return show_create(scope.registered[name].statement)
