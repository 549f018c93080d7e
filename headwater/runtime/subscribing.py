"""What a script that subscribes to views has to show, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from headwater.changes.change_set import ChangeSet, Rows
from headwater.runtime.feed import Told
from headwater.runtime.pipeline import Pipeline
from headwater.schema import WEIGHT
from headwater.sql import statements as sql
from headwater.sql.script import parse_script

ALL_ROWS = 2_147_483_647


def subscribes(text: str, file: str) -> bool:
    """True if a script shows changes."""
    return any(isinstance(statement, sql.Subscribe) for statement in parse_script(text, file))


@dataclass
class Subscribed:
    """One view that is followed, in the thread of its pipeline."""

    pipeline: Pipeline
    view: str
    after: str | None
    _at: int | None = None
    """The last batch that was told; None as long as nothing was."""

    def told(self) -> Iterator[Told]:
        """What has come since the last call: first the rows there are, or what came after the cut."""
        feed = self.pipeline.keep_feed()
        if self._at is None:
            yield from self._first()
        while self._at is not None:
            with feed.next(self.view, self._at) as told:
                if told is None:
                    return
                self._at = told.batch_id
                yield told

    def _first(self) -> Iterator[Told]:
        feed = self.pipeline.keep_feed()
        if self.after is not None:
            self._at = feed.after(self.after)
            return
        with self.pipeline.snapshot() as snapshot:
            if self.view in snapshot.waiting:
                return
            rows = self.pipeline.rows(self.view, ALL_ROWS)
            self._at = snapshot.batch_id
            mark = feed.mark(snapshot.batch_id, snapshot.cut)
        weighted = rows.append_column(WEIGHT, pa.array([1] * rows.num_rows, pa.int8()))
        changes = ChangeSet(self.view, self.pipeline.schema(self.view), (Rows(weighted),))
        yield Told(self._at, mark, True, changes)
