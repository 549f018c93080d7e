"""CREATE TABLE, CREATE VIEW, CREATE CATALOG and CREATE FUNCTION."""

from __future__ import annotations

from headwater.errors import Place
from headwater.nearest import nearest
from headwater.sql.columns import (
    ColumnList,
    check_list,
    declared_twice,
    parse_columns,
    skip_comment,
    with_key,
)
from headwater.sql.cursor import Cursor
from headwater.sql.like import parse_like
from headwater.sql.queries import parse_query
from headwater.sql.secrets import kept
from headwater.sql.statements import CreateCatalog, CreateFunction, CreateTable, CreateView
from headwater.sql.types import parse_type

_KINDS = "Use CREATE TABLE, CREATE VIEW, CREATE MATERIALIZED VIEW, CREATE CATALOG or CREATE FUNCTION."


def parse_create(cursor: Cursor) -> CreateTable | CreateView | CreateCatalog | CreateFunction:
    """CREATE [OR REPLACE] [TEMPORARY] TABLE, or [MATERIALIZED] VIEW, or CATALOG, or FUNCTION."""
    cursor.expect("CREATE")
    if cursor.takes("CATALOG"):
        return _catalog(cursor)
    or_replace = cursor.takes("OR", "REPLACE")
    temporary = cursor.takes("TEMPORARY") or cursor.takes("TEMP")
    if cursor.takes("FUNCTION") or (temporary and cursor.takes("SYSTEM", "FUNCTION")):
        return _function(cursor, or_replace=or_replace)
    materialized = cursor.takes("MATERIALIZED")
    if cursor.takes("VIEW"):
        return _view(cursor, or_replace=or_replace, temporary=temporary, materialized=materialized)
    token = cursor.token
    if materialized or not cursor.takes("TABLE"):
        words = ("TABLE", "VIEW", "MATERIALIZED", "CATALOG", "FUNCTION")
        near = nearest(token.raw, words) if token and token.upper else None
        hint = f"Did you mean {near}?" if near else _KINDS
        raise cursor.expected("VIEW" if materialized else "TABLE or VIEW", hint)
    if or_replace:
        raise cursor.error(
            "CREATE OR REPLACE TABLE is not supported yet",
            hint="Use DROP TABLE IF EXISTS and CREATE TABLE.",
            token=token,
        )
    return _table(cursor, temporary=temporary)


def _if_not_exists(cursor: Cursor) -> bool:
    if cursor.sees("IF"):
        cursor.expect("IF", "NOT", "EXISTS")
        return True
    return False


def _function(cursor: Cursor, *, or_replace: bool) -> CreateFunction:
    if_not_exists = _if_not_exists(cursor)
    name = cursor.identifier("a function name")
    cursor.expect("AS", hint=f"Write CREATE FUNCTION {name} AS 'module.function' LANGUAGE PYTHON.")
    path = cursor.string("the path of a function")
    token = cursor.token
    if cursor.takes("LANGUAGE") and not cursor.takes("PYTHON"):
        raise cursor.error(
            "only functions of Python can be created", hint="Write LANGUAGE PYTHON.", token=token
        )
    returns = parse_type(cursor) if cursor.takes("RETURNS") else None
    deterministic = cursor.takes("DETERMINISTIC")
    cursor.expect_end(
        "Behind the path may stand LANGUAGE PYTHON, RETURNS type and DETERMINISTIC, in this order."
    )
    return CreateFunction(
        name, path, returns, deterministic, if_not_exists, or_replace, place=cursor.place(), text=cursor.text
    )


def _view(cursor: Cursor, *, or_replace: bool, temporary: bool, materialized: bool) -> CreateView:
    if_not_exists = _if_not_exists(cursor)
    name = cursor.relation("a view name")
    columns = _view_columns(cursor) if cursor.takes("(") else ()
    skip_comment(cursor)
    if cursor.sees("WITH", "("):
        raise cursor.error(
            "a view has no options",
            hint="Remove the WITH clause; to send rows somewhere, INSERT INTO a table with a connector.",
        )
    cursor.expect("AS", hint=f"Write CREATE VIEW {name} AS SELECT ...")
    return CreateView(
        name,
        parse_query(cursor),
        columns,
        materialized=materialized,
        temporary=temporary,
        or_replace=or_replace,
        if_not_exists=if_not_exists,
        place=cursor.place(),
        text=cursor.text,
    )


