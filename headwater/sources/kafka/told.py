"""What Debezium's events tell of themselves, found in whole columns of bytes: transactions, snapshots, ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SourceError
from headwater.sources.kafka.alignment import End, Stretch, merged

# Quotes inside a value are escaped, so these forms can only be fields of the event itself.
_TRANSACTION = (
    r'"transaction"\s*:\s*\{\s*"id"\s*:\s*"(?P<id>[^"]*)"\s*,\s*"total_order"\s*:\s*\d+\s*,'
    r'\s*"data_collection_order"\s*:\s*(?P<number>\d+)'
)
IN_TRANSACTION = r'"transaction"\s*:\s*\{\s*"id"'
_SNAPSHOT = r'"source"\s*:\s*\{[^{}]*"snapshot"\s*:\s*"(?P<snapshot>\w+)"'
_POSTGRES_ID = r"^(\d+):\d+$"

# A table's only row can be called `first`, so that word alone does not say that more will come.
_OPENS = pa.array(["true", "first_in_data_collection"])
_CLOSES = pa.array(["last", "last_in_data_collection"])

SHOWN = 200
"""So many bytes of a message are shown in an error."""


def stretches(messages: pa.Table) -> Iterator[Stretch]:
    """The stretches of one partition's messages, which are in order."""
    if not len(messages):
        return
    values = messages.column("value").combine_chunks()
    found = pc.extract_regex(values, _TRANSACTION)
    ids = transaction_names(pc.struct_field(found, "id").cast(pa.string()))
    # A tombstone belongs to the event before it.
    filled = pc.if_else(pc.is_null(values), None, pc.fill_null(ids, ""))
    filled = pc.fill_null(pc.fill_null_forward(filled), "")
    numbers = pc.struct_field(found, "number").cast(pa.string()).cast(pa.int64())
    marks = pc.struct_field(pc.extract_regex(values, _SNAPSHOT), "snapshot").cast(pa.string())
    offsets = messages.column("offset").combine_chunks()
    begin = 0
    for end in pc.run_end_encode(filled).run_ends.to_pylist():
        name = filled[begin].as_py()
        part = marks.slice(begin, end - begin).drop_null()
        is_open = bool(pc.any(pc.is_in(part, value_set=_OPENS)).as_py())
        yield Stretch(
            offsets[begin].as_py(),
            offsets[end - 1].as_py() + 1,
            name or None,
            _ranges(numbers.slice(begin, end - begin)),
            opens=is_open and not name,
            closes=not name and len(part) > 0 and part[-1] in _CLOSES,
        )
        begin = end


def is_within_snapshot(value: bytes | None) -> bool:
    """True if a message is one of a snapshot that goes on behind it."""
    found = pc.struct_field(pc.extract_regex(pa.array([value], pa.binary()), _SNAPSHOT), "snapshot")
    return bool(pc.is_in(found.cast(pa.string()), value_set=_OPENS)[0].as_py())


def transaction_names(ids: pa.Array) -> pa.Array:
    """What is the same for all events of a transaction: Postgres' ids carry the event's own place behind a colon."""
    return pc.replace_substring_regex(ids, _POSTGRES_ID, r"\1")


def ends(messages: Sequence[tuple[int, bytes | None]], tables: Mapping[str, Sequence[str]]) -> Iterator[End]:
    """The ends among the messages of a server's topic of transactions; `tables` by the name of their collection."""
    for offset, value in messages:
        try:
            said = json.loads(value) if value else None
            said = said.get("payload", said) if isinstance(said, dict) else None
            if not said or said.get("status") != "END":
                continue
            counts: dict[str, int] = {}
            for part in said.get("data_collections") or ():
                counts |= dict.fromkeys(tables.get(part["data_collection"], ()), int(part["event_count"]))
            name = transaction_names(pa.array([said["id"]], pa.string()))[0].as_py()
        except (ValueError, KeyError, TypeError, pa.ArrowException) as problem:
            raise SourceError(
                "a message about transactions cannot be read",
                detail=f"Message {offset}: {problem!r}. It is: {(value or b'')[:SHOWN]!r}.",
                hint="Only a Debezium server may write to this topic; name the right one with 'transaction.topic'.",
            ) from None
        yield End(name, counts, offset + 1)


def _ranges(numbers: pa.Array) -> tuple[tuple[int, int], ...]:
    present = numbers.drop_null().unique()
    if not len(present):
        return ()
    bounds = pc.min_max(present)
    first, last = bounds["min"].as_py(), bounds["max"].as_py()
    if last - first + 1 == len(present):
        return ((first, last),)
    return merged((n, n) for n in present.to_pylist())
