"""USE, SHOW, DESCRIBE, DROP and STOP JOB: where a script stands, what it sees there, what it lets go."""

from __future__ import annotations

from typing import Literal, get_args

from headwater.nearest import nearest
from headwater.sql.cursor import Cursor
from headwater.sql.names import Name
from headwater.sql.statements import Describe, Drop, Listed, Show, StopJob, Use

WITHIN: tuple[Listed, ...] = ("tables", "views", "databases")
PATTERNED: tuple[Listed, ...] = (*WITHIN, "catalogs")


def parse_show(cursor: Cursor) -> Show:
    """SHOW TABLES [FROM catalog.database] [[NOT] LIKE 'pattern'], and all the other lists."""
    cursor.expect("SHOW")
    what = _listed(cursor)
    name: Name | str | None = None
    if what in ("create table", "create view"):
        name = cursor.relation("a name")
    elif what == "create catalog":
        name = cursor.identifier("a catalog name")
    within = None
    if what in WITHIN and (cursor.takes("FROM") or cursor.takes("IN")):
        token = cursor.token
        within = cursor.name("a catalog" if what == "databases" else "a database")
        if len(within.parts) > (1 if what == "databases" else 2):
            raise cursor.error(f"{within} has too many parts", hint="Write catalog.database.", token=token)
    negated = what in PATTERNED and cursor.sees("NOT", "LIKE") and cursor.takes("NOT")
    pattern = cursor.string("a pattern") if what in PATTERNED and cursor.takes("LIKE") else None
    cursor.expect_end()
    return Show(what, name, within, pattern, negated, place=cursor.place(), text=cursor.text)


def _listed(cursor: Cursor) -> Listed:
    listed: dict[str, Listed] = {what.upper(): what for what in get_args(Listed)}
    what = next((known for words, known in listed.items() if cursor.takes(*words.split())), None)
    if what is None:
        token = cursor.token
        near = nearest(token.raw, listed) if token is not None and token.upper else None
        options = f"Use SHOW {', '.join(sorted(listed))}."
        raise cursor.expected("what to show", f"Did you mean SHOW {near}?" if near else options)
    return what


def parse_describe(cursor: Cursor) -> Describe:
    """DESCRIBE [TABLE] name."""
    cursor.take()
    if cursor.sees("EXTENDED") and cursor.ahead(1) is not None:
        raise cursor.error("DESCRIBE EXTENDED is not supported yet", hint="Use DESCRIBE name.")
    if cursor.ahead(1) is not None:
        cursor.takes("TABLE")
    name = cursor.relation("a table or view name")
    cursor.expect_end()
    return Describe(name, place=cursor.place(), text=cursor.text)


def parse_use(cursor: Cursor) -> Use:
    """USE CATALOG name, or USE [catalog.]database."""
    cursor.expect("USE")
    if cursor.sees("CATALOG") and cursor.ahead(1) is not None and not cursor.sees("CATALOG", "."):
        cursor.expect("CATALOG")
        catalog = cursor.identifier("a catalog name")
        cursor.expect_end("Write USE CATALOG name, or USE catalog.database.")
        return Use(catalog, place=cursor.place(), text=cursor.text)
    token = cursor.token
    name = cursor.name("CATALOG or a database name")
    if len(name.parts) > 2:
        raise cursor.error(f"{name} has too many parts", hint="Write USE catalog.database.", token=token)
    cursor.expect_end("Write USE CATALOG name, or USE catalog.database.")
    *before, database = name.parts
    return Use(before[0] if before else None, database, place=cursor.place(), text=cursor.text)


def parse_drop(cursor: Cursor) -> Drop:
    """DROP TABLE, VIEW, FUNCTION or CATALOG [IF EXISTS] name."""
    cursor.expect("DROP")
    if cursor.takes("CATALOG"):
        if_exists = cursor.takes("IF", "EXISTS")
        catalog = cursor.identifier("a catalog name")
        cursor.expect_end("Drop one at a time.")
        return Drop("catalog", catalog, if_exists, place=cursor.place(), text=cursor.text)
    temporary = cursor.takes("TEMPORARY")
    if cursor.takes("FUNCTION") or (temporary and cursor.takes("SYSTEM", "FUNCTION")):
        if_exists = cursor.takes("IF", "EXISTS")
        function = cursor.identifier("a function name")
        cursor.expect_end("Drop one at a time.")
        return Drop("function", function, if_exists, place=cursor.place(), text=cursor.text)
    materialized = cursor.takes("MATERIALIZED")
    kind: Literal["table", "view"] = "view" if cursor.sees("VIEW") else "table"
    if not cursor.takes("VIEW") and (materialized or not cursor.takes("TABLE")):
        raise cursor.expected("TABLE or VIEW", "Use DROP TABLE name or DROP VIEW name.")
    if_exists = cursor.takes("IF", "EXISTS")
    name = cursor.relation(f"a {kind} name")
    cursor.expect_end("Drop one at a time.")
    return Drop(kind, name, if_exists, place=cursor.place(), text=cursor.text)


def parse_stop(cursor: Cursor) -> StopJob:
    """STOP JOB 'id'."""
    cursor.expect("STOP")
    cursor.expect("JOB", hint="Write STOP JOB 'id'; SHOW JOBS lists them.")
    token = cursor.token
    if token is not None and token.kind in ("word", "name"):
        raise cursor.expected("the id of a job", f"Write it in single quotes: STOP JOB '{token.value}'.")
    job = cursor.string("the id of a job")
    if cursor.sees("WITH"):
        hint = "Leave it out: a job that is started again goes on where it was stopped."
        raise cursor.error("STOP JOB has no options", hint=hint)
    cursor.expect_end()
    return StopJob(job, place=cursor.place(), text=cursor.text)
