"""Which parts of a table are read at once: ranges of pages, so that several readers share the work.

A table keeps its rows in pages of 8 kB; the place of a row, its ctid, is the page and the place within it. As long as
a transaction that has read the table is open, no page moves: what rewrites a table waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg2 import sql

from headwater.errors import SourceError
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.server import relation

PIECES_EACH = 8
"""So many ranges for each reader are enough to let them end at about the same time."""

FEWEST_PAGES, MOST_PAGES = 1_024, 16_384

SMALLEST_ROW = 24
"""The bytes of a row without columns; a page cannot hold more rows than these allow."""

ENDLESS = 2**40
"""More rows than a table has that is read as a whole."""


@dataclass(frozen=True)
class Relation:
    """What holds rows of a table: itself, or one of its partitions."""

    schema: str
    name: str
    pages: int | None
    """How many pages it has; None if it cannot be read by them."""
    only: bool = True
    """False for a partitioned table that is read by its own name, with all there is below it."""
    file: int = 0
    """The number of the file that holds its pages; one that was rewritten has another."""

    @property
    def sql(self) -> sql.Composable:
        """Its name in SQL; ONLY keeps the children of an inheritance out."""
        name = sql.Identifier(self.schema, self.name)
        return sql.SQL("ONLY {}").format(name) if self.only else name


@dataclass(frozen=True)
class Range:
    """A part of a table: the pages from `begin` up to, not with, `end` of a relation; all of them without `begin`."""

    table: str
    relation: Relation
    begin: int | None
    end: int | None
    seq: int
    """The number before that of its first row."""

    @property
    def pages(self) -> int:
        """About how many pages it has."""
        whole = self.relation.pages or 1
        if self.begin is None:
            return whole
        return max((whole if self.end is None else self.end) - self.begin, 0)

    @property
    def sql(self) -> sql.Composable:
        """Its rows, as they stand behind FROM."""
        if self.begin is None:
            return self.relation.sql
        begin, end = sql.Literal(f"({self.begin},0)"), sql.Literal(f"({self.end},0)")
        from_here = sql.SQL("{} WHERE ctid >= {}").format(self.relation.sql, begin)
        return from_here if self.end is None else from_here + sql.SQL(" AND ctid < {}").format(end)


@dataclass(frozen=True)
class Plan:
    """All ranges of some tables, in the order of their rows' numbers, and the last of these numbers."""

    ranges: tuple[Range, ...]
    seq: int

    @property
    def pages(self) -> int:
        """How many pages are read."""
        return sum(part.pages for part in self.ranges)


def cut(pages: int, size: int) -> list[tuple[int, int | None]]:
    """Ranges of at most `size` pages; the last one is open, whatever the table became meanwhile.

    >>> cut(10, 4)
    [(0, 4), (4, 8), (8, None)]
    """
    begins = range(0, max(pages, 1), size)
    return [(begin, begin + size if begin + size < pages else None) for begin in begins]


def rest(pages: int, taken: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int | None]]:
    """Ranges of what is left of a table when some are taken.

    >>> rest(10, [(4, 8)], 4)
    [(0, 4), (8, None)]
    """
    found: list[tuple[int, int | None]] = []
    begin = 0
    for first, after in sorted(taken):
        found += [(at, min(at + size, first)) for at in range(begin, first, size)]
        begin = after
    # What stands behind the last page that was there has come since, and is read as well.
    return found + [
        (begin + at, None if end is None else begin + end) for at, end in cut(pages - begin, size)
    ]


Taken = Mapping[tuple[str, str], Sequence[tuple[int, int]]]
"""Of relations, by schema and name, the pages that are read already."""


def plan(
    relations: Sequence[tuple[str, Relation]],
    *,
    readers: int,
    seq: int,
    page_bytes: int,
    taken: Mapping[str, Taken],
) -> Plan:
    """Cut tables into ranges for so many readers; rows are numbered from `seq` on, with gaps between ranges.

    What is `taken` of a table is not read again.
    """
    total = sum(found.pages or 0 for _, found in relations)
    size = min(max(total // (readers * PIECES_EACH), FEWEST_PAGES), MOST_PAGES)
    ranges: list[Range] = []
    for table, found in relations:
        if found.pages is None:
            ranges.append(Range(table, found, None, None, seq))
            seq += ENDLESS
            continue
        pages = taken.get(table, {}).get((found.schema, found.name), ())
        for begin, end in rest(found.pages, pages, size):
            ranges.append(Range(table, found, begin, end, seq))
            seq += max(ranges[-1].pages, 1) * (page_bytes // SMALLEST_ROW)
    return Plan(tuple(ranges), seq)


def hold(cursor: Any, pair: Pair) -> None:
    """Take the lock that reading takes, now and until the end of the transaction: the pages stay where they are."""
    columns = [found for c in pair.declared.own if (found := pair.found.column(c.name)) is not None]
    cursor.execute(
        sql.SQL("SELECT {} FROM {} LIMIT 0").format(sql.Identifier(columns[0].name), relation(pair.found))
    )


def relations_of(cursor: Any, pair: Pair) -> list[Relation]:
    """What holds the rows of a table that is held, in a transaction that sees the moment of the first rows."""
    names = [c.name for d in pair.declared.own if (c := pair.found.column(d.name)) is not None]
    cursor.execute(
        # The catalog is seen as of the moment, its functions answer as of now.
        "SELECT n.nspname, c.relname, coalesce(c.relkind = 'r' AND a.amname = 'heap', false),"
        " pg_relation_size(c.oid) / current_setting('block_size')::int, coalesce(pg_relation_filenode(c.oid), 0),"
        " c.relkind = 'r' AND c.relfilenode IS DISTINCT FROM pg_relation_filenode(c.oid),"
        " NOT row_security_active(c.oid) AND has_schema_privilege(n.oid, 'USAGE')"
        " AND (SELECT bool_and(has_column_privilege(c.oid, column_name, 'SELECT')) FROM unnest(%s) column_name)"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am a ON a.oid = c.relam"
        " WHERE c.oid IN (SELECT relid FROM pg_partition_tree(%s) WHERE isleaf UNION SELECT %s WHERE %s)"
        " ORDER BY c.oid",
        (names, pair.found.oid, pair.found.oid, pair.found.kind != "p"),
    )
    rows = cursor.fetchall()
    for schema, name, *_, rewritten, _ in rows:
        if rewritten:
            raise _rewritten(pair, f"{schema}.{name}")
    if pair.found.kind == "p" and not all(may for *_, may in rows):
        # Who may read a partitioned table need not have a right on its partitions.
        return [Relation(pair.found.schema, pair.found.name, None, only=False)]
    return [
        Relation(schema, name, pages if has_pages else None, file=file)
        for schema, name, has_pages, pages, file, *_ in rows
    ]


def _rewritten(pair: Pair, name: str) -> SourceError:
    return SourceError(
        f"table '{name}' was rewritten just as its first rows were to be read",
        detail="TRUNCATE, VACUUM FULL, CLUSTER or ALTER TABLE gave it other files after the moment of the snapshot,"
        " which may no longer see its rows.",
        hint="Start again.",
        place=pair.declared.place,
    )
