"""Statements in the binary log that change tables as a whole.

statements_in("shop", "DROP TABLE a, b")     # [Dropped(("shop", "a")), Dropped(("shop", "b"))]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

Name = tuple[str, str]

_COMMENT = re.compile(r"/\*(?!!)(?:.|\n)*?\*/|--[ \t][^\n]*|#[^\n]*")
_NAME = r"(?:`(?:[^`]|``)+`|[\w$]+)"
_TABLE = rf"(?:{_NAME}\s*\.\s*)?{_NAME}"
_EXISTS = r"(?:IF\s+(?:NOT\s+)?EXISTS\s+)?"

_TRUNCATE = re.compile(rf"TRUNCATE\s+(?:TABLE\s+)?({_TABLE})", re.I)
_DROP = re.compile(rf"DROP\s+TABLES?\s+{_EXISTS}(.*)", re.I | re.S)
_ALTER = re.compile(rf"ALTER\s+(?:ONLINE\s+)?(?:IGNORE\s+)?TABLE\s+{_EXISTS}({_TABLE})(.*)", re.I | re.S)
_CREATE = re.compile(rf"CREATE\s+(OR\s+REPLACE\s+)?TABLE\s+{_EXISTS}({_TABLE})", re.I)
_RENAME = re.compile(r"RENAME\s+TABLES?\s+(.*)", re.I | re.S)
_RENAMED = re.compile(rf"({_TABLE})\s+TO\s+({_TABLE})", re.I)
_NEW_NAME = re.compile(rf"\bRENAME\s+(?:TO|AS|=)?\s*(?!COLUMN\b|INDEX\b|KEY\b)({_TABLE})\s*(?:,|$)", re.I)
_EMPTIED = re.compile(r"\b(?:DROP|TRUNCATE|DISCARD|EXCHANGE)\s+(?:PARTITION|TABLESPACE)\b", re.I)
_DROP_DATABASE = re.compile(rf"DROP\s+(?:DATABASE|SCHEMA)\s+{_EXISTS}({_NAME})", re.I)
_ROWS = re.compile(r"(?:INSERT|REPLACE|UPDATE|DELETE|LOAD\s+DATA|WITH)\b", re.I)
_TEXT = re.compile(r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"", re.S)


class Truncated(NamedTuple):
    """All rows of a table are gone."""

    table: Name


class Dropped(NamedTuple):
    """A table is gone with its rows; without a name all tables of its database are."""

    table: Name


class Altered(NamedTuple):
    """A table has other columns than before, perhaps."""

    table: Name
    loses_rows: bool = False
    """True if rows may have gone without being told of."""


class Created(NamedTuple):
    """A table is new."""

    table: Name


class Renamed(NamedTuple):
    """A table has another name."""

    table: Name
    to: Name


class Written(NamedTuple):
    """Rows were written by a statement, and not told one by one."""

    tables: tuple[Name, ...]
    """Whatever could be the name of a table in it."""


Statement = Truncated | Dropped | Altered | Created | Renamed | Written


def statements_in(schema: str, text: str) -> list[Statement]:
    """What a statement does to tables; nothing for all that does not matter to rows."""
    plain = _COMMENT.sub(" ", text).strip().rstrip(";")
    # A comment with a version before it is text for servers from that version on.
    plain = re.sub(r"/\*!\d*\s*(.*?)\*/", r"\1", plain, flags=re.S).strip()
    return list(_found(schema, plain))


def folded(statement: Statement) -> Statement:
    """The same, with names in small letters: how a server keeps them that does not tell letters apart."""
    match statement:
        case Written(tables):
            return Written(tuple(map(_small, tables)))
        case Renamed(table, to):
            return Renamed(_small(table), _small(to))
    return statement._replace(table=_small(statement.table))


def _small(name: Name) -> Name:
    return name[0].lower(), name[1].lower()


def _found(schema: str, text: str) -> Iterator[Statement]:
    if found := _TRUNCATE.match(text):
        yield Truncated(_name(schema, found[1]))
    elif found := _DROP.match(text):
        for table in re.findall(_TABLE, re.sub(r"\b(?:RESTRICT|CASCADE)\s*$", "", found[1], flags=re.I)):
            yield Dropped(_name(schema, table))
    elif found := _ALTER.match(text):
        yield Altered(_name(schema, found[1]), bool(_EMPTIED.search(found[2])))
        if new := _NEW_NAME.search(found[2]):
            yield Renamed(_name(schema, found[1]), _name(schema, new[1]))
    elif found := _CREATE.match(text):
        if found[1]:
            yield Dropped(_name(schema, found[2]))
        yield Created(_name(schema, found[2]))
    elif found := _RENAME.match(text):
        for old, to in _RENAMED.findall(found[1]):
            yield Renamed(_name(schema, old), _name(schema, to))
    elif found := _DROP_DATABASE.match(text):
        yield Dropped((_plain(found[1]), ""))
    elif _ROWS.match(text):
        yield Written(tuple(_name(schema, name) for name in re.findall(_TABLE, _TEXT.sub(" ", text))))


def _name(schema: str, text: str) -> Name:
    parts = [_plain(part) for part in re.findall(_NAME, text)]
    return (parts[0], parts[1]) if len(parts) > 1 else (schema, parts[0])


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
