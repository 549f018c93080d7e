"""Which rows of a table were touched since some moment: their keys, as the server's log tells them.

The log is only looked at; the slot stays where it is. More keys than were touched do no harm to whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from headwater.log.pgoutput import Delete, Insert, Message, Relation, Truncate, Update, Value, read_message
from headwater.log.positions import Position
from headwater.sources.postgres.connect import Address, connect, quote

MOST_KEYS = 1_000_000
"""If more rows than these were touched, it is quicker to read the table again."""

Key = tuple[bytes, ...]
Name = tuple[str, str]


@dataclass(frozen=True)
class Log:
    """A slot from which the log can be read, and the publication that says of which tables."""

    address: Address
    slot: str
    publication: str


def touched(log: Log, keys: Mapping[Name, tuple[str, ...]], *, upto: int) -> dict[Name, set[Key] | None]:
    """The touched keys of tables, by their key columns; None for a table of which they cannot be told."""
    found = _Touched(keys)
    with closing(connect(log.address)) as opened:
        opened.autocommit = False
        # A cursor at the server: there may be more messages than memory.
        with opened.cursor(name="touched") as cursor:
            cursor.execute(
                "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, %s::pg_lsn, NULL,"
                " 'proto_version', '1', 'publication_names', %s)",
                (log.slot, str(Position(upto, "lsn")), quote(log.publication)),
            )
            for (data,) in cursor:
                found.hear(read_message(bytes(data)))
    return found.keys


class _Touched:
    """Listens to messages and keeps keys."""

    def __init__(self, keys: Mapping[Name, tuple[str, ...]]) -> None:
        self._columns = keys
        self.keys: dict[Name, set[Key] | None] = {name: set() for name in keys}
        self._places: dict[int, tuple[Name, list[int]]] = {}

    def hear(self, message: Message) -> None:
        match message:
            case Relation():
                self._announce(message)
            case Insert(relation, new):
                self._touch(relation, new)
            case Update(relation, old, _, new):
                self._touch(relation, new if old is None else [*map(_newer, old, new)])
                if old is not None:
                    self._touch(relation, old)
            case Delete(relation, old, _):
                self._touch(relation, old)
            case Truncate(relations):
                for relation in relations:
                    self._give_up(relation)

    def _announce(self, relation: Relation) -> None:
        name = (relation.schema, relation.name)
        if name not in self._columns:
            return
        names = [column.name for column in relation.columns]
        if not all(column in names for column in self._columns[name]):
            self.keys[name] = None
            return
        self._places[relation.id] = (name, [names.index(column) for column in self._columns[name]])

    def _touch(self, relation: int, row: list[Value]) -> None:
        if relation not in self._places:
            return
        name, places = self._places[relation]
        known = self.keys[name]
        if known is None:
            return
        key = tuple(value for place in places if isinstance(value := row[place], bytes))
        if len(key) < len(places) or len(known) >= MOST_KEYS:
            self._give_up(relation)
            return
        known.add(key)

    def _give_up(self, relation: int) -> None:
        if relation in self._places:
            self.keys[self._places[relation][0]] = None


def _newer(old: Value, new: Value) -> Value:
    """The value after an update; one that was not sent is the old one."""
    return new if isinstance(new, bytes) or new is None else old
