"""Which tables of a server are meant by patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headwater.errors import Place, SourceError
from headwater.nearest import nearest_hint
from headwater.sources.postgres.patterns import matches, means

_TABLES = (
    # Views and foreign tables have no changes in the log. A temporary table stands in a schema of the server's own.
    "SELECT c.oid::bigint, n.nspname, c.relname, CASE WHEN c.relispartition THEN"
    " (SELECT pn.nspname || '.' || p.relname FROM pg_class p JOIN pg_namespace pn ON pn.oid = p.relnamespace"
    " WHERE p.oid = pg_partition_root(c.oid)) END,"
    " CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid::bigint END"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
    " ORDER BY n.nspname, c.relname"
)


@dataclass(frozen=True)
class Matching:
    """A table that matches."""

    oid: int
    schema: str
    name: str

    @property
    def shown(self) -> str:
        """Its name for messages."""
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True)
class Found:
    """What a look at all tables of a database has found for two patterns."""

    tables: tuple[Matching, ...]
    strays: tuple[tuple[str, str], ...]
    """Partitions that match while the table they belong to does not, under whose name their changes come."""
    names: tuple[tuple[str, str], ...]
    """All tables there are."""


def matching(cursor: Any, schema: str, table: str) -> Found:
    """All tables that two patterns mean, by name; partitions are rows of their table."""
    cursor.execute(_TABLES)
    rows = cursor.fetchall()
    whole = [Matching(oid, where, name) for oid, where, name, root, _ in rows if root is None]
    found = {one.oid: one for one in whole if means(schema, table, one.schema, one.name)}
    strays = [
        (f"{where}.{name}", str(root))
        for _, where, name, root, number in rows
        if root is not None and number not in found and means(schema, table, where, name)
    ]
    return Found(tuple(found.values()), tuple(strays), tuple((row[1], row[2]) for row in rows))


def find_matching(
    cursor: Any, schema: str, table: str, *, place: Place | None = None, needed: bool = True
) -> tuple[Matching, ...]:
    """These tables, or an error that names what is near; if they are not `needed` there may be none."""
    found = matching(cursor, schema, table)
    for stray, root in found.strays:
        raise stray_error(stray, root, place)
    if needed and not found.tables:
        raise _missing(found.names, schema, table, place)
    return found.tables


def stray_error(stray: str, root: str, place: Place | None) -> SourceError:
    """A partition matches, and the table it belongs to does not."""
    return SourceError(
        f"'{stray}' is a partition of '{root}', which does not match",
        detail=f"Its changes come under the name of '{root}'.",
        hint="Let the pattern match the partitioned table, whose rows are those of all its partitions, or no partition.",
        place=place,
    )


def _missing(known: Sequence[tuple[str, str]], schema: str, table: str, place: Place | None) -> SourceError:
    schemas = sorted({where for where, _ in known})
    meant = [where for where in schemas if matches(schema, where)]
    if not meant:
        return SourceError(
            f"no schema with tables matches 'schema-name' = '{schema}'",
            detail=f"Tables '{table}' were asked for. A pattern has to match the whole name.",
            hint=nearest_hint(schema, schemas, "schemas"),
            place=place,
        )
    names = [name for where, name in known if where in meant]
    return SourceError(
        f"no table matches 'table-name' = '{table}'",
        detail=f"There are {len(names)} tables in schema {', '.join(meant[:20])}. A pattern has to match the whole name.",
        hint=nearest_hint(table, names, "tables"),
        place=place,
    )
