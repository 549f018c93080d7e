"""Whether a table was in its publication all the time: one that left and came back has lost changes.

The server gives a table that enters a publication a number, and another one when it enters again. A publication of all
tables, or of whole schemas, has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwater.errors import SourceError
from headwater.log.store import LogWriter
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.resume import ANEW

SCHEMAS_SINCE = 150_000
"""From this version of the server on whole schemas can be published."""

_BY_SCHEMA = (
    "EXISTS (SELECT FROM pg_publication_namespace n WHERE n.pnpubid = p.oid AND n.pnnspid = c.relnamespace)"
)


def check_members(cursor: Any, publication: str, known: Sequence[Pair], log: LogWriter) -> None:
    """The tables whose rows we have never left the publication; what an older log does not know is not asked."""
    for pair in known:
        before, now = log.manifest.recall(_key(publication, pair)), _member(cursor, publication, pair)
        if before and now and before != now:
            raise SourceError(
                f"table '{pair.found.schema}.{pair.found.name}' left the publication and came back",
                detail=f"It is in '{publication}' anew; what was changed in between is not in the log.",
                hint=ANEW,
                place=pair.declared.place,
            )


def remember_members(cursor: Any, publication: str, pairs: Sequence[Pair], log: LogWriter) -> None:
    """Keep the number of each table; all at once, as every write is forced to disk and there may be many."""
    numbers = {_key(publication, pair): _member(cursor, publication, pair) for pair in pairs}
    with log.manifest.transaction():
        for key, number in numbers.items():
            log.manifest.remember(key, number)


def recall_member(log: LogWriter, publication: str, pair: Pair) -> str:
    """The number of a table when the capture began."""
    return log.manifest.recall(_key(publication, pair)) or ""


def members_of(
    cursor: Any, publication: str, tables: Sequence[int]
) -> tuple[tuple[Any, ...], dict[int, str | None]]:
    """What a publication is like, nothing if it is gone; and the numbers of those of some tables that are still there.

    One that is not published has None: it left, it left its schema, or its changes are not logged any more (UNLOGGED).
    """
    cursor.execute(
        "SELECT puballtables, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot FROM pg_publication"
        " WHERE pubname = %s",
        (publication,),
    )
    form = tuple(cursor.fetchone() or ())
    by_schema = _BY_SCHEMA if cursor.connection.server_version >= SCHEMAS_SINCE else "false"
    cursor.execute(
        # The view of the server's own would wait for whoever changes one of all the tables that are published.
        "SELECT c.oid::bigint, CASE WHEN c.relpersistence = 'p' THEN coalesce(r.oid::text,"
        f" CASE WHEN p.puballtables OR {by_schema} THEN '' END) END"
        " FROM pg_class c LEFT JOIN pg_publication p ON p.pubname = %s"
        " LEFT JOIN pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid WHERE c.oid = ANY(%s)",
        (publication, list(tables)),
    )
    return form, dict(cursor.fetchall())


def publishes_all(form: tuple[Any, ...]) -> bool:
    """True if a publication is there and tells of inserts, updates, deletes and TRUNCATE."""
    return bool(form) and all(form[1:5])


def _key(publication: str, pair: Pair) -> str:
    return f"member {publication} {pair.declared.name}"


def _member(cursor: Any, publication: str, pair: Pair) -> str:
    """The number of a table in a publication; nothing if it has none."""
    cursor.execute(
        "SELECT r.oid::text FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid"
        " WHERE p.pubname = %s AND r.prrelid = %s",
        (publication, pair.found.oid),
    )
    row = cursor.fetchone()
    return "" if row is None else str(row[0])
