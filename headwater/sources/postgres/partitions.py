"""Partitions that come and go with rows in them, of which the server's log says nothing.

    DROP TABLE p1;  ALTER TABLE p DETACH PARTITION p1;  TRUNCATE p1      the rows go
    ALTER TABLE p ATTACH PARTITION p2                                    the rows it has come
    ALTER TABLE p1 SET UNLOGGED;  a partition that is a foreign table    its changes are not told

All changes come under the name of the partitioned table, and these are none of it. So its partitions are remembered and
looked at: what became of one is a loss of the table. One that is made empty, as a part of the table, is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from psycopg2 import sql

from headwater.log.losses import Loss
from headwater.log.shards import declared_name
from headwater.log.store import LogWriter
from headwater.sources.postgres.config import CaptureTable

_KEPT = "partitions "
"""Under this and the name of a table the manifest remembers its partitions."""

_LEAVES = (
    # The row of a column of the system's is as old as the table; where that of the inheritance is not, it came later.
    "WITH RECURSIVE tree AS (SELECT t.relid, t.parentrelid, t.isleaf, (SELECT i.xmin FROM pg_inherits i"
    " JOIN pg_attribute a ON a.attrelid = i.inhrelid AND a.attnum = -1"
    " WHERE t.level > 0 AND i.inhrelid = t.relid AND i.xmin <> a.xmin) AS joined FROM pg_partition_tree(%s) t)"
    ", walk AS (SELECT relid AS leaf, parentrelid, joined FROM tree WHERE isleaf"
    " UNION ALL SELECT w.leaf, t.parentrelid, t.joined FROM walk w JOIN tree t ON t.relid = w.parentrelid)"
    ", leaves AS (SELECT leaf, (array_agg(joined ORDER BY age(joined)))[1]::text AS joined FROM walk GROUP BY leaf)"
    " SELECT c.oid::bigint, n.nspname, c.relname, coalesce(pg_relation_filenode(c.oid), 0)::bigint, c.reltuples < 0,"
    # The size waits for whoever changes the table: nobody asks for it in vain.
    " CASE WHEN l.joined IS NULL THEN '' WHEN pg_relation_size(c.oid) > 0 THEN l.joined ELSE '' END,"
    " CASE WHEN c.relkind = 'f' THEN 'a foreign table' WHEN c.relpersistence = 'u' THEN 'unlogged' ELSE '' END"
    " FROM leaves l JOIN pg_class c ON c.oid = l.leaf JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.oid <> %s ORDER BY c.oid"
)


@dataclass(frozen=True)
class Partition:
    """A partition that has rows of its own."""

    schema: str
    name: str
    file: int
    """The number of the file that holds its rows; one that was emptied or rewritten has another."""
    is_uncounted: bool = False
    """True if nobody counted its rows since it got its file: what rewrites a table counts them."""
    joined: str = ""
    """The transaction that attached it, if it was a table before, and now has rows."""
    silent: str = ""
    """Why none of its changes stands in the log; nothing if they do."""

    @property
    def shown(self) -> str:
        """Its name for messages."""
        return f"{self.schema}.{self.name}"


Partitions = Mapping[int, Partition]
"""All partitions of a table, by their number."""


def partitions_of(cursor: Any, oid: int) -> Partitions:
    """The partitions of a table by its number; none of a table that has none."""
    cursor.execute(_LEAVES, (oid, oid))
    return {number: Partition(*rest) for number, *rest in cursor.fetchall()}


def came_with_rows(cursor: Any, partition: Partition) -> bool:
    """True if a partition that was attached has rows of before, or nobody lets us see that."""
    name = sql.Identifier(partition.schema, partition.name)
    cursor.execute(
        "SELECT has_schema_privilege(%s, 'USAGE') AND has_table_privilege(%s, 'SELECT')",
        (partition.schema, name.as_string(cursor)),
    )
    if not cursor.fetchone()[0]:
        return True
    older = sql.SQL("SELECT EXISTS (SELECT FROM ONLY {} WHERE age(xmin) > age(%s::xid))").format(name)
    cursor.execute(older, (partition.joined,))
    return bool(cursor.fetchone()[0])


def partition_loss(
    table: CaptureTable, before: Partitions, now: Partitions, has_rows: Callable[[Partition], bool]
) -> Loss | None:
    """What the log did not tell of the rows of partitions; None if it told all.

    `has_rows` says of one that was attached whether it came with rows.
    """
    if gone := [one for oid, one in before.items() if oid not in now]:
        what = f"partition '{gone[0].shown}' of table '{table.shown}' is gone"
        return _loss(table, what, "It was dropped or detached, and the rows that it had with it.")
    if silent := [one for one in now.values() if one.silent]:
        what = f"partition '{silent[0].shown}' of table '{table.shown}' is {silent[0].silent}"
        return _loss(table, what, "Its changes do not stand in the log.")
    new = [one for oid, one in now.items() if oid not in before]
    if joined := [one for one in new if one.joined and has_rows(one)]:
        what = f"partition '{joined[0].shown}' was attached to table '{table.shown}' with rows in it"
        return _loss(table, what, "It was a table before; what it held then is not in the log of this one.")
    other = [oid for oid, one in before.items() if one.file != now[oid].file]
    emptied = [now[oid] for oid in other if now[oid].is_uncounted]
    # TRUNCATE of the table itself, which the log tells, empties all of them.
    if emptied and len(other) < len(before):
        what = f"partition '{emptied[0].shown}' of table '{table.shown}' was emptied by itself"
        return _loss(table, what, "TRUNCATE of one partition is not in the log.")
    return None


def _loss(table: CaptureTable, message: str, detail: str) -> Loss:
    hint = f"Stop, let the table be read again (headwater resnapshot {declared_name(table.name)}), and start."
    return Loss(table.name, None, message, detail, hint)


def remember_partitions(log: LogWriter, table: str, partitions: Partitions) -> None:
    """Keep what was judged, or read."""
    said = {str(oid): asdict(one) for oid, one in partitions.items()}
    log.manifest.remember(_KEPT + table, json.dumps(said))


def recall_partitions(log: LogWriter, table: str) -> Partitions | None:
    """What was kept; None of a table that an older version has read."""
    said = log.manifest.recall(_KEPT + table)
    return None if said is None else {int(oid): Partition(**one) for oid, one in json.loads(said).items()}
