"""What a message that is a row means for a table, one message at a time: `packed` says the same of many at once."""

from __future__ import annotations

from typing import NamedTuple

from headwater.log.events import CREATED, DELETE, DELETE_KEY, DELETED, INSERT, UPDATED, UPSERT
from headwater.log.layout import Layout
from headwater.log.pgoutput import SAME, Delete, Insert, Update, Value


class RowEvent(NamedTuple):
    """One event of a table, as text."""

    kind: str
    row: tuple[Value, ...]
    op: str
    unchanged: list[str] | None = None


def row_events(layout: Layout, message: Insert | Update | Delete) -> list[RowEvent]:
    """The events of a message, in order."""
    match message:
        case Insert():
            return [RowEvent(INSERT, layout.pick(message.new), CREATED)]
        case Delete():
            kind = DELETE if message.old_is_whole else DELETE_KEY
            return [RowEvent(kind, layout.pick(message.old), DELETED)]
    new = layout.pick(message.new)
    if message.old is not None and message.old_is_whole:
        old = layout.pick(message.old)
        if SAME in new:
            new = tuple(o if n is SAME else n for o, n in zip(old, new, strict=True))
        if old == new and not layout.by_key:
            return []
        return [RowEvent(DELETE, old, UPDATED), RowEvent(INSERT, new, UPDATED)]
    before = [RowEvent(DELETE_KEY, layout.pick(message.old), UPDATED)] if message.old is not None else []
    if SAME not in new:
        return [*before, RowEvent(UPSERT, new, UPDATED)]
    names = [c.name for c, value in zip(layout.own, new, strict=True) if value is SAME]
    return [*before, RowEvent(UPSERT, tuple(None if v is SAME else v for v in new), UPDATED, names)]
