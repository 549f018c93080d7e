"""What was done to tables that are in the log already, while nobody read it: the catalog tells before a row does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from headwater.errors import SourceError
from headwater.log.losses import Loss
from headwater.log.store import LogWriter
from headwater.sources.postgres.before import before_of
from headwater.sources.postgres.catalog import PARTITIONED, ServerTable
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.config import CaptureTable
from headwater.sources.postgres.connect import Address, session
from headwater.sources.postgres.entered import is_of, matched
from headwater.sources.postgres.fits import Shape, losses_of, taken_together
from headwater.sources.postgres.identities import KEY, MIXED, identity_of
from headwater.sources.postgres.labels import label_losses, recall_labels, remember_labels
from headwater.sources.postgres.metadata import check_metadata
from headwater.sources.postgres.partitions import (
    came_with_rows,
    partition_loss,
    recall_partitions,
    remember_partitions,
)
from headwater.sources.postgres.server import number


@dataclass(frozen=True)
class Meanwhile:
    """What is lost as of a position; changes that stand before it in the log may still be whole."""

    position: int
    losses: tuple[Loss, ...]


def lost_meanwhile(address: Address, log: LogWriter, pairs: Sequence[Pair]) -> Meanwhile:
    """What the tables have lost of what was read of them."""
    logged = log.manifest.tables()
    known = {(loss.table, loss.column) for _, loss in log.manifest.losses()}
    lost: list[Loss] = []
    with session(address) as cursor:
        for pair in pairs:
            name = pair.declared.name
            losses = losses_of(pair.declared, _shape(cursor, pair.found), before_of(logged[name]))
            if all(loss.column is not None for loss in losses):
                # One that has lost a column, maybe long ago, can still be lost as a whole.
                losses = [*(_keyless(cursor, pair) or _of_partitions(cursor, pair, log))] or taken_together(
                    pair.declared, [*losses, *_of_labels(pair, log)]
                )
            lost += [loss for loss in losses if not {(name, None), (name, loss.column)} & known]
        cursor.execute("SELECT pg_current_wal_insert_lsn()::text")
        return Meanwhile(number(cursor.fetchone()[0]), tuple(lost))


def still_lost(tables: Sequence[CaptureTable], log: LogWriter) -> frozenset[str]:
    """The tables of which nothing is told any more, and that are declared as they were: nobody looks for them."""
    lost, logged = (
        {loss.table for _, loss in log.manifest.losses() if loss.column is None},
        log.manifest.tables(),
    )
    return frozenset(
        table.name
        for table in tables
        if table.name in lost
        and not table.anew
        and logged[table.name].schema.columns == table.schema.columns
        and is_of(logged[table.name], table)
        and matched(logged[table.name]).shown == f"{table.remote_schema}.{table.remote_table}"
    )


def _keyless(cursor: Any, pair: Pair) -> tuple[Loss, ...]:
    """All of a table, if the server no longer sees to the key by which its rows are found."""
    try:
        check_metadata(cursor, pair)
    except SourceError as error:
        return (Loss(pair.declared.name, None, error.message, error.detail or "", error.hint or ""),)
    return ()


def _of_partitions(cursor: Any, pair: Pair, log: LogWriter) -> tuple[Loss, ...]:
    """All of a table, if partitions came or went with rows in them; else they are remembered as they are now."""
    if pair.found.kind != PARTITIONED:
        return ()
    name, now = pair.declared.name, pair.found.partitions
    before = recall_partitions(log, name)
    # Of what an older version has read nobody knows what came and went since.
    loss = partition_loss(
        pair.declared, now if before is None else before, now, partial(came_with_rows, cursor)
    )
    if loss is None:
        remember_partitions(log, name, now)
    return () if loss is None else (loss,)


def _of_labels(pair: Pair, log: LogWriter) -> list[Loss]:
    """Columns in which a value of an enum got another name; if there are none, names that are new are remembered."""
    name, now = pair.declared.name, pair.found.labels
    before = recall_labels(log, name)
    own = {c.name: found.name for c in pair.declared.own if (found := pair.found.column(c.name)) is not None}
    losses = label_losses(pair.declared, own, before or {}, now)
    if not losses and before != now:
        remember_labels(log, name, now)
    return losses


def _shape(cursor: Any, found: ServerTable) -> Shape:
    _, identity = identity_of(cursor, found.oid)
    logged = identity.key if identity.kind == KEY else None
    name, is_mixed = f"{found.schema}.{found.name}", identity.kind == MIXED
    return Shape(found.oid, name, found.columns, logged, found.primary_key, is_mixed=is_mixed)
