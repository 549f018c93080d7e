"""A live query of a session as events, and back: what a pipeline tells here is told again where somebody looks on.

event: batch
data: {"batch": 3, "cut": {...}, "rows_read": 5, "seconds": {...}, "changes": "<weighted rows as Arrow, in base64>"}
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.log.positions import Cut, cut_from_json
from headwater.runtime.conversation import LiveAnswers, Onlooker
from headwater.runtime.facts import BatchDone
from headwater.schema import Schema, schema_from_json
from headwater.sources.base import Report

Event = tuple[str, dict[str, Any]]


def report_event(report: Report) -> Event:
    """Something that takes a while has come further."""
    return "report", asdict(report)


def open_event(answers: LiveAnswers) -> Event:
    """The query stands: its columns, and which of its rows are the same one before and after a change."""
    [query] = answers.queries
    key = answers.row_key(query)
    said = {"query": query, "schema": answers.schema(query).to_json(), "cut": answers.cut().to_json()}
    return "open", said | {"key": None if key is None else list(key)}


def rows_event(rows: pa.Table) -> Event:
    """The first rows of an answer that is too large to be followed change by change."""
    return "rows", {"rows": packed(rows)}


def changes_event(changes: pa.RecordBatch) -> Event:
    """A part of what the next batch changed."""
    return "changes", {"changes": packed(pa.Table.from_batches([changes]))}


def batch_event(done: BatchDone) -> Event:
    """A batch is done; what it changed was told before."""
    said = {"batch": done.batch_id, "cut": done.cut.to_json(), "rows_read": done.rows_read}
    times = {"committed_at": done.committed_at, "done_at": done.done_at, "seconds": dict(done.seconds)}
    return "batch", said | times


def framed(event: Event) -> bytes:
    """An event as it is sent."""
    kind, said = event
    return f"event: {kind}\ndata: {json.dumps(said)}\n\n".encode()


def packed(table: pa.Table) -> str:
    """A table as text."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return base64.b64encode(sink.getvalue()).decode()


def unpacked(text: str) -> pa.Table:
    """The table that `packed` wrote."""
    return pa.ipc.open_stream(base64.b64decode(text)).read_all().combine_chunks()


@dataclass
class Retold:
    """Tells an onlooker what comes as events; to the onlooker it is the query itself."""

    onlooker: Onlooker
    _query: str = ""
    _schema: Schema = field(default_factory=lambda: Schema(()))
    _key: tuple[str, ...] | None = None
    _cut: Cut = field(default_factory=Cut)
    _rows: pa.Table | None = None
    _parts: list[Rows | Files] = field(default_factory=list)

    @property
    def queries(self) -> tuple[str, ...]:
        """The one query."""
        return (self._query,)

    def rows(self, relation: str, limit: int = 1000) -> pa.Table:
        """The first rows, as they were told last."""
        assert self._rows is not None
        return self._rows.slice(0, limit)

    def schema(self, relation: str) -> Schema:
        """The columns of the query."""
        return self._schema

    def row_key(self, relation: str) -> tuple[str, ...] | None:
        """The columns of whose values there is one row each."""
        return self._key

    def cut(self) -> Cut:
        """How far the answer is true."""
        return self._cut

    def hear(self, kind: str, said: Mapping[str, Any]) -> None:
        """Tell one event; what is not known is left out, a newer server may tell more."""
        match kind:
            case "report":
                self.onlooker.report(Report(**said))
            case "said":
                self.onlooker.say(said["text"])
            case "open":
                self._query, self._schema = said["query"], schema_from_json(said["schema"])
                self._key = None if said["key"] is None else tuple(said["key"])
                self._cut = cut_from_json(said["cut"])
                self.onlooker.open(self)
            case "rows":
                self._rows = unpacked(said["rows"])
                # Too many to be held: whoever is told so reads the rows again.
                self._parts = [Files((), self._rows.num_rows + 1)]
            case "changes":
                self._parts.append(Rows(unpacked(said["changes"])))
            case "batch":
                self.onlooker.batch(self._batch(said))
                self._parts = []

    def _batch(self, said: Mapping[str, Any]) -> BatchDone:
        self._cut = cut_from_json(said["cut"])
        changes = ChangeSet(self._query, self._schema, tuple(self._parts))
        return BatchDone(
            said["batch"],
            self._cut,
            said["rows_read"],
            {self._query: changes} if self._parts else {},
            said["seconds"],
            said["committed_at"],
            said["done_at"],
        )


def events_of(lines: Iterable[str]) -> Iterable[Event]:
    """The events of a stream of lines."""
    kind = ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)
