"""What the tables of the log look like: their columns by name, at each place of it.

The log itself has only the types of columns in their order, unless the server writes more (binlog_row_metadata =
FULL). Then the names are those of the catalog, taken when reading began and again after each statement that changes a
table. The catalog shows a table as it is now: if it was changed once more before now, what it was in between is not
known, and is refused rather than guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

from headwater.errors import SourceError
from headwater.log.binlog import TableMap, packed_integer
from headwater.log.binlog_rows import Code, LogType, types_of
from headwater.sources.mysql.catalog import ServerColumn, ServerTable
from headwater.sources.mysql.types import fits

Name = tuple[str, str]
"""A database and a table."""

FULL_HINT = (
    "Let the server write the names of columns into its log (SET PERSIST binlog_row_metadata = 'FULL'; in MariaDB"
    " SET GLOBAL), remove the state with 'headwater drop', and start anew."
)

_SIGNS, _DEFAULT_CHARSET, _CHARSETS, _NAMES, _SET_LABELS, _ENUM_LABELS = range(1, 7)
_NUMERIC = {
    Code.TINY,
    Code.SHORT,
    Code.INT24,
    Code.LONG,
    Code.LONGLONG,
    Code.NEWDECIMAL,
    Code.FLOAT,
    Code.DOUBLE,
    Code.YEAR,
}
_COLLATION_OF_BYTES = 63


@dataclass(frozen=True)
class _Known:
    columns: tuple[ServerColumn, ...]
    since: int
    """The catalog showed it when the log stood here; before that another statement may have changed the table."""
    is_doubtful: bool = False
    """True if one has: then only the log itself can tell what its rows are."""


class Definitions:
    """The columns of tables, as far as they are known; see the module."""

    def __init__(
        self,
        look: Callable[[Name], tuple[tuple[ServerColumn, ...], int]],
        kept: str | None,
        is_changed: Callable[[Name, int, int], bool],
    ) -> None:
        """`look` asks the catalog for a table, and where the log stands then; `is_changed` asks whether a statement
        changes it between two places of the log."""
        self._is_changed = is_changed
        self._look = look
        self._known: dict[Name, _Known] = _read(kept) if kept else {}

    def take(self, tables: Mapping[Name, ServerTable], since: int) -> None:
        """Tables as the catalog has them at a place of the log."""
        for name, table in tables.items():
            self._known[name] = _Known(table.columns, since)

    def altered(self, name: Name, at: int) -> None:
        """A statement that ends at a place of the log changed a table."""
        known = self._known.get(name)
        if known is not None and at < known.since:
            self._known[name] = replace(known, is_doubtful=True)
            return
        columns, since = self._look(name)
        self._known[name] = _Known(columns, since, at < since and self._is_changed(name, at, since))

    def dropped(self, name: Name) -> None:
        """A table is gone."""
        self._known.pop(name, None)

    def columns(self, table: TableMap) -> tuple[ServerColumn, ...]:
        """The columns of a table whose rows follow."""
        name, types = (table.schema, table.name), types_of(table)
        known = self._known.get(name)
        if known is None:
            # It was made after reading began, so that all its rows are in the log.
            columns, since = self._look(name)
            known = self._known[name] = _Known(columns, since)
        if _NAMES in table.extras:
            return _told(table, types, known.columns)
        if known.is_doubtful:
            raise SourceError(
                f"table '{name[0]}.{name[1]}' was changed more than once while nobody read",
                detail="The log does not have the names of its columns, and the catalog shows only the last ones.",
                hint=FULL_HINT,
            )
        if len(known.columns) == len(types) and all(map(fits, known.columns, types)):
            return known.columns
        raise SourceError(
            f"the rows of table '{table.schema}.{table.name}' are not those of its definition",
            detail=f"The log has {len(types)} columns, the catalog shows"
            f" {', '.join(f'{c.name} {c.shown}' for c in known.columns) or 'none'}.",
            hint=FULL_HINT,
        )

    def names(self) -> list[Name]:
        """The tables that are known."""
        return list(self._known)

    def known(self, name: Name) -> tuple[ServerColumn, ...] | None:
        """The columns of a table as they were last; None if it is not known."""
        known = self._known.get(name)
        return None if known is None else known.columns

    def to_text(self) -> str:
        """What is known, for the next start."""
        return json.dumps(
            [[*name, known.since, [asdict(c) for c in known.columns]] for name, known in self._known.items()]
        )


def _read(text: str) -> dict[Name, _Known]:
    return {
        (schema, table): _Known(tuple(ServerColumn(**column) for column in columns), since)
        for schema, table, since, columns in json.loads(text)
    }


def _told(
    table: TableMap, types: tuple[LogType, ...], known: tuple[ServerColumn, ...]
) -> tuple[ServerColumn, ...]:
    """The columns by what the log says of them, and by the catalog where it still fits."""
    names = _texts(table.extras[_NAMES])
    by_name = {column.name: column for column in known}
    signs = _unsigned(table.extras.get(_SIGNS, b""), types)
    labels = {
        Code.ENUM: iter(_lists(table.extras.get(_ENUM_LABELS, b""))),
        Code.SET: iter(_lists(table.extras.get(_SET_LABELS, b""))),
    }
    found = []
    for place, (name, kind) in enumerate(zip(names, types, strict=True)):
        words = next(labels[kind.code], None) if kind.code in labels else None
        column = by_name.get(name)
        if column is None or not fits(column, kind):
            column = _guessed(name, kind, unsigned=signs[place])
        if words is not None:
            shown = ",".join("'" + word.replace("'", "''") + "'" for word in words)
            column = ServerColumn(column.name, column.kind, f"{column.kind}({shown})", charset=column.charset)
        found.append(column)
    return tuple(found)


_KINDS = {
    Code.TINY: "tinyint",
    Code.SHORT: "smallint",
    Code.INT24: "mediumint",
    Code.LONG: "int",
    Code.LONGLONG: "bigint",
    Code.FLOAT: "float",
    Code.DOUBLE: "double",
    Code.YEAR: "year",
    Code.DATE: "date",
    Code.DATETIME2: "datetime",
    Code.TIMESTAMP2: "timestamp",
    Code.TIME2: "time",
    Code.BIT: "bit",
    Code.ENUM: "enum",
    Code.SET: "set",
    Code.JSON: "json",
    Code.VARCHAR: "varchar",
    Code.STRING: "char",
    Code.BLOB: "text",
    Code.GEOMETRY: "geometry",
    Code.NEWDECIMAL: "decimal",
}


def _guessed(name: str, kind: LogType, *, unsigned: bool) -> ServerColumn:
    """A column that the catalog no longer has; nobody declared it, or it will be missed by name."""
    word = _KINDS.get(kind.code, "blob")
    if word == "decimal":
        return ServerColumn(name, word, word, kind.first, kind.second)
    return ServerColumn(name, word, f"{word} unsigned" if unsigned else word, charset="utf8mb4")


def _unsigned(bits: bytes, types: tuple[LogType, ...]) -> list[bool]:
    """A bit for each column that is a number, the highest first."""
    found, place = [], 0
    for kind in types:
        is_number = kind.code in _NUMERIC
        is_set = is_number and place // 8 < len(bits) and bool(bits[place // 8] >> 7 - place % 8 & 1)
        found.append(is_set)
        place += is_number
    return found


def _texts(data: bytes) -> list[str]:
    at, found = 0, []
    while at < len(data):
        size, at = packed_integer(data, at)
        found.append(data[at : at + size].decode())
        at += size
    return found


def _lists(data: bytes) -> list[list[str]]:
    at, found = 0, []
    while at < len(data):
        count, at = packed_integer(data, at)
        words = []
        for _ in range(count):
            size, at = packed_integer(data, at)
            words.append(data[at : at + size].decode(errors="replace"))
            at += size
        found.append(words)
    return found
