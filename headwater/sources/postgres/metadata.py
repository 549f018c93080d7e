"""METADATA columns of a table: what there is, and what it needs."""

from __future__ import annotations

from typing import Any

from headwater.errors import SourceError
from headwater.log.beside import (
    CHANGING,
    DATABASE_NAME,
    LSN,
    OP_TS,
    ROW_KIND,
    SCHEMA_NAME,
    TABLE_NAME,
    TXID,
)
from headwater.sources.postgres.catalog import ServerTable
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.identities import FULL, identity_of

METADATA = {
    TABLE_NAME: "string",
    SCHEMA_NAME: "string",
    DATABASE_NAME: "string",
    OP_TS: "timestamp",
    ROW_KIND: "string",
    LSN: "string",
    TXID: "bigint",
}
"""What METADATA columns can be taken from, and the type of each."""


def check_metadata(cursor: Any, pair: Pair) -> None:
    """What differs from change to change needs a key by which the row that goes is found."""
    declared, found = pair.declared, pair.found
    # A table that logs only keys is declared with that key: it was checked.
    if not declared.by_key or identity_of(cursor, found.oid)[1].kind != FULL:
        return
    key, unique = {name.lower() for name in declared.schema.key}, _unique_keys(cursor, found)
    if any({name.lower() for name in one} <= key for one in unique):
        return
    column, what = next((c, w) for c, w in declared.metadata.items() if w in CHANGING)
    shown = [f"({', '.join(one)})" for one in unique]
    raise SourceError(
        f"table '{declared.shown}' needs a key for its column '{column}'",
        detail=f"Metadata '{what}' is of the change that made a row, so the row that goes is found by its key, which must"
        f" be unique and NOT NULL at the server. The declared key is ({', '.join(declared.schema.key) or 'none'}),"
        f" such keys of '{found.schema}.{found.name}' are {', '.join(shown) or 'none'}.",
        hint=f"Add PRIMARY KEY {shown[0]} NOT ENFORCED." if shown else f"Leave out '{column}'.",
        place=declared.place,
    )


def _unique_keys(cursor: Any, table: ServerTable) -> list[tuple[str, ...]]:
    """The columns of each key that no two rows of a table share, the primary key first."""
    cursor.execute(
        "SELECT array_agg(a.attname::text ORDER BY k.ord) FROM pg_index i"
        " CROSS JOIN unnest(i.indkey) WITH ORDINALITY k (num, ord)"
        " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num"
        " WHERE i.indrelid = %s AND k.ord <= i.indnkeyatts AND i.indisunique AND i.indimmediate AND i.indisvalid"
        " AND i.indpred IS NULL AND i.indexprs IS NULL"
        " GROUP BY i.indexrelid, i.indisprimary HAVING bool_and(a.attnotnull)"
        " ORDER BY i.indisprimary DESC, i.indexrelid",
        (table.oid,),
    )
    return [tuple(names) for (names,) in cursor.fetchall()]
