"""What the server logs of a row that changes or goes: its replica identity.

Of a partitioned table two have a say: a row is logged as its partition wants it, and told as if it had been logged as the
partitioned table wants it. Where the two differ, columns that were not logged are told as NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

FULL, KEY, NONE, MIXED = "full", "key", "none", "mixed"


@dataclass(frozen=True)
class Identity:
    """All of the row, its key, nothing, or, of a partitioned table, what cannot be told from what."""

    kind: str
    key: tuple[str, ...] = ()


def identity_of(cursor: Any, oid: int) -> tuple[str, Identity]:
    """The replica identity of a table by its number, and who decides it: the table or one of its partitions."""
    cursor.execute(
        "SELECT c.oid, c.relname, c.oid::regclass::text, c.relreplident, c.relkind = 'p' FROM pg_class c"
        " WHERE c.oid = %s OR c.oid IN (SELECT relid FROM pg_partition_tree(%s) WHERE isleaf)"
        " ORDER BY c.oid = %s DESC, 3",
        (oid, oid, oid),
    )
    (_, name, _, _, is_partitioned), *_ = rows = cursor.fetchall()
    found = [(str(shown), _identity(cursor, number, letter)) for number, _, shown, letter, _ in rows]
    own, partitions = found[0], found[1:]
    if not is_partitioned:
        return own
    if not partitions:
        # Without partitions nothing can be logged yet; new ones take over the key of the table.
        key = index_keys(cursor, oid).get("primary", ())
        return name, Identity(KEY, key) if key else Identity(FULL)
    return _through(own, partitions)


def index_keys(cursor: Any, oid: int) -> dict[str, tuple[str, ...]]:
    """The columns of the primary key, and of the indexes that can serve as replica identity."""
    cursor.execute(
        "SELECT i.indisprimary, i.indisreplident, i.indimmediate,"
        " (SELECT array_agg(a.attname::text ORDER BY k.ord)"
        "  FROM unnest(i.indkey) WITH ORDINALITY k (num, ord)"
        "  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num WHERE k.ord <= i.indnkeyatts)"
        " FROM pg_index i WHERE i.indrelid = %s AND (i.indisprimary OR i.indisreplident)",
        (oid,),
    )
    keys: dict[str, tuple[str, ...]] = {}
    for primary, chosen, immediate, names in cursor.fetchall():
        if primary:
            keys["primary"] = tuple(names)
        if primary and immediate:
            keys["d"] = tuple(names)
        if chosen:
            keys["i"] = tuple(names)
    return keys


def _through(own: tuple[str, Identity], partitions: Sequence[tuple[str, Identity]]) -> tuple[str, Identity]:
    """What is told of rows of partitions under the name of their table."""
    root = own[1]
    for name, one in partitions:
        if one.kind == NONE:
            return name, one
        if root.kind == FULL and one.kind != FULL:
            return name, Identity(MIXED)
        if root.kind == KEY and one.kind == KEY and set(one.key) != set(root.key):
            return name, Identity(MIXED)
    return own


def _identity(cursor: Any, oid: int, letter: str) -> Identity:
    if letter == "f":
        return Identity(FULL)
    key = index_keys(cursor, oid).get(letter)
    return Identity(KEY, key) if key else Identity(NONE)
