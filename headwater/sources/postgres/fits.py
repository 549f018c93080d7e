"""Whether a table at the server still is the one that was read and is declared; if not, what of it is lost.

Of a column three things have to stay: its name, its number in the table (one that is dropped and added again has
another, and other values), and a type whose values a change of it left as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from headwater.log.losses import Loss
from headwater.log.shards import declared_name
from headwater.log.text_values import can_read
from headwater.nearest import nearest_hint
from headwater.schema import Column
from headwater.sources.postgres.before import Before
from headwater.sources.postgres.catalog import ServerColumn, column_named
from headwater.sources.postgres.config import CaptureTable
from headwater.sources.postgres.types import family, keeps_values, shown_type

AGAIN = "then start again: the table is read anew"


@dataclass(frozen=True)
class Shape:
    """What a table at the server is like."""

    oid: int
    name: str
    """With its schema."""
    columns: tuple[ServerColumn, ...]
    logged: tuple[str, ...] | None
    """All that is logged of a row that changes or goes; None if that is the whole row."""
    primary: tuple[str, ...]
    is_there: bool = True
    """False if the table was dropped since: then nobody knows of its numbers and its primary key."""
    is_mixed: bool = False
    """True if a partition logs something else of a row than is told."""


def losses_of(table: CaptureTable, now: Shape, before: Before) -> list[Loss]:
    """What of a table is lost by what it is like now; `before` is what it was like when it was first read."""
    columns = now.columns
    found = [loss for column in table.own if (loss := _column_loss(table, column, columns, before.columns))]
    found += filter(None, (_other_table(table, now, before), _identity_loss(table, now)))
    # The rows of a shard that was dropped go, which is no loss: until then it is what the stream says.
    is_known = now.is_there or table.of is None
    if before.is_keyed and is_known and not is_keyed(table, now.primary):
        found.append(_key_loss(table, now))
    return taken_together(table, found)


def taken_together(table: CaptureTable, found: list[Loss]) -> list[Loss]:
    """What is lost of a table; all of it, if nothing is left to go on with."""
    lost = {loss.column for loss in found}
    needed = [loss for loss in found if loss.column is None or loss.column in table.schema.key]
    if needed or lost >= {column.name for column in table.own} or (found and table.parks):
        # Without its key nobody knows which row changes.
        first = (needed or found)[0]
        why = "" if needed or not table.parks else " Rows of the table may have been put aside for it alone."
        return [Loss(table.name, None, first.message, first.detail + why, first.hint)]
    return found


def _column_loss(
    table: CaptureTable, column: Column, columns: Sequence[ServerColumn], before: Sequence[ServerColumn]
) -> Loss | None:
    now, was = column_named(columns, column.name), column_named(before, column.name)
    if now is None or now.generated:
        return _vanished(table, column.name, columns, was)
    if not can_read(family(now.type), column.type):
        return _retyped(table, column, now)
    if was is None:
        return None
    if now.number and was.number != now.number:
        return _remade(table, column.name)
    if not keeps_values(was.type, now.type, as_text=column.type == "string"):
        return _rewritten(table, column.name, was, now)
    return None


def _vanished(
    table: CaptureTable, column: str, columns: Sequence[ServerColumn], was: ServerColumn | None
) -> Loss:
    names = [one.name for one in columns if not one.generated]
    new = next((one.name for one in columns if was and one.number and one.number == was.number), None)
    now = f"'{table.remote_schema}.{table.remote_table}' now has the columns {', '.join(names)}."
    if new is not None and new in names:
        return Loss(
            table.name,
            column,
            f"column '{column}' of table '{table.shown}' is gone",
            f"It was renamed to '{new}': {now}",
            f"Declare and use '{new}' instead, {AGAIN}.",
        )
    return Loss(
        table.name,
        column,
        f"column '{column}' of table '{table.shown}' is gone",
        now,
        f"Remove it from the declaration and from what uses it, {AGAIN}. {nearest_hint(column, names, 'columns')}",
    )


def _retyped(table: CaptureTable, column: Column, now: ServerColumn) -> Loss:
    return Loss(
        table.name,
        column.name,
        f"column '{column.name}' of table '{table.shown}' can no longer be read as {column.type}",
        f"At the server its type is now {shown_type(now.type)}.",
        f"Declare it with a type that fits, {AGAIN}.",
    )


def _remade(table: CaptureTable, column: str) -> Loss:
    return Loss(
        table.name,
        column,
        f"column '{column}' of table '{table.shown}' was dropped and made again",
        "What it holds in rows that were there before is not in the log.",
        _resnapshot(table),
    )


def _rewritten(table: CaptureTable, column: str, was: ServerColumn, now: ServerColumn) -> Loss:
    return Loss(
        table.name,
        column,
        f"column '{column}' of table '{table.shown}' was rewritten",
        f"Its type was {shown_type(was.type)} and is now {shown_type(now.type)}: that may change values, and the log"
        " does not tell them.",
        _resnapshot(table),
    )


def _resnapshot(table: CaptureTable) -> str:
    return f"Stop, let the table be read again (headwater resnapshot {declared_name(table.name)}), and start."


def _other_table(table: CaptureTable, now: Shape, before: Before) -> Loss | None:
    own = f"{table.remote_schema}.{table.remote_table}"
    if table.of is not None:
        # A shard has a number of its own, and one that is renamed stops the capture until it is renamed back.
        return None
    if now.oid != before.oid:
        message, detail = (
            "was dropped and made again",
            "The rows that were read are those of the table that is gone.",
        )
    elif now.name != own:
        message, detail = f"was renamed to '{now.name}'", f"It was read as '{own}'."
    else:
        return None
    hint = f"Declare the table as it is named now, {AGAIN}." if now.name != own else _resnapshot(table)
    return Loss(table.name, None, f"table '{table.shown}' {message}", detail, hint)


def is_keyed(table: CaptureTable, primary: Collection[str]) -> bool:
    """True if the server sees to it that no two rows share the declared key."""
    return bool(primary) and {k.lower() for k in primary} <= {k.lower() for k in table.schema.key}


def _key_loss(table: CaptureTable, now: Shape) -> Loss:
    return Loss(
        table.name,
        None,
        f"the primary key of table '{table.shown}' has changed",
        f"It is ({', '.join(now.primary) or 'none'}): rows that share the declared key"
        f" ({', '.join(table.schema.key)}) would be taken for one.",
        f"Declare a key that the server enforces, or none, {AGAIN}.",
    )


def _identity_loss(table: CaptureTable, now: Shape) -> Loss | None:
    key = now.logged
    if now.is_mixed:
        return Loss(
            table.name,
            None,
            f"a partition of table '{table.shown}' has another replica identity than the table",
            "What the server tells of a row of it that changes or goes is not what it logged.",
            f"ALTER TABLE ... REPLICA IDENTITY FULL for all partitions, also new ones, then headwater resnapshot"
            f" {declared_name(table.name)}.",
        )
    if not key:
        return None
    if {name.lower() for name in key} == {name.lower() for name in table.key}:
        return None if table.of is None or table.is_told_apart else _apart_loss(table, key)
    return Loss(
        table.name,
        None,
        f"the replica identity of table '{table.shown}' has changed",
        f"The server now logs only ({', '.join(key)}) of a row that changes or goes; the declared"
        f" key is ({', '.join(table.schema.key) or 'none'}).",
        f"Declare that key, {AGAIN}; or ALTER TABLE ... REPLICA IDENTITY FULL at the server, then headwater resnapshot"
        f" {declared_name(table.name)}.",
    )


def _apart_loss(table: CaptureTable, key: Collection[str]) -> Loss:
    return Loss(
        table.name,
        None,
        f"the replica identity of table '{table.shown}' has changed",
        f"The server now logs only ({', '.join(key)}) of a row that changes or goes; others that match may have rows of"
        " the same key.",
        "ALTER TABLE ... REPLICA IDENTITY FULL at the server, then headwater resnapshot"
        f" {declared_name(table.name)}.",
    )
