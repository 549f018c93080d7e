"""A declared table whose rows come from all tables that match patterns: each of them is a shard of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater.errors import SourceError
from headwater.log.manifest import LoggedTable
from headwater.log.shards import declared_name, shard_name, shard_of
from headwater.sources.base import Report
from headwater.sources.postgres.catalog import find_table
from headwater.sources.postgres.checks import (
    Pair,
    check_kind,
    check_publication,
    check_publish,
    check_select,
    check_table,
)
from headwater.sources.postgres.config import CaptureConfig, CaptureTable
from headwater.sources.postgres.entered import is_new
from headwater.sources.postgres.identities import FULL, NONE, identity_of
from headwater.sources.postgres.identity_checks import check_identity
from headwater.sources.postgres.matching import Matching, find_matching, matching
from headwater.sources.postgres.metadata import check_metadata
from headwater.sources.postgres.server import find_publication

Tell = Callable[[Report], None]
Known = Mapping[str, LoggedTable]


def found_again(
    cursor: Any, config: CaptureConfig, known: Known, tell: Tell, *, lost: Collection[str]
) -> tuple[Pair, ...]:
    """The same tables while a pipeline runs: one that is new and cannot be read is told, and left out."""
    pairs: list[Pair] = []
    for table in (table for table in config.tables if table.name not in lost):
        for one in _there(cursor, table) if table.is_pattern else _shards_of(cursor, table, known):
            try:
                if one is table or one.name in known:
                    pairs.append(_fitting(cursor, one, known, config.after, streamed=True))
                else:
                    pairs.append(check_entering(cursor, config, one))
            except SourceError as error:
                if one is table or (one.name in known and _is_there(cursor, one)):
                    raise
                if one.name not in known:
                    tell(Report("note", unread(one, error)))
    return tuple(pairs)


def _there(cursor: Any, table: CaptureTable) -> list[CaptureTable]:
    """A table for each table at the server that matches now; there may be none."""
    found = matching(cursor, table.remote_schema, table.remote_table)
    return [shard(table, one) for one in found.tables]


def _is_there(cursor: Any, table: CaptureTable) -> bool:
    """False if a table went while it was looked at."""
    cursor.execute("SELECT count(*) FROM pg_class WHERE oid = %s", (table.oid,))
    return bool(cursor.fetchone()[0])


def unread(table: CaptureTable, error: SourceError) -> str:
    """What is said of a table that matches and cannot be read."""
    shown, declared = shard_of(table.name), declared_name(table.name)
    return f"table '{shown}' matches '{declared}' and is not read until this is mended: {error.message}. {error.hint}"


def pairs_of(
    cursor: Any, config: CaptureConfig, known: Known, *, lost: Collection[str], streamed: bool
) -> tuple[Pair, ...]:
    """The declared tables and what they are at the server, shard by shard; what cannot be read is an error.

    Those that are lost are not looked for.
    """
    return tuple(
        _fitting(cursor, one, known, config.after, streamed=streamed)
        for table in config.tables
        if table.name not in lost
        for one in _shards_of(cursor, table, known)
    )


def check_entering(cursor: Any, config: CaptureConfig, table: CaptureTable) -> Pair:
    """A shard that is new can be read and published."""
    pair = _found(cursor, table)
    _check(cursor, pair, streamed=True)
    check_select(cursor, pair)
    publication = find_publication(cursor, config.publication)
    check_publication(publication, config.publication, [pair])
    if publication is None or not publication.has(pair.found):
        check_publish(cursor, publication, [pair], name=config.publication)
    return pair


def _shards_of(cursor: Any, table: CaptureTable, known: Collection[str]) -> Sequence[CaptureTable]:
    """A table for each table at the server that matches now, or the table itself."""
    if not table.is_pattern:
        return () if table.prefixes else (table,)
    # All that matched may be gone by now.
    needed = table.name not in map(declared_name, known)
    found = find_matching(cursor, table.remote_schema, table.remote_table, place=table.place, needed=needed)
    return [shard(table, one) for one in found]


def shard(table: CaptureTable, found: Matching) -> CaptureTable:
    """One table at the server of those that match."""
    return replace(
        table,
        name=shard_name(table.name, found.shown, found.oid),
        remote_schema=found.schema,
        remote_table=found.name,
        is_pattern=False,
        of=(table.remote_schema, table.remote_table),
        oid=found.oid,
    )


def _found(cursor: Any, table: CaptureTable) -> Pair:
    return Pair(table, find_table(cursor, table.remote_schema, table.remote_table, place=table.place))


def _fitting(cursor: Any, table: CaptureTable, known: Known, after: int | None, *, streamed: bool) -> Pair:
    """A table that is read now fits as it is declared; what one that is known has lost since, the stream tells."""
    pair = _found(cursor, table)
    if is_new(pair, known, after):
        _check(cursor, pair, streamed=streamed)
    else:
        check_kind(pair, streamed=streamed)
    return pair


def _check(cursor: Any, pair: Pair, *, streamed: bool) -> None:
    if streamed:
        _check_key(cursor, pair)
    check_table(pair, streamed=streamed)
    if streamed:
        check_identity(cursor, pair)
        check_metadata(cursor, pair)


def _check_key(cursor: Any, pair: Pair) -> None:
    """Where a row is found by its key, the key says of which table it is."""
    declared = pair.declared
    if declared.of is None or declared.is_told_apart:
        return
    kind = identity_of(cursor, pair.found.oid)[1].kind
    if kind == NONE or (kind == FULL and not declared.by_key):
        return
    known = {what: column for column, what in declared.metadata.items()}
    names = [known.get(what, what) for what in declared.apart]
    new = [f"{what} STRING METADATA" for what in declared.apart if what not in known]
    key = ", ".join([*names, *(pair.found.primary_key or declared.key)])
    why = (
        "METADATA columns that change are found by it"
        if kind == FULL
        else "the log has only the key of a row that goes"
    )
    raise SourceError(
        f"the key of table '{declared_name(declared.name)}' must say of which table a row is",
        detail=f"'{pair.found.schema}.{pair.found.name}' and others that match may have rows of the same key, and {why}.",
        hint=f"Declare {', '.join([*new, f'PRIMARY KEY ({key}) NOT ENFORCED'])}"
        + ("." if kind == FULL else ", or set REPLICA IDENTITY FULL on all tables that match."),
        place=declared.place,
    )


def check_name(table: CaptureTable, schema: str, name: str) -> None:
    """A shard is still called as it was: its rows carry the name."""
    if (schema, name) == (table.remote_schema, table.remote_table):
        return
    raise SourceError(
        f"table '{table.remote_schema}.{table.remote_table}' was renamed to '{schema}.{name}'",
        detail=f"Its rows are among those of '{declared_name(table.name)}', under the name it had.",
        hint=f"Rename it back, or read '{declared_name(table.name)}' again with 'headwater resnapshot'.",
        place=table.place,
    )
