"""CREATE TABLE and CREATE VIEW."""

from __future__ import annotations

from headwater.errors import Place
from headwater.sql.columns import ColumnList, declared_twice, parse_columns, skip_comment
from headwater.sql.cursor import Cursor, nearest
from headwater.sql.queries import parse_query
from headwater.sql.secrets import kept
from headwater.sql.statements import CreateTable, CreateView


def parse_create(cursor: Cursor) -> CreateTable | CreateView:
    """CREATE [OR REPLACE] [TEMPORARY] TABLE, or [MATERIALIZED] VIEW."""
    cursor.expect("CREATE")
    or_replace = cursor.takes("OR", "REPLACE")
    temporary = cursor.takes("TEMPORARY") or cursor.takes("TEMP")
    materialized = cursor.takes("MATERIALIZED")
    if cursor.takes("VIEW"):
        return _view(cursor, or_replace=or_replace, temporary=temporary, materialized=materialized)
    token = cursor.token
    if materialized or not cursor.takes("TABLE"):
        near = nearest(token.raw, ("TABLE", "VIEW", "MATERIALIZED")) if token and token.upper else None
        hint = (
            f"Did you mean {near}?" if near else "Use CREATE TABLE, CREATE VIEW or CREATE MATERIALIZED VIEW."
        )
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
    listed = parse_columns(cursor, name) if has_list else ColumnList()
    skip_comment(cursor)
    _refuse_clauses(cursor)
    options, places = _options(cursor) if cursor.takes("WITH") else ({}, {})
    _refuse_clauses(cursor)
    cursor.expect_end("A CREATE TABLE is a column list and a WITH clause.")
    return CreateTable(
        name,
        tuple(listed.columns) if has_list else None,
        tuple(listed.computed),
        tuple(listed.key or ()),
        options,
        if_not_exists=if_not_exists,
        temporary=temporary,
        option_places=places,
        place=cursor.place(),
        text=cursor.text,
    )


def _refuse_clauses(cursor: Cursor) -> None:
    clauses = {
        "PARTITIONED": ("PARTITIONED BY", "Leave it out: State is laid out by the keys that queries use."),
        "DISTRIBUTED": ("DISTRIBUTED BY", "Leave it out: State is laid out by the keys that queries use."),
        "LIKE": (
            "CREATE TABLE ... LIKE",
            "List the columns in parentheses, or leave the list out to take the source's own.",
        ),
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
