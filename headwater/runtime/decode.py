"""Messages of a broker become events: decoded by Spark, repeats dropped, what cannot be read stopped at or parked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from sqlglot import exp

from headwater.changes.change_set import ChangeSet, Files, Rows
from headwater.errors import SourceError
from headwater.formats.decode import UNREAD
from headwater.log.events import DELETE, HISTORY, INSERT, KIND, SEQ, UNCHANGED, WEIGHTS, Events, Messages
from headwater.log.repeats import HASH, OFFSET, PARTITION, SOURCE_AT, SOURCE_MS, TOPIC, Marks, new_events
from headwater.runtime.program import TableNode
from headwater.schema import WEIGHT, Schema
from headwater.sources.base import Decoding
from headwater.sources.dead_letters import SCHEMA as DEAD_LETTERS
from headwater.sources.dead_letters import TABLE as DEAD_LETTERS_TABLE
from headwater.spark.engine import Engine
from headwater.spark.kept import Leaf
from headwater.spark.text import to_text

ERROR, KEY, VALUE = "__hw_error", "__hw_key", "__hw_value"

TOLD = (KIND, ERROR, SOURCE_AT, SOURCE_MS, TOPIC, PARTITION, OFFSET)
"""What is looked at of every event; its row stays where it is."""

SHOWN = 200
"""So many characters of a message are shown in an error."""


@dataclass(frozen=True)
class Decoded:
    """The events of a table's messages, the marks after them, and what could not be read."""

    events: Events
    marks: Marks
    parked: ChangeSet | None = None


@dataclass
class Decoder:
    """Decodes the messages of a program's tables; the text of each is made once."""

    engine: Engine
    _decodings: dict[str, Decoding] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)

    def decode(self, node: TableNode, messages: Messages, marks: Marks) -> Decoded:
        """The events of some messages of a table, given the marks before them."""
        decoding = self._decoding(node)
        if messages.rows is None:
            self.engine.register("messages", self._frame(messages))
        made = self._made(decoding.quick or decoding.query, messages)
        told = _told(made)
        if decoding.quick is not None and pc.any(pc.equal(told[ERROR], UNREAD)).as_py():
            made = self._made(decoding.query, messages)
            told = _told(made)
        bad = told.filter(pc.is_valid(told[ERROR]))
        if len(bad) and not decoding.parks:
            raise _unreadable(decoding, _rows(made, pc.is_valid(told[ERROR])).slice(0, 1))
        good = pc.and_(pc.is_null(told[ERROR]), pc.is_valid(told[KIND]))
        places, marks = new_events(told, marks, subject=decoding.subject)
        good = pc.and_(good, pc.is_in(pa.array(range(len(told)), pa.int64()), value_set=places))
        parked = _parked(node.name, _rows(made, pc.is_valid(told[ERROR]))) if len(bad) else None
        return Decoded(_events(made, good, node.schema), marks, parked)

    def _frame(self, messages: Messages) -> DataFrame:
        """The messages of some spans, read by Spark."""
        begins: dict[str, dict[str, int]] = {}
        ends: dict[str, dict[str, int]] = {}
        for span in messages.spans:
            begins.setdefault(span.topic, {})[str(span.partition)] = span.begin
            ends.setdefault(span.topic, {})[str(span.partition)] = span.end
        assigned = {topic: [int(number) for number in numbers] for topic, numbers in begins.items()}
        reader = self.engine.spark.read.format("kafka").option("assign", json.dumps(assigned))
        reader = reader.option("startingOffsets", json.dumps(begins)).option(
            "endingOffsets", json.dumps(ends)
        )
        reader = reader.option("includeHeaders", "true").option("failOnDataLoss", "true")
        return reader.options(**{f"kafka.{name}": text for name, text in messages.properties.items()}).load()

    def _made(self, query: exp.Query, messages: Messages) -> pa.Table | Files:
        """The decoded rows: few messages are one task on local rows, many are written by whoever reads them."""
        if messages.rows is not None:
            return self.engine.few_rows(self._text(query), Leaf("messages", messages.rows))
        return self.engine.saved(self.engine.sql(query))

    def _text(self, query: exp.Query) -> str:
        if id(query) not in self._texts:
            self._texts[id(query)] = to_text(query)
        return self._texts[id(query)]

    def _decoding(self, node: TableNode) -> Decoding:
        """How a table's messages are read; its queries are kept, so that their ids stay their own."""
        known = self._decodings.get(node.name)
        if known is None:
            assert node.type.decoding is not None
            made = node.type.decoding(node.table)
            quick = _with_weights(made.quick, node.schema) if made.quick is not None else None
            known = replace(made, query=_with_weights(made.query, node.schema), quick=quick)
            self._decodings[node.name] = known
        return known


