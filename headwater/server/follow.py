"""One reader who follows a view: the rows there are, then what each batch changes, as events that a browser understands.

    id: 17@0/16B3748
    event: changes
    data: {"cut": "0/16B3748", "batch": 17, "at": "2026-01-02T03:04:05.678Z", "anew": false, "more": false,
           "changes": [{"op": "+", "row": {"total": 5}}]}

Everything is read from files, a piece at a time, when this reader has taken the piece before: a slow one costs the wheel
nothing. What many hear at the same time is made once for all. Only the last piece of a batch has an id, so whoever
resumes by it has all of the batch.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from starlette.concurrency import run_in_threadpool

from headwater.changes.change_set import ChangeSet
from headwater.errors import HeadwaterError
from headwater.runtime.feed import Feed, Gone
from headwater.schema import WEIGHT, Schema
from headwater.server.answers import moment
from headwater.server.deployed import Deployed
from headwater.server.forms import row_objects
from headwater.server.reader import Asked
from headwater.server.shared_events import LARGEST, SharedEvents, Small

PIECE_ROWS = 1_000
"""So many changes are in one event at most."""

POLL_SECONDS = 0.05

HEARTBEAT_SECONDS = 15.0
"""If nothing changes for so long, the reader is told that somebody is still there, and how far everything is true."""


@dataclass
class Follower:
    """Someone who follows one view, from one batch on."""

    relation: str
    feed: Feed
    deployed: Deployed
    """What runs it: again and again, if it failed or has a schedule."""
    at: int
    """The last batch that was told."""
    mark: str
    shared: SharedEvents
    told_at: float | None = None
    """When that batch was done, in seconds since 1970, if that is known."""
    rows: Asked | None = None
    """The rows there are, if they are to be told first; true at the batch."""
    closing: ExitStack = field(default_factory=ExitStack)

    async def events(self) -> AsyncIterator[bytes]:
        """All events, until the deployment is over or nobody listens."""
        with self.closing:
            try:
                async for piece in self._events():
                    yield piece
            except Gone as gone:
                yield _event("gone", {"error": _said(gone)})

    async def _events(self) -> AsyncIterator[bytes]:
        yield b": headwater\n\n"
        if self.rows is not None:
            async for piece in _in_thread(self._first()):
                yield piece
        told, mark = time.monotonic(), self.mark
        while True:
            is_over = self.deployed.is_over
            if (pipeline := self.deployed.last_pipeline) is not None and pipeline.feed is not None:
                self.feed = pipeline.feed
            if self.feed.last > self.at:
                async for piece in self._behind():
                    yield piece
                    told, mark = time.monotonic(), self.mark
                continue
            if is_over:
                yield self._end()
                return
            if time.monotonic() - told > HEARTBEAT_SECONDS:
                # Whoever resumes by an id of long ago would ask for what is not kept any more.
                yield b": \n\n" if mark == self.mark else _event("cut", self._head(), self.mark)
                told, mark = time.monotonic(), self.mark
            await asyncio.sleep(POLL_SECONDS)

    def _first(self) -> Iterator[bytes]:
        """The rows there are, as if they all had come in the batch."""
        assert self.rows is not None
        schema = self.rows.found.schema
        changes = (one for batch in self.rows.found.batches() for one in _signed("+", schema, batch))
        yield from self._told(changes, is_anew=True)
        self.rows = None
        self.closing.close()

    async def _behind(self) -> AsyncIterator[bytes]:
        """What the next batch did to the view: as others hear it too, or piece by piece if that is much."""
        small = await self.shared.after(self.at, self.feed, self.relation, making=self._small)
        if small is None:
            async for piece in _in_thread(self._next()):
                yield piece
            return
        self.at, self.mark, self.told_at = small.batch_id, small.mark, small.done_at
        if small.event:
            yield small.event

    def _small(self) -> Small | None:
        """The next batch as one event, for everyone; this follower stays where it is."""
        with self.feed.next(self.relation, self.at) as told:
            if told is None:
                return None
            changes = told.changes
            if changes is None:
                return Small(told.batch_id, told.mark, b"", told.at)
            if changes.count > PIECE_ROWS:
                return None
            twin = replace(self, at=told.batch_id, mark=told.mark, told_at=told.at, closing=ExitStack())
            event = b"".join(twin._told(_changes_of(changes), is_anew=told.is_anew))
        return Small(told.batch_id, told.mark, event, told.at) if len(event) <= LARGEST else None

    def _next(self) -> Iterator[bytes]:
        """What the next batch did to the view."""
        with self.feed.next(self.relation, self.at) as told:
            if told is None:
                return
            self.at, self.mark, self.told_at = told.batch_id, told.mark, told.at
            if told.changes is not None:
                yield from self._told(_changes_of(told.changes), is_anew=told.is_anew)

    def _told(self, changes: Iterator[str], *, is_anew: bool) -> Iterator[bytes]:
        """Changes as events, one piece behind: the last one is another."""
        held: list[str] | None = None
        while piece := list(itertools.islice(changes, PIECE_ROWS)):
            if held is not None:
                yield self._changes(held, is_anew=is_anew, is_last=False)
                is_anew = False
            held = piece
        if held is not None or is_anew:
            yield self._changes(held or [], is_anew=is_anew, is_last=True)

    def _changes(self, changes: list[str], *, is_anew: bool, is_last: bool) -> bytes:
        head = json.dumps(self._head() | {"anew": is_anew, "more": not is_last})
        data = f'{head[:-1]}, "changes": [{", ".join(changes)}]}}'
        return _framed("changes", data, self.mark if is_last else None)

    def _head(self) -> dict[str, Any]:
        return {"cut": self.mark.partition("@")[2], "batch": self.at, "at": moment(self.told_at)}

    def _end(self) -> bytes:
        last = self.deployed.deployment
        return _event("end", self._head() | {"status": last.status, "error": last.problem})


async def _in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Pieces that are read from files, each by a thread that is free again when it is there."""
    while (piece := await run_in_threadpool(next, pieces, None)) is not None:
        yield piece


def _changes_of(changes: ChangeSet) -> Iterator[str]:
    """All changes of a batch; within a piece what went stands before what came."""
    for batch in changes.batches():
        weights = batch.column(WEIGHT)
        for sign, chosen in (("-", pc.less(weights, 0)), ("+", pc.greater(weights, 0))):
            yield from _signed(sign, changes.schema, batch.filter(chosen))


def _signed(sign: str, schema: Schema, rows: pa.RecordBatch) -> Iterator[str]:
    for begin in range(0, rows.num_rows, PIECE_ROWS):
        for row in row_objects(schema, rows.slice(begin, PIECE_ROWS)):
            yield f'{{"op": "{sign}", "row": {row}}}'


def _event(kind: str, said: dict[str, Any], mark: str | None = None) -> bytes:
    return _framed(kind, json.dumps(said, ensure_ascii=False), mark)


def _framed(kind: str, data: str, mark: str | None) -> bytes:
    head = "" if mark is None else f"id: {mark}\n"
    return f"{head}event: {kind}\ndata: {data}\n\n".encode()


def _said(problem: HeadwaterError) -> dict[str, object]:
    return {key: value for key, value in problem.to_json().items() if key != "type"}
