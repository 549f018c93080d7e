"""SELECT in a session, over deployed views: what it gives at one cut, and what is different when that has moved on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from headwater.errors import SqlError
from headwater.log.positions import Cut
from headwater.runtime.conversation import Onlooker
from headwater.runtime.reading import Limits
from headwater.schema import Schema
from headwater.server.deployed import Deployed
from headwater.server.forms import row_objects
from headwater.server.reader import Answer, Held
from headwater.server.watching import CATCH_UP_SECONDS, Shape, Watching, batch_of, changes_of, weighted

POLL_SECONDS = 0.05

LIMITS = Limits(rows=100_000)
"""Its rows are compared with those it had before."""


@dataclass(kw_only=True)
class AskedAgain(Watching):
    """A query that is asked whenever a pipeline it reads has done a batch."""

    query: exp.Query
    pipelines: Sequence[str]
    _shape: Shape | None = None

    def tell(self, onlooker: Onlooker) -> None:
        """Ask again and again, at most half of the time: others ask too."""
        for deployed in self._deployed() if self.once else ():
            deployed.turning.catch_up(CATCH_UP_SECONDS)
        limits, seen = replace(LIMITS, given_up=self.stopping), list[int]()
        while not self.stopping.is_set():
            began = time.monotonic()
            with self.server.reader.held() as held:
                now = [held.snapshots[name].batch_id for name in self.pipelines if name in held.snapshots]
                if now != seen or not now:
                    self._tell_answer(
                        onlooker, held.select(self.query, limits), _cut_of(held, self.pipelines)
                    )
                    seen = now
            if self.once:
                return
            self.stopping.wait(max(POLL_SECONDS, time.monotonic() - began))

    def _deployed(self) -> list[Deployed]:
        """What runs of the applications that are asked."""
        running = self.server.running()
        return [running[name] for name in self.pipelines if name in running]

    def _tell_answer(self, onlooker: Onlooker, answer: Answer, cut: Cut) -> None:
        _check_names(answer.schema)
        shape = self._shape
        if shape is None or shape.columns != answer.schema:
            # An answer of other columns, after a new version, is another answer.
            self._shape = shape = Shape(self.name, answer.schema, None, answer.table.slice(0, 0))
            onlooker.open(shape)
        gone, come = difference(answer.schema, shape.known, answer.table)
        shape.known = answer.table
        changes = changes_of(shape, weighted(gone, -1), weighted(come, 1))
        deployed = self._deployed()
        known = deployed[0] if len(deployed) == len(self.pipelines) == 1 else None
        onlooker.batch(batch_of(known, answer.batch_id, cut, changes))


def _check_names(schema: Schema) -> None:
    """Raise if two columns have one name: nobody could tell which of them has changed."""
    twice = [name for name, count in Counter(map(str.lower, schema.names)).items() if count > 1]
    if twice:
        raise SqlError(f'two columns are called "{twice[0]}"', hint="Give one of them another name with AS.")


def difference(schema: Schema, before: pa.Table, after: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows that are only in the first table and those only in the second, each as often as it is there more."""
    was, now = _texts(schema, before), _texts(schema, after)
    return before.take(_surplus(was, now)), after.take(_surplus(now, was))


def _surplus(these: Sequence[str], those: Sequence[str]) -> pa.Array:
    """Where rows stand of which there are more here than there."""
    more = Counter(these) - Counter(those)
    places = []
    for place, text in enumerate(these):
        if more[text] > 0:
            more[text] -= 1
            places.append(place)
    return pa.array(places, pa.int64())


def _texts(schema: Schema, table: pa.Table) -> list[str]:
    return [text for batch in table.to_batches() for text in row_objects(schema, batch)]


def _cut_of(held: Held, pipelines: Sequence[str]) -> Cut:
    """The cuts of all that is read, as one."""
    cuts = [(name, held.snapshots[name].cut) for name in pipelines if name in held.snapshots]
    return Cut(tuple((f"{name} {source}", at) for name, cut in cuts for source, at in cut.positions))