def _with_weights(query: exp.Query, schema: Schema) -> exp.Query:
    """The decoding query with each event's weight, and with a name for whole rows where repeats are known by it."""
    weight = exp.Case()
    for kind, number in WEIGHTS.items():
        is_kind = exp.column(KIND).eq(exp.Literal.string(kind))
        weight = weight.when(is_kind, exp.Literal.number(number))
    added = [exp.alias_(exp.cast(weight, "tinyint"), WEIGHT)]
    if not schema.key:
        # As text with names: a NULL would count for nothing, wherever it stands.
        whole = exp.func("to_json", exp.func("struct", *[exp.column(c.name, quoted=True) for c in schema]))
        added.append(exp.alias_(exp.func("xxhash64", exp.column(KIND), whole), HASH))
    return exp.select("*", *added).from_(query.subquery("decoded"))


def _told(made: pa.Table | Files) -> pa.Table:
    """The columns of `TOLD` of every event, and the name of its row if there is one."""
    if isinstance(made, pa.Table):
        return made.select([name for name in (*TOLD, HASH) if name in made.column_names])
    pieces = []
    for path in made.paths:
        names = [n for n in (*TOLD, HASH) if n in pq.read_schema(path).names]
        pieces.append(pq.read_table(path, columns=names, partitioning=None))
    return pa.concat_tables(pieces).combine_chunks()


def _rows(made: pa.Table | Files, wanted: pa.ChunkedArray) -> pa.Table:
    """Some of the decoded rows, whole."""
    if isinstance(made, pa.Table):
        return made.filter(wanted)
    pieces, begin = [], 0
    for path in made.paths:
        table = pq.read_table(path, partitioning=None)
        pieces.append(table.filter(wanted[begin : begin + len(table)]))
        begin += len(table)
    return pa.concat_tables(pieces).combine_chunks()


def _events(made: pa.Table | Files, good: pa.Array, schema: Schema) -> Events:
    """The good ones as events: in their files if all of them are good, else in memory."""
    count = pc.sum(good).as_py() or 0
    if isinstance(made, Files) and count == made.count:
        kinds = pa.concat_tables([pq.read_table(p, columns=[KIND], partitioning=None) for p in made.paths])
        whole = _are_whole(kinds[KIND])
        return Events(count, files=made.paths, whole_rows=whole)
    rows = _rows(made, good).select([*schema.names, KIND, WEIGHT, SEQ, UNCHANGED, *HISTORY]).combine_chunks()
    return Events(count, rows=rows, whole_rows=_are_whole(rows[KIND]))


def _are_whole(kinds: pa.ChunkedArray) -> bool:
    return set(kinds.unique().to_pylist()) <= {INSERT, DELETE}


def _unreadable(decoding: Decoding, row: pa.Table) -> SourceError:
    said: Mapping[str, object] = row.to_pylist()[0]
    value = said[VALUE]
    text = value.decode(errors="replace") if isinstance(value, bytes) else "no value"
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."
    return SourceError(
        f"a message of topic '{said[TOPIC]}' cannot be read",
        detail=f"Partition {said[PARTITION]}, message {said[OFFSET]}: {said[ERROR]}. It is: {shown}",
        hint="Declare what the messages hold, or set 'errors' = 'dead-letter' to put such messages into "
        f"{DEAD_LETTERS_TABLE} and go on. Nothing was lost: the next start begins with this message.",
    )


def _parked(table: str, rows: pa.Table) -> ChangeSet:
    """Messages that cannot be read, as rows of the table of dead letters."""
    count = len(rows)
    columns = [pa.array([table] * count, pa.string())]
    columns += [rows[name] for name in (TOPIC, PARTITION, OFFSET, KEY, VALUE, ERROR)]
    columns += [pa.nulls(count, pa.string())] * 2
    made = pa.table(
        [*columns, pa.array([1] * count, pa.int8())], names=[*DEAD_LETTERS.names, WEIGHT]
    ).combine_chunks()
    return ChangeSet(DEAD_LETTERS_TABLE, DEAD_LETTERS, (Rows(made),))
