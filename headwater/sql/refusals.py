"""Statements that people know from elsewhere and that have no body here yet: what to do instead."""

from __future__ import annotations

from headwater.errors import SqlError
from headwater.nearest import nearest
from headwater.sql.cursor import Cursor

_LOG = "Change the rows in the source database; Headwater follows its log."
_ALTER = "DROP it and CREATE it again with the change, or edit the file: what did not change is kept."
_NAMES = "Names may hold points: CREATE TABLE `db.name` (...). Leave this statement out."
_FUNCTION = "Write the expression itself; all of Spark SQL's functions can be used."
_LOADED = "Leave it out: all connectors are there without loading."
_TRANSACTION = "Leave it out: every result is that of whole transactions anyway."

KNOWN: tuple[tuple[str, str], ...] = (
    ("CREATE DATABASE", _NAMES),
    ("CREATE SCHEMA", _NAMES),
    ("CREATE MODEL", _FUNCTION),
    ("CREATE CONNECTION", "Put host and password into the WITH clause of the table."),
    ("CREATE INDEX", "Leave it out: State is kept sorted by the keys that queries use."),
    ("CREATE MATERIALIZED TABLE", "Use CREATE MATERIALIZED VIEW name AS SELECT ..."),
    ("DROP DATABASE", "Use DROP TABLE or DROP VIEW."),
    ("DROP SCHEMA", "Use DROP TABLE or DROP VIEW."),
    ("ALTER", _ALTER),
    ("ANALYZE", "Leave it out: costs are measured while views are maintained."),
    ("USE MODULES", _LOADED),
    ("LOAD", _LOADED),
    ("UNLOAD", _LOADED),
    ("ADD JAR", _LOADED),
    ("REMOVE JAR", _LOADED),
    ("TRUNCATE", _LOG),
    ("UPDATE", _LOG),
    ("DELETE", _LOG),
    ("MERGE", _LOG),
    ("REPLACE", _LOG),
    ("COPY", _LOG),
    ("INSERT OVERWRITE", "Use INSERT INTO: the target always holds the current result."),
    ("CALL", "Use SELECT, or run the procedure in the source database."),
    ("DO", "Run it in the source database."),
    ("COMPILE PLAN", "Use EXPLAIN to see the plan."),
    ("EXECUTE PLAN", "Use INSERT INTO or EXECUTE STATEMENT SET."),
    ("REFRESH", "Leave it out: views are always maintained."),
    ("CACHE", "Leave it out: State is kept in files that the system caches."),
    ("UNCACHE", "Leave it out: nothing is cached."),
    ("GRANT", "Give rights in the source or sink database."),
    ("REVOKE", "Take rights in the source or sink database."),
    ("DECLARE", "Write the value itself."),
    ("START TRANSACTION", _TRANSACTION),
    ("BEGIN", "Leave it out, or write BEGIN STATEMENT SET; ... END; around several INSERT INTO."),
    ("COMMIT", _TRANSACTION),
    ("ROLLBACK", _TRANSACTION),
    ("TABLE", "Use SELECT * FROM name."),
    ("FROM", "Start with SELECT."),
)
"""The first words of a statement, and what works in its place. The first entry that fits counts."""

_SKIPPED = ("OR", "REPLACE", "TEMPORARY", "TEMP", "SYSTEM")


def refusal(cursor: Cursor) -> SqlError | None:
    """The error for a statement that is known and not supported, None if it is not one of these."""
    words = [token.upper for token in cursor.tokens[cursor.index : cursor.index + 7]]
    plain = [words[0], *(word for word in words[1:] if word not in _SKIPPED)]
    for name, hint in KNOWN:
        wanted = name.split()
        if plain[: len(wanted)] == wanted:
            return cursor.error(f"{name} is not supported yet", hint=hint, token=cursor.token)
    return None


def unknown(cursor: Cursor, statements: tuple[str, ...]) -> SqlError:
    """The error for a first word that starts no statement, with the nearest one that does."""
    token = cursor.token
    assert token is not None
    known = (*statements, *(name.split()[0] for name, _ in KNOWN))
    near = nearest(token.raw, known) if token.upper else None
    listed = f"Statements start with {', '.join(statements)}."
    shown = "a string" if token.kind == "string" else token.raw
    return cursor.error(
        f"{shown} does not start a statement",
        detail=listed if near else "",
        hint=f"Did you mean {near}?" if near else listed,
        token=token,
    )
