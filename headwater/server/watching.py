"""A live query of a session that no pipeline is opened for: it looks at deployed applications, in a thread of its own."""

from __future__ import annotations

import itertools
import threading
import traceback
from dataclasses import dataclass, field, replace

import pyarrow as pa

from headwater.changes.change_set import ChangeSet, Rows
from headwater.errors import HeadwaterError
from headwater.log.positions import Cut
from headwater.runtime.conversation import Onlooker
from headwater.runtime.facts import BatchDone
from headwater.schema import WEIGHT, Schema
from headwater.server.deployed import Deployed
from headwater.server.server import Server

CATCH_UP_SECONDS = 600.0
"""So long a query that is asked once waits until all that is committed now is known."""

_NUMBERS = itertools.count(1)


@dataclass(kw_only=True)
class Watching:
    """A query from `start` to its end; what it tells is said in `tell`."""

    server: Server
    mode: str
    once: bool
    name: str = field(default_factory=lambda: f"look-{next(_NUMBERS)}")
    ended: threading.Event = field(default_factory=threading.Event)
    problem: HeadwaterError | None = None
    stopping: threading.Event = field(default_factory=threading.Event)

    def start(self, onlooker: Onlooker) -> None:
        """Begin; returns at once."""
        threading.Thread(
            target=self._work, args=[onlooker], name=f"headwater {self.name}", daemon=True
        ).start()

    def stop(self) -> None:
        """Tell nothing more; returns at once."""
        self.stopping.set()

    def tell(self, onlooker: Onlooker) -> None:
        """Tell all there is to tell."""
        raise NotImplementedError

    def _work(self, onlooker: Onlooker) -> None:
        try:
            self.tell(onlooker)
        except HeadwaterError as problem:
            # Whoever gave up does not hear that his query was given up.
            self.problem = None if self.stopping.is_set() else problem
        except Exception as problem:  # noqa: BLE001  # whoever looks on is told that it is over, and that it is our fault
            trace = "".join(traceback.format_exception(problem))
            self.server.journal.note("query failed by a mistake of ours", query=self.name, trace=trace)
            self.problem = HeadwaterError(
                "the query failed by a mistake of ours",
                hint="The server's log has the details; please report it.",
            )
        finally:
            self.ended.set()


@dataclass
class Shape:
    """A query as an onlooker knows it: its columns, and its rows as they were told last."""

    query: str
    columns: Schema
    key: tuple[str, ...] | None
    known: pa.Table

    @property
    def queries(self) -> tuple[str, ...]:
        """The one query."""
        return (self.query,)

    def rows(self, relation: str, limit: int = 1000) -> pa.Table:
        """The first rows."""
        return self.known.slice(0, limit)

    def schema(self, relation: str) -> Schema:
        """Its columns, and by which of them rows are put in order."""
        return replace(self.columns, key=self.key or ())

    def row_key(self, relation: str) -> tuple[str, ...] | None:
        """The columns of whose values there is one row each, if that is known."""
        return self.key

    def cut(self) -> Cut:
        """All rows are told as changes: before them nothing is true."""
        return Cut()


def batch_of(deployed: Deployed | None, batch_id: int, cut: Cut, changes: ChangeSet) -> BatchDone:
    """A batch that changed so much, with its lag and what it cost, as far as that is still remembered."""
    known = [one for one in deployed.facts.recent() if one.batch_id == batch_id] if deployed else []
    batch = known[0] if known else BatchDone(batch_id, cut, changes.count, {})
    return replace(batch, cut=cut, changes={changes.relation: changes} if changes.count else {})


def weighted(rows: pa.Table, weight: int) -> pa.Table:
    """Rows that all came, or all went."""
    return rows.append_column(WEIGHT, pa.array([weight] * rows.num_rows, pa.int8()))


def changes_of(shape: Shape, *parts: pa.Table) -> ChangeSet:
    """Weighted rows as what happened to a query."""
    return ChangeSet(shape.query, shape.schema(shape.query), tuple(Rows(part) for part in parts))
