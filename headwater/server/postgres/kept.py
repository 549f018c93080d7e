"""What a session keeps: portals, cursors, prepared queries, and the cut at which its transaction reads."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from sqlglot import exp

from headwater.runtime.reading import Limits
from headwater.server.postgres.kinds import BEHIND, Close, Declare, Fetch, Prepare, Query, Run
from headwater.server.postgres.portal import Cursor, Known, Portal, Rows
from headwater.server.postgres.problems import told
from headwater.server.postgres.reading import Held, Reading, Relation
from headwater.server.postgres.statements import Scene
from headwater.server.postgres.translate import to_spark


@dataclass(frozen=True)
class Given:
    """Rows to be sent: whose, how many at most, and what the client is told that was done."""

    rows: Rows
    limit: int | None
    tag: str = "SELECT"


class Kept:
    """What one client has made and not yet let go of."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.known: dict[str, Known] = {}
        self._portals: dict[str, Portal] = {}
        self._cursors: dict[str, Cursor] = {}
        self._prepared: dict[str, Query] = {}
        self._held: Held | None = None
        self._holding = ExitStack()
        self.given_up = threading.Event()
        """Set by whoever wants the answer no more."""

    def scene(self, path: Sequence[str]) -> Scene:
        """What names mean now."""
        return Scene(self._relations(), path, self._cursors.keys(), self._prepared.keys())

    def portal(self, name: str) -> Portal:
        """The portal of a name; one that is not ours is known behind, or nowhere."""
        return self._portals.get(name, Portal(Known(BEHIND)))

    def put(self, name: str, portal: Portal) -> None:
        """Keep a portal in the place of one of the same name."""
        self.drop(name)
        self._portals[name] = portal

    def drop(self, name: str) -> None:
        """Let go of a portal."""
        if name in self._portals:
            self._portals.pop(name).close()

    def made(self, portal: Portal) -> Rows | None:
        """The rows of a cursor, before it is declared behind: what cannot be computed is not declared."""
        declared = portal.known.statement
        return self._rows(declared.query, portal.given) if isinstance(declared, Declare) else None

    def note(self, portal: Portal, made: Rows | None) -> None:
        """Keep what a statement made that was executed behind, or let it go."""
        match portal.known.statement:
            case Declare(name, _, is_held) if made is not None:
                self._cursors[name] = Cursor(made, is_held)
            case Prepare(name, query):
                self._prepared[name] = query
            case Close(name, is_cursor=True) if name in self._cursors:
                self._cursors.pop(name).rows.close()
            case Close(name, is_cursor=False):
                self._prepared.pop(name, None)

    def given(self, portal: Portal, limit: int | None) -> Given:
        """The rows of a portal over relations: those of its query, or those that a cursor has next."""
        match portal.known.statement:
            case Fetch(name, count):
                return Given(self._cursors[name].rows, count, "FETCH")
            case Run(name, given):
                portal.rows = portal.rows or self._rows(self._prepared[name], given)
            case Query() as query:
                portal.rows = portal.rows or self._rows(query, portal.given)
        assert portal.rows is not None
        return Given(portal.rows, limit)

    def let_go(self) -> None:
        """A transaction is over: what lives no longer than that is gone."""
        for portal in self._portals.values():
            portal.close()
        self._portals.clear()
        for name, cursor in list(self._cursors.items()):
            if not cursor.is_held:
                cursor.rows.close()
                del self._cursors[name]
        self._held = None
        self._holding.close()

    def close(self) -> None:
        """The client is gone, and so is all that it kept."""
        self.let_go()
        for cursor in self._cursors.values():
            cursor.rows.close()

    def _rows(self, query: Query, given: Sequence[exp.Expression]) -> Rows:
        if self._held is None:
            self._held = self._holding.enter_context(self._reading.held())
        with told(self.given_up):
            return Rows(self._held, to_spark(query, given), Limits(given_up=self.given_up))

    def _relations(self) -> Sequence[Relation]:
        return (self._held or self._reading).relations()
