"""Reads tables and views of all pipelines that run, at one cut of each, while the wheels go on turning.

A query is one that only reads: names that are no relations of ours, and whatever could reach beyond them, are errors.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from headwater.errors import HeadwaterError, UsageError
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.reading import Found, Limits, Readings
from headwater.runtime.snapshot import Snapshot
from headwater.schema import Schema
from headwater.server.read_only import Names, read_only

__all__ = ["Answer", "Held", "Limits", "Reader", "Relation", "Running"]

_NUMBERS = itertools.count(1)


class Running(Protocol):
    """Who knows what runs, or ran last."""

    def readable(self) -> Mapping[str, Pipeline]:
        """The pipelines by the names of their applications; one that is over is as it was at its end."""


@dataclass(frozen=True)
class Relation:
    """A table or view that can be read, and the cut at which it is."""

    pipeline: str
    name: str
    kind: str
    """table or view."""
    schema: Schema
    cut: str
    batch_id: int
    is_ready: bool = True
    """False if it is not whole yet."""
    reached_at: float | None = None
    """When that cut was reached, in seconds since 1970; None if the server was not there yet."""

    @property
    def full_name(self) -> str:
        """What it is called beside those of other pipelines."""
        return f"{self.pipeline}.{self.name}"


@dataclass(frozen=True)
class Answer:
    """What a query gave, and the cut at which that is true; of several pipelines, the cut of each."""

    table: pa.Table
    schema: Schema
    cut: str
    batch_id: int
    reached_at: float | None = None


@dataclass(frozen=True)
class Asked:
    """A query that is being answered: its rows are read as they are wanted."""

    found: Found
    cut: str
    batch_id: int
    reached_at: float | None = None
    """When the oldest of its cuts was reached."""


@dataclass(frozen=True)
class Held:
    """All pipelines that run, at one cut each, for as long as somebody holds them."""

    pipelines: Mapping[str, Pipeline]
    snapshots: Mapping[str, Snapshot]
    readings: Readings | None

    def relations(self) -> list[Relation]:
        """What can be read, in order of names."""
        found = []
        for name, pipeline in self.pipelines.items():
            snapshot = self.snapshots[name]
            for relation, (kind, schema) in pipeline.program.readable.items():
                at = (str(snapshot.cut), snapshot.batch_id, relation not in snapshot.waiting)
                found.append(Relation(name, relation, kind, schema, *at, snapshot.reached_at))
        return sorted(found, key=lambda relation: (relation.pipeline, relation.name))

    def select(self, query: exp.Query, limits: Limits = Limits()) -> Answer:  # noqa: B008  # it is frozen
        """All rows that a query gives."""
        with self.asked(query, limits) as asked:
            table, schema = asked.found.table(), asked.found.schema
            return Answer(table, schema, asked.cut, asked.batch_id, asked.reached_at)

    @contextmanager
    def asked(self, query: exp.Query, limits: Limits) -> Iterator[Asked]:
        """What a query gives, to be read inside the block."""
        names = Names(self.relations())
        called = read_only(query, names, f"hw_read_{next(_NUMBERS)}")
        states, read = {}, dict[str, Snapshot]()
        for view, relation in called.views.items():
            read[relation.pipeline] = snapshot = self.snapshots[relation.pipeline]
            if (stopped := snapshot.stopped.get(relation.name)) is not None:
                raise stopped
            if not relation.is_ready:
                raise NotReady(relation)
            states[view] = snapshot.states[relation.name]
        if self.readings is None:
            raise UsageError("nothing runs that could be read", hint="Deploy an application first.")
        for pipeline in read:
            self.readings.suit(self.pipelines[pipeline])
        cut, batch_id = _cut(read)
        with self.readings.found(called.query, states, limits=limits) as found:
            known = [one.reached_at for one in read.values() if one.reached_at is not None]
            yield Asked(found, cut, batch_id, min(known) if len(known) == len(read) and known else None)


class Reader:
    """Answers queries over everything that runs; for any number of threads."""

    def __init__(self, server: Running) -> None:
        self._server = server
        self._readings: Readings | None = None
        self._lock = threading.Lock()

    def relations(self) -> list[Relation]:
        """What can be read now."""
        with self.held() as held:
            return held.relations()

    def select(self, query: exp.Query, limits: Limits = Limits()) -> Answer:  # noqa: B008  # it is frozen
        """What a query gives now; every relation of a pipeline in it is read at the same cut."""
        with self.held() as held:
            return held.select(query, limits)

    @contextmanager
    def held(self) -> Iterator[Held]:
        """Everything as it is now, for as long as the block lasts: whoever asks twice gets the same answer."""
        pipelines = self._server.readable()
        with ExitStack() as closing:
            snapshots = {n: closing.enter_context(p.snapshot()) for n, p in pipelines.items()}
            yield Held(pipelines, snapshots, self._session(pipelines))

    def _session(self, pipelines: Mapping[str, Pipeline]) -> Readings | None:
        with self._lock:
            for pipeline in pipelines.values():
                if self._readings is None or not self._readings.serves(pipeline):
                    self._readings = Readings(pipeline)
            return self._readings


class NotReady(HeadwaterError):
    """A relation that is not whole yet."""

    def __init__(self, relation: Relation) -> None:
        super().__init__(
            f'{relation.kind} "{relation.name}" is not there yet',
            detail=f"Pipeline '{relation.pipeline}' still reads its tables for the first time.",
            hint="Ask again in a moment.",
        )


def _cut(read: Mapping[str, Snapshot]) -> tuple[str, int]:
    """The cut of an answer, and its batch; with several pipelines the cut of each, and the batch of the first."""
    if not read:
        return "", 0
    first = next(iter(read.values()))
    if len(read) == 1:
        return str(first.cut), first.batch_id
    return "; ".join(f"{name}: {snapshot.cut}" for name, snapshot in read.items()), first.batch_id
