"""Shards whose tables were dropped: the log of the server does not say so, hence their rows go when that is noticed.

They go in a transaction of our own: a message that the stream writes into the server's log when it begins (its mark).
What stands before it was committed before the rows go, what stands behind it after.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import SourceError
from headwater.log.layout import Layout
from headwater.log.pgoutput import Said
from headwater.log.shards import declared_name, shard_of
from headwater.log.store import LogWriter
from headwater.log.text_values import ARRAY_OF
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureConfig, CaptureTable
from headwater.sources.postgres.entered import is_of, is_old, matched
from headwater.sources.postgres.options import OWN_PREFIX
from headwater.sources.postgres.shards import check_name, shard

_LEFT = "left "
"""Under this and its name the manifest remembers where the rows of a shard went."""


def gone_shards(
    cursor: Any, config: CaptureConfig, log: LogWriter, pairs: Sequence[Pair]
) -> tuple[CaptureTable, ...]:
    """The shards in the log whose tables are no longer there and whose rows somebody may still hold."""
    patterns = {table.name: table for table in config.tables if table.is_pattern}
    present = {pair.declared.name for pair in pairs}
    gone = []
    for name, logged in log.manifest.tables().items():
        table = patterns.get(declared_name(name))
        if table is None or name in present or not shard_of(name) or log.manifest.recall(_LEFT + name):
            continue
        one = shard(table, matched(logged))
        if is_of(logged, one) and not is_old(logged, one, config.after):
            _check_gone(cursor, one)
            gone.append(one)
    return tuple(gone)


def left_shards(log: LogWriter, after: int | None) -> set[str]:
    """The shards whose rows went, but not everybody has read that yet."""
    places = {name: log.manifest.number(_LEFT + name) for name in log.manifest.tables() if shard_of(name)}
    return {name for name, place in places.items() if place is not None and (after is None or place > after)}


def _check_gone(cursor: Any, table: CaptureTable) -> None:
    cursor.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s",
        (table.oid,),
    )
    found = cursor.fetchone()
    if found is None:
        return
    check_name(table, *found)
    raise SourceError(
        f"table '{table.remote_schema}.{table.remote_table}' is no longer a table of its own",
        detail=f"It became a partition of another. Its rows are among those of '{declared_name(table.name)}'.",
        hint=f"Read '{declared_name(table.name)}' again with 'headwater resnapshot'.",
        place=table.place,
    )


@dataclass
class Leaving:
    """The shards whose rows go with the first message of a stream."""

    tables: tuple[CaptureTable, ...] = ()
    database: str = ""
    mark: str = field(default_factory=lambda: secrets.token_hex(16))
    """What this message says; nobody else can know it before."""
    is_over: bool = False
    """True once the rows went, durably."""
    _told_at: int | None = None

    def heard(self, message: object, commit_at: int | None) -> dict[int, tuple[Layout, ...]]:
        """What goes with a message of a transaction of the stream, by the number of the table; mostly nothing."""
        if type(message) is not Said or message.prefix != OWN_PREFIX or message.content != self.mark.encode():
            return {}
        self._told_at = commit_at
        found: dict[int, tuple[Layout, ...]] = {}
        for table in self.tables:
            found[table.oid] = (*found.get(table.oid, ()), self._layout(table))
        return found

    def durable(self, log: LogWriter) -> None:
        """Something was appended; if the rows went with it, that is remembered."""
        if self._told_at is None or self.is_over or (log.last or 0) <= self._told_at:
            return
        for table in self.tables:
            log.manifest.remember(_LEFT + table.name, str(log.last))
        self.is_over = True

    def _layout(self, table: CaptureTable) -> Layout:
        """For an event without values, of which only the names matter."""
        families = tuple(
            ARRAY_OF + "text" if column.type.startswith("array<") else "text" for column in table.own
        )
        places = tuple(range(len(families)))
        beside = table.beside(self.database)
        return Layout(
            table.name, table.schema, places, families, None, table.place, beside, shard=table.shard
        )
