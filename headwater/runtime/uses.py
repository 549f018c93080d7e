"""Which declarations a statement stands on: the relations and catalogs that it names, not words that look like them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.errors import OptimizeError

from headwater.errors import SqlError
from headwater.plan.walk import relations_of
from headwater.sql import statements as sql
from headwater.sql.history_calls import asked_of
from headwater.sql.names import DEFAULT_CATALOG, DEFAULT_DATABASE, parts_of

Named = sql.CreateTable | sql.CreateView | sql.CreateCatalog

Parts = tuple[str, ...]


def uses(statement: sql.Statement, declared: Named) -> bool:
    """True if a statement reads, writes or describes what was declared, or takes something from it."""
    try:
        named = [tuple(part.lower() for part in parts) for parts in _names(statement)]
    except (OptimizeError, SqlError):
        # Compiling says what is wrong with it; until then each word may be a name.
        return (
            re.search(rf"(?<!\w){re.escape(declared.name)}(?!\w)", statement.text, re.IGNORECASE) is not None
        )
    if isinstance(declared, sql.CreateCatalog):
        used = isinstance(statement, sql.Use) and (statement.catalog or "").lower() == declared.name.lower()
        return used or any(len(parts) > 1 and parts[0] == declared.name.lower() for parts in named)
    return _own(tuple(part.lower() for part in parts_of(declared.name))) in map(_own, named)


def _own(parts: Parts) -> Parts:
    """The name of a relation of the script, without where all of them lie."""
    if len(parts) > 2 and parts[0] == DEFAULT_CATALOG:
        parts = parts[1:]
    return parts[1:] if len(parts) > 1 and parts[0] == DEFAULT_DATABASE else parts


def _names(statement: sql.Statement) -> Iterator[Parts]:
    match statement:
        case sql.CreateTable(like=sql.Like() as like):
            yield parts_of(like.source)
        case sql.CreateView() | sql.Select():
            yield from _read(statement)
        case sql.InsertInto():
            yield parts_of(statement.target)
            yield from _read(statement)
        case sql.StatementSet():
            for one in statement.statements:
                yield from _names(one)
        case sql.Explain():
            yield from _names(statement.statement)
        case sql.Describe() | sql.Verify() | sql.Analyze() | sql.Subscribe():
            yield parts_of(statement.name)


def _read(statement: sql.CreateView | sql.InsertInto | sql.Select) -> Iterator[Parts]:
    for table in relations_of(statement.query):
        yield tuple(part.name for part in table.parts)
    for table in statement.query.find_all(exp.Table):
        asked = asked_of(table, statement.place)
        if asked is not None:
            yield asked.relation
        elif isinstance(table.this, exp.Dot):
            yield tuple(part.name for part in table.parts)
