"""Whether what is logged of a row that changes or goes is enough to find it, and comes under the name of its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwater.errors import SourceError
from headwater.sources.postgres.catalog import PARTITIONED
from headwater.sources.postgres.checks import Pair, in_sql
from headwater.sources.postgres.identities import FULL, MIXED, NONE, identity_of
from headwater.sources.postgres.server import Publication


def check_identity(cursor: Any, pair: Pair) -> None:
    """The replica identity of the table, and of its partitions, goes with the declared key."""
    found, declared = pair.found, pair.declared
    relation, identity = identity_of(cursor, found.oid)
    name = f"{found.schema}.{found.name}"
    if identity.kind == NONE:
        raise SourceError(
            f"table '{name}' has no replica identity",
            detail=f"'{relation}' has no primary key that serves, or its identity is NOTHING: once it is"
            " published, the application's own UPDATE and DELETE would fail.",
            # That of a partitioned table is not that of its partitions.
            hint=f"ALTER TABLE {relation if found.kind == PARTITIONED else in_sql(found)} REPLICA IDENTITY FULL;",
            place=declared.place,
        )
    if identity.kind == MIXED:
        raise SourceError(
            f"table '{name}' and its partition '{relation}' have different replica identities",
            detail="A row is logged as the partition wants it and told as if it had been as the table wants it: columns"
            " that were not logged would be taken for NULL.",
            hint=f"ALTER TABLE {relation} REPLICA IDENTITY FULL; likewise for all partitions, also new ones. Or give"
            f" {in_sql(found)} and all of them the DEFAULT, and declare the primary key.",
            place=declared.place,
        )
    if identity.kind == FULL:
        _check_generated(cursor, pair)
        return
    key = ", ".join(identity.key)
    if {k.lower() for k in identity.key} != {k.lower() for k in declared.key}:
        has = ", ".join(declared.schema.key) or "none"
        raise SourceError(
            f"table '{declared.shown}' must be declared with the key ({key})",
            detail=f"'{name}' logs only these columns of a row that changes or goes (its replica identity);"
            f" the declared key is {has}.",
            hint=f"Add PRIMARY KEY ({key}) NOT ENFORCED, or ALTER TABLE {in_sql(found)} REPLICA IDENTITY FULL;",
            place=declared.place,
        )


def check_names(cursor: Any, found: Publication | None, pairs: Sequence[Pair]) -> None:
    """No declared table is a partition of one that is published: its changes would come under the name of that."""
    published = {(pair.found.schema, pair.found.name) for pair in pairs} | (
        found.tables if found else frozenset()
    )
    for pair in pairs:
        cursor.execute(
            "SELECT n.nspname, c.relname FROM pg_partition_ancestors(%s) a JOIN pg_class c ON c.oid = a.relid"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid <> %s",
            (pair.found.oid, pair.found.oid),
        )
        for schema, name in cursor.fetchall():
            root = f"{schema}.{name}"
            if (schema, name) in published:
                raise SourceError(
                    f"'{pair.found.schema}.{pair.found.name}' is a partition of '{root}', which is published too",
                    detail=f"Its changes come under the name of '{root}'.",
                    hint=f"Declare '{root}' instead, whose rows are those of all its partitions, and choose among them"
                    " in a view.",
                    place=pair.declared.place,
                )


def _check_generated(cursor: Any, pair: Pair) -> None:
    """From Postgres 18 on, publishing a table with FULL and a generated column breaks its own UPDATEs."""
    generated = [column.name for column in pair.found.columns if column.generated]
    cursor.execute("SELECT current_setting('server_version_num')::int >= 180000")
    if generated and cursor.fetchone()[0]:
        raise SourceError(
            f"table '{pair.found.schema}.{pair.found.name}' has a generated column in its replica identity",
            detail=f"Postgres does not write '{generated[0]}' to its log: once the table is published with REPLICA"
            " IDENTITY FULL, the application's own UPDATE and DELETE would fail.",
            hint=f"ALTER TABLE {in_sql(pair.found)} REPLICA IDENTITY DEFAULT; and declare its primary key.",
            place=pair.declared.place,
        )
