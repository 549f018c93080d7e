"""The column list of a CREATE TABLE: columns, computed columns, the primary key, watermarks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from headwater.errors import SqlError
from headwater.nearest import nearest
from headwater.sql.cursor import Cursor, said
from headwater.sql.lexer import Token
from headwater.sql.queries import parse_expression
from headwater.sql.statements import ColumnDef, ComputedColumn, CreateTable
from headwater.sql.types import parse_type

_ENFORCED = "Add NOT ENFORCED: the key is taken from the source, not checked."


@dataclass
class ColumnList:
    """What a column list has said so far."""

    columns: list[ColumnDef] = field(default_factory=list)
    computed: list[ComputedColumn] = field(default_factory=list)
    key: list[str] | None = None
    key_tokens: list[Token] = field(default_factory=list)
    opening: Token | None = None
    """Where the list begins."""

    @property
    def names(self) -> list[str]:
        """All names that are taken."""
        return [column.name for column in self.columns] + [column.name for column in self.computed]


def parse_columns(cursor: Cursor) -> ColumnList:
    """Read the column list of a CREATE TABLE, with its parentheses."""
    listed = ColumnList(opening=cursor.token)
    cursor.expect("(")
    while True:
        _element(cursor, listed)
        if not cursor.takes(","):
            break
    cursor.expect(")", hint="Columns are separated by commas.")
    return listed


def check_list(cursor: Cursor, listed: ColumnList, table: str) -> None:
    """A list that nothing is added to has columns."""
    if not listed.columns:
        raise cursor.error(
            f'table "{table}" lists no columns of its own',
            hint="List them, or leave out the parentheses to take the source's own columns.",
            token=listed.opening,
        )


OF_THE_TABLE = frozenset({"table_name", "schema_name", "database_name"})
"""Metadata by which rows of several tables that are read as one are told apart."""


def with_key(statement: CreateTable) -> CreateTable:
    """The statement with its key spelt as the columns are, which it makes NOT NULL.

    It names physical columns, and METADATA that tells of which table a row is: that never changes.
    """
    columns = statement.columns or ()
    by_name = {c.name.lower(): c.name for c in columns if c.metadata is None or c.metadata in OF_THE_TABLE}
    if not statement.key or statement.columns is None:
        return statement
    for name in statement.key:
        if name.lower() not in by_name:
            raise _unknown_key(statement, name, list(by_name.values()))
    key = tuple(by_name[name.lower()] for name in statement.key)
    made = tuple(replace(c, not_null=True) if c.name in key else c for c in columns)
    return replace(statement, columns=made, key=key)


def _unknown_key(statement: CreateTable, name: str, known: list[str]) -> SqlError:
    place = statement.key_places.get(name, statement.place)
    kinds = {column.name.lower(): "computed" for column in statement.computed}
    kinds |= {c.name.lower(): "metadata" for c in statement.columns or () if c.metadata is not None}
    if name.lower() in kinds:
        return SqlError(
            f'{kinds[name.lower()]} column "{name}" cannot be in the primary key',
            hint="A key is made of columns that the source has.",
            place=place,
        )
    near = nearest(name, known)
    return SqlError(
        f'the primary key names column "{name}", which the table does not have',
        detail=f"The columns are {', '.join(known)}." if near else "",
        hint=f'Did you mean "{near}"?' if near else f"The columns are {', '.join(known)}.",
        place=place,
    )


def _element(cursor: Cursor, listed: ColumnList) -> None:
    if cursor.sees("WATERMARK", "FOR"):
        _watermark(cursor)
        return
    following = cursor.ahead(2)
    if cursor.sees("CONSTRAINT") and following is not None and following.upper in ("PRIMARY", "UNIQUE"):
        cursor.index += 2
    if cursor.sees("PRIMARY", "KEY"):
        at = cursor.token
        cursor.index += 2
        if not cursor.sees("("):
            raise cursor.expected("(", "Write PRIMARY KEY (column) NOT ENFORCED.")
        named = cursor.names()
        _set_key(cursor, listed, [name for name, _ in named], at=at)
        listed.key_tokens = [token for _, token in named]
        _not_enforced(cursor)
        return
    if cursor.sees("UNIQUE"):
        raise cursor.error("UNIQUE is not supported yet", hint="Use PRIMARY KEY (...) NOT ENFORCED.")
    _column(cursor, listed)


def _watermark(cursor: Cursor) -> None:
    """A watermark is read and means nothing here: batches end at commits, not at times."""
    cursor.index += 2
    cursor.column()
    while cursor.takes("."):
        cursor.identifier("a field name")
    cursor.expect("AS")
    parse_expression(cursor, _until_comma(cursor))


def _set_key(cursor: Cursor, listed: ColumnList, names: list[str], *, at: Token | None) -> None:
    if listed.key is not None:
        raise cursor.error(
            "the table has two primary keys", hint="Write one PRIMARY KEY (a, b) NOT ENFORCED.", token=at
        )
    listed.key = names


def _not_enforced(cursor: Cursor) -> None:
    if cursor.sees("ENFORCED"):
        raise cursor.error("a primary key cannot be enforced here", hint=_ENFORCED)
    cursor.expect("NOT", "ENFORCED", hint=_ENFORCED)


def _column(cursor: Cursor, listed: ColumnList) -> None:
    token = cursor.token
    name = cursor.column()
    if name.lower() in (known.lower() for known in listed.names):
        raise declared_twice(cursor, name, token)
    place = cursor.place(token)
    if cursor.takes("AS"):
        index = len(listed.names)
        expression = parse_expression(cursor, _until_comma(cursor))
        listed.computed.append(ComputedColumn(name, expression, index, place))
        skip_comment(cursor)
        return
    if cursor.sees("METADATA"):
        raise cursor.expected("a type", f"Write the type first: {name} STRING METADATA.")
    column = ColumnDef(name, parse_type(cursor), place=place)
    listed.columns.append(_constrained(cursor, listed, column))


def _constrained(cursor: Cursor, listed: ColumnList, column: ColumnDef) -> ColumnDef:
    """The column with what stands behind its type."""
    while True:
        if cursor.takes("NOT", "NULL"):
            column = replace(column, not_null=True)
        elif cursor.sees("PRIMARY", "KEY") or cursor.sees("CONSTRAINT"):
            at = cursor.token
            if cursor.takes("CONSTRAINT"):
                cursor.identifier("a constraint name")
            cursor.expect("PRIMARY", "KEY")
            _set_key(cursor, listed, [column.name], at=at)
            listed.key_tokens = [at] if at is not None else []
            _not_enforced(cursor)
        elif cursor.takes("METADATA"):
            column = _metadata(cursor, column)
        elif (
            cursor.sees("DEFAULT")
            or cursor.sees("UNIQUE")
            or cursor.sees("REFERENCES")
            or cursor.sees("CHECK")
        ):
            raise cursor.error(
                f"{said(cursor.token)} is not supported yet",
                hint="Leave it out: the source decides what its rows hold.",
            )
        elif cursor.sees("COMMENT"):
            skip_comment(cursor)
        elif not cursor.takes("NULL"):
            return column


def _metadata(cursor: Cursor, column: ColumnDef) -> ColumnDef:
    """METADATA [FROM 'key'] [VIRTUAL], the first word stepped over."""
    key = cursor.string("what the column is taken from") if cursor.takes("FROM") else column.name
    return replace(column, metadata=key, virtual=cursor.takes("VIRTUAL"))


def declared_twice(cursor: Cursor, name: str, token: Token | None) -> SqlError:
    """The error for a column name that is already taken."""
    hint = "Remove or rename one of the two."
    return cursor.error(f'column "{name}" is declared twice', hint=hint, token=token)


def skip_comment(cursor: Cursor) -> None:
    """Step over COMMENT 'text' if it comes next."""
    if cursor.takes("COMMENT"):
        cursor.string("a comment")


def _until_comma(cursor: Cursor) -> list[Token]:
    """The tokens of an expression in the column list, stepped over; a COMMENT behind it stays."""
    depth, begin = 0, cursor.index
    while (token := cursor.token) is not None:
        if token.kind == "symbol":
            if depth == 0 and token.raw in ",)":
                break
            depth += (token.raw in "([{") - (token.raw in ")]}")
        following = cursor.ahead(1)
        if depth == 0 and token.upper == "COMMENT" and following is not None and following.kind == "string":
            break
        cursor.index += 1
    return list(cursor.tokens[begin : cursor.index])