def _view_columns(cursor: Cursor) -> tuple[str, ...]:
    names: list[str] = []
    while True:
        token = cursor.token
        name = cursor.column()
        if name.lower() in (known.lower() for known in names):
            raise declared_twice(cursor, name, token)
        names.append(name)
        skip_comment(cursor)
        if not cursor.takes(","):
            cursor.expect(")")
            return tuple(names)


def _table(cursor: Cursor, *, temporary: bool) -> CreateTable:
    if_not_exists = _if_not_exists(cursor)
    name = cursor.relation()
    has_list = cursor.sees("(")
    listed = parse_columns(cursor) if has_list else ColumnList()
    skip_comment(cursor)
    _refuse_clauses(cursor)
    options, places = _options(cursor) if cursor.takes("WITH") else ({}, {})
    like = parse_like(cursor) if cursor.takes("LIKE") else None
    _refuse_clauses(cursor)
    cursor.expect_end("A CREATE TABLE is a column list, a WITH clause and LIKE, in this order.")
    if has_list and like is None:
        check_list(cursor, listed, name)
    named = zip(listed.key or (), listed.key_tokens, strict=True)
    statement = CreateTable(
        name,
        tuple(listed.columns) if has_list else None,
        tuple(listed.computed),
        tuple(listed.key or ()),
        options,
        if_not_exists=if_not_exists,
        temporary=temporary,
        option_places=places,
        like=like,
        key_places={column: cursor.place(token) for column, token in named},
        place=cursor.place(),
        text=cursor.text,
    )
    return with_key(statement) if like is None else statement


def _catalog(cursor: Cursor) -> CreateCatalog:
    if_not_exists = _if_not_exists(cursor)
    name = cursor.identifier("a catalog name")
    skip_comment(cursor)
    cursor.expect("WITH", hint=f"Write CREATE CATALOG {name} WITH ('type' = 'jdbc', ...).")
    options, places = _options(cursor)
    cursor.expect_end("A CREATE CATALOG is a name and a WITH clause.")
    return CreateCatalog(
        name, options, if_not_exists, option_places=places, place=cursor.place(), text=cursor.text
    )


def _refuse_clauses(cursor: Cursor) -> None:
    clauses = {
        "PARTITIONED": ("PARTITIONED BY", "Leave it out: State is laid out by the keys that queries use."),
        "DISTRIBUTED": ("DISTRIBUTED BY", "Leave it out: State is laid out by the keys that queries use."),
        "AS": ("CREATE TABLE ... AS", "Use CREATE VIEW, or CREATE TABLE and INSERT INTO ... SELECT."),
        "USING": ("USING", "Name the connector: WITH ('connector' = '...')."),
    }
    token = cursor.token
    if token is not None and token.upper in clauses:
        what, hint = clauses[token.upper]
        raise cursor.error(f"{what} is not supported yet", hint=hint)


def _options(cursor: Cursor) -> tuple[dict[str, str], dict[str, Place]]:
    options: dict[str, str] = {}
    places: dict[str, Place] = {}
    cursor.expect("(", hint="Write WITH ('connector' = '...', ...).")
    if cursor.takes(")"):
        return options, places
    while True:
        token = cursor.token
        name = cursor.string("an option name")
        if name in options:
            raise cursor.error(f"option '{name}' is given twice", hint="Remove one of the two.", token=token)
        cursor.expect("=", hint=f"Write '{name}' = '...'.")
        options[name] = kept(name, cursor.string(f"a value for option '{name}'"))
        places[name] = cursor.place(token)
        if not cursor.takes(","):
            cursor.expect(")", hint="Options are separated by commas.")
            return options, places
