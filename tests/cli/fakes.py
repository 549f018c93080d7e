"""A pipeline whose batches are written down, for everything that looks on."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

import pyarrow as pa

from headwater.changes.change_set import ChangeSet, Rows, weighted_schema
from headwater.errors import HeadwaterError
from headwater.log.positions import Cut, Position
from headwater.runtime.facts import BatchDone, Listener
from headwater.runtime.questions import Answer
from headwater.schema import Column, Schema

COSTS = Schema((Column("animal", "string"), Column("total", "double")), key=("animal",))
QUERY = "costs"

Signed = tuple[str, str | None, float | None]
"""`("+", "Cassowary", 12.0)`."""


def change_set(*rows: Signed, schema: Schema = COSTS) -> ChangeSet:
    """A change set of the query."""
    listed = [(animal, total, 1 if sign == "+" else -1) for sign, animal, total in rows]
    arrow = weighted_schema(schema)
    columns = [pa.array([row[i] for row in listed], arrow.field(i).type) for i in range(3)]
    return ChangeSet(QUERY, schema, (Rows(pa.table(columns, schema=arrow)),))


def batch(number: int, *rows: Signed) -> BatchDone:
    """A batch that ends at `0/<number>`."""
    cut = Cut((("postgres", Position(number, "lsn")),))
    seconds = {"read": 0.05, "step": 0.2}
    return BatchDone(number, cut, len(rows), {QUERY: change_set(*rows)}, seconds, 100.0, 100.5)


class FakePipeline:
    """Hands out one written batch a step, then calls `idle`; its answer is what the batches add up to."""

    queries = (QUERY,)
    answers: tuple[str, ...] = ()
    program = SimpleNamespace(results={QUERY: None}, questions=(), subscriptions=())
    stopped: Mapping[str, HeadwaterError] = {}

    def __init__(
        self,
        batches: Sequence[BatchDone],
        listener: Listener,
        *,
        idle: Callable[[], None] = lambda: None,
        resumed: Sequence[Signed] = (),
    ) -> None:
        self.closed = False
        self.said: list[Answer] = []
        self._batches = list(batches)
        self._listener = listener
        self._idle = idle
        self._answer = [(animal, total) for _, animal, total in resumed]
        self._cut = Cut((("postgres", Position(7, "lsn")),)) if resumed else Cut()

    def step(self, *, wait: float = 0.0) -> BatchDone | None:
        if not self._batches:
            self._idle()
            return None
        done = self._batches.pop(0)
        for row in done.changes[QUERY].table().to_pylist():
            pair = (row["animal"], row["total"])
            if row["__hw_weight"] > 0:
                self._answer.append(pair)
            else:
                self._answer.remove(pair)
        self._cut = done.cut
        self._listener.batch(done)
        return done

    def asked(self) -> list[Answer]:
        """What was written down."""
        return self.said

    def run_once(self) -> None:
        while self._batches:
            self.step()

    def rows(self, relation: str, limit: int = 1000) -> pa.Table:
        assert relation == QUERY
        rows = [{"animal": animal, "total": total} for animal, total in self._answer[:limit]]
        return pa.Table.from_pylist(rows, pa.schema([("animal", pa.string()), ("total", pa.float64())]))

    def schema(self, relation: str) -> Schema:
        return COSTS

    def cut(self) -> Cut:
        return self._cut

    def close(self) -> None:
        self.closed = True


class Terminal(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True
