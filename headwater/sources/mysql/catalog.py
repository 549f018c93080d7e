"""What the server's catalog says of tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlglot import exp

from headwater.errors import Place, SourceError
from headwater.nearest import nearest_hint
from headwater.sources.jdbc.mysql import SYSTEM
from headwater.sources.mysql.server import account

_TABLES = (
    "SELECT table_schema, table_name, table_type, engine, table_rows FROM information_schema.tables"
    " WHERE table_schema NOT IN %s ORDER BY 1, 2"
)
_COLUMNS = (
    "SELECT column_name, lower(data_type), column_type, coalesce(numeric_precision, 0),"
    " coalesce(numeric_scale, 0), coalesce(character_set_name, '')"
    " FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"
)
_KEY = (
    "SELECT column_name FROM information_schema.key_column_usage WHERE table_schema = %s AND table_name = %s"
    " AND constraint_name = 'PRIMARY' ORDER BY ordinal_position"
)
_CASCADE = re.compile(
    r"^\s*CONSTRAINT .* FOREIGN KEY .* ON (?:DELETE|UPDATE) (?:CASCADE|SET NULL|SET DEFAULT)\b"
)


@dataclass(frozen=True)
class ServerColumn:
    """A column at the server: `ServerColumn("id", "int", "int unsigned")`."""

    name: str
    kind: str
    """Its type without what stands in brackets behind it."""
    shown: str
    """Its type in full."""
    precision: int = 0
    scale: int = 0
    charset: str = ""


@dataclass(frozen=True)
class ServerTable:
    """A table at the server."""

    schema: str
    name: str
    columns: tuple[ServerColumn, ...]
    key: tuple[str, ...] = ()
    is_view: bool = False
    engine: str = ""
    estimate: int | None = None
    """About how many rows it has; None if the server never counted."""
    cascades: tuple[str, ...] = ()
    """Its foreign keys by which rows change or go with others; the log has nothing of that."""

    @property
    def shown(self) -> str:
        """The name for messages."""
        return f"{self.schema}.{self.name}"

    def column(self, name: str) -> ServerColumn | None:
        """The column of that name; an exact match wins over one that differs in case."""
        exact = [c for c in self.columns if c.name == name]
        loose = [c for c in self.columns if c.name.lower() == name.lower()]
        return next(iter(exact + loose), None)


def matches(schema: str, table: str, database_pattern: str, table_pattern: str) -> bool:
    """True if a table is meant by two patterns; the second may also be written with the database before it."""
    if not re.fullmatch(database_pattern, schema):
        return False
    return bool(re.fullmatch(table_pattern, table) or re.fullmatch(table_pattern, f"{schema}.{table}"))


class Wanted(NamedTuple):
    """What was looked for: two patterns, and where they were written."""

    database: str
    table: str
    place: Place | None


def find_tables(
    cursor: Any, database: str, table: str, *, place: Place | None = None
) -> tuple[ServerTable, ...]:
    """All tables that two patterns mean, or an error that names what is near."""
    cursor.execute(_TABLES, (SYSTEM,))
    rows = cursor.fetchall()
    found = [row for row in rows if matches(row[0], row[1], database, table)]
    if not found:
        raise _missing(cursor, [(row[0], row[1]) for row in rows], Wanted(database, table, place))
    return tuple(
        ServerTable(
            schema,
            name,
            columns_of(cursor, schema, name),
            _key_of(cursor, schema, name),
            kind not in ("BASE TABLE", "SYSTEM VERSIONED"),
            engine or "",
            None if estimate is None else int(estimate),
            () if kind == "VIEW" else _cascades_of(cursor, schema, name),
        )
        for schema, name, kind, engine, estimate in found
    )


def columns_of(cursor: Any, schema: str, table: str) -> tuple[ServerColumn, ...]:
    """The columns of a table as they are now; none if there is no such table."""
    cursor.execute(_COLUMNS, (schema, table))
    return tuple(
        ServerColumn(name, kind, shown, int(precision), int(scale), charset)
        for name, kind, shown, precision, scale, charset in cursor.fetchall()
    )


def _key_of(cursor: Any, schema: str, table: str) -> tuple[str, ...]:
    cursor.execute(_KEY, (schema, table))
    return tuple(name for (name,) in cursor.fetchall())


def _cascades_of(cursor: Any, schema: str, table: str) -> tuple[str, ...]:
    # The schema of foreign keys is hidden from a user who may only read, what the table was made with is not.
    shown = exp.table_(table, db=schema, quoted=True).sql(dialect="mysql")
    cursor.execute(f"SHOW CREATE TABLE {shown}")
    text = str(cursor.fetchone()[1])
    return tuple(line.strip(" ,") for line in text.splitlines() if _CASCADE.search(line))


def _missing(cursor: Any, known: Sequence[tuple[str, str]], wanted: Wanted) -> SourceError:
    database, table, place = wanted
    schemas = sorted({schema for schema, _ in known})
    inside = [name for schema, name in known if re.fullmatch(database, schema)]
    if not any(re.fullmatch(database, schema) for schema in schemas):
        return SourceError(
            f"the server has no database '{database}' that the user may see",
            detail=f"It shows {', '.join(schemas) or 'none'}.",
            hint=nearest_hint(database, schemas, "databases")
            if schemas
            else f"GRANT SELECT ON `{database}`.* TO {account(cursor)};",
            place=place,
        )
    return SourceError(
        f"database '{database}' has no table '{table}'",
        detail=f"The user sees {len(inside)} tables there.",
        hint=nearest_hint(table, inside, "tables"),
        place=place,
    )
