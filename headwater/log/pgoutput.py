"""The bytes of Postgres' `pgoutput` plugin (protocol versions 1 to 4), message by message.

Values stay text as the server wrote it: bytes, None for NULL, `SAME` for a large value that did not change
and was not sent. What a message means for a table is not decided here.

Between `StreamStart` and `StreamStop` every message begins with its kind and the number of the (sub)transaction that it
is of; `outside` takes the number off, and what is left reads as outside of streams.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, NamedTuple

EPOCH = 946_684_800.0
"""Postgres counts time from 2000-01-01; this is that moment in seconds since 1970."""


class Same:
    """The type of `SAME`."""

    def __repr__(self) -> str:
        return "SAME"


SAME: Final = Same()
"""A value that did not change and was not sent."""

Value = bytes | None | Same


class Begin(NamedTuple):
    """A transaction starts; `commit_at` is where its commit stands in the log, `time` when it was committed."""

    commit_at: int
    time: float = 0.0
    xid: int = 0
    name: str = ""
    """What the transaction is called where numbers do not do."""


class Commit(NamedTuple):
    """A transaction ends; `end` is the first place after it."""

    end: int
    time: float


class RelationColumn(NamedTuple):
    """A column as the stream announces it; `is_key` if it is part of the replica identity."""

    name: str
    type_oid: int
    is_key: bool
    modifier: int = -1
    """What stands in brackets behind the type, as the server counts it."""


class Relation(NamedTuple):
    """A table as the events that follow describe it; `identity` is d, n, f or i."""

    id: int
    schema: str
    name: str
    identity: str
    columns: tuple[RelationColumn, ...]


class Insert(NamedTuple):
    """A row came."""

    relation: int
    new: list[Value]


class Update(NamedTuple):
    """A row changed; `old` is its whole self or its old key, `old_is_whole` says which."""

    relation: int
    old: list[Value] | None
    old_is_whole: bool
    new: list[Value]


class Delete(NamedTuple):
    """A row went."""

    relation: int
    old: list[Value]
    old_is_whole: bool


class Truncate(NamedTuple):
    """Tables were emptied."""

    relations: tuple[int, ...]


class Said(NamedTuple):
    """A message of the application; one that is not transactional stands outside of every transaction."""

    transactional: bool
    at: int
    """The first place after it: what `pg_logical_emit_message` answered."""
    prefix: str
    content: bytes


class StreamStart(NamedTuple):
    """Messages of a transaction that is not committed follow."""

    xid: int


class StreamStop(NamedTuple):
    """What follows is no longer of that transaction; it may come back."""


class StreamCommit(NamedTuple):
    """A transaction that was streamed is committed: all that `Begin` and `Commit` say of others."""

    xid: int
    commit_at: int
    end: int
    time: float


class StreamAbort(NamedTuple):
    """A subtransaction of a transaction that was streamed is undone, or all of it, if both numbers are the same."""

    xid: int
    subxid: int


class Other(NamedTuple):
    """Something that changes no row: an origin, a type."""

    kind: str


Streaming = StreamStart | StreamStop | StreamCommit | StreamAbort
Message = Begin | Commit | Relation | Insert | Update | Delete | Truncate | Said | Streaming | Other

_length = struct.Struct(">I").unpack_from
_short = struct.Struct(">H").unpack_from
_type = struct.Struct(">Ii").unpack_from
_begin = struct.Struct(">QqI").unpack_from
_commit = struct.Struct(">BQQq").unpack_from
_said = struct.Struct(">BQ").unpack_from
_stream_commit = struct.Struct(">IBQQq").unpack_from
_stream_abort = struct.Struct(">II").unpack_from

STREAM_STOP = ord("E")

_TEXT, _NULL, _SAME = b"tnu"
_OLD, _KEY, _NEW = b"OKN"


def read_message(payload: bytes) -> Message:
    """What one message of the stream says."""
    kind = payload[0]
    reader = _READERS.get(kind)
    return Other(chr(kind)) if reader is None else reader(payload)


def read_row(payload: bytes) -> Insert | Update | Delete:
    """What a message says that is a row."""
    message = read_message(payload)
    assert isinstance(message, Insert | Update | Delete), message
    return message


def outside(payload: bytes) -> tuple[int, bytes]:
    """A message from within a stream: the (sub)transaction it is of, and the message as it is outside of streams."""
    return int.from_bytes(payload[1:5]), payload[:1] + payload[5:]


def _read_begin(payload: bytes) -> Begin:
    commit_at, moment, xid = _begin(payload, 1)
    return Begin(commit_at, EPOCH + moment / 1e6, xid)


def _read_commit(payload: bytes) -> Commit:
    _, _, end, moment = _commit(payload, 1)
    return Commit(end, EPOCH + moment / 1e6)


def _read_relation(payload: bytes) -> Relation:
    (relation,) = _length(payload, 1)
    schema, at = _read_name(payload, 5)
    name, at = _read_name(payload, at)
    identity = chr(payload[at])
    (count,) = _short(payload, at + 1)
    at += 3
    columns = []
    for _ in range(count):
        is_key = bool(payload[at] & 1)
        column, at = _read_name(payload, at + 1)
        type_oid, modifier = _type(payload, at)
        at += 8
        columns.append(RelationColumn(column, type_oid, is_key, modifier))
    # The server writes pg_catalog as nothing.
    return Relation(relation, schema or "pg_catalog", name, identity, tuple(columns))


def _read_insert(payload: bytes) -> Insert:
    (relation,) = _length(payload, 1)
    new, _ = _read_row(payload, 6)
    return Insert(relation, new)


def _read_update(payload: bytes) -> Update:
    (relation,) = _length(payload, 1)
    kind = payload[5]
    if kind == _NEW:
        new, _ = _read_row(payload, 6)
        return Update(relation, None, False, new)
    old, at = _read_row(payload, 6)
    new, _ = _read_row(payload, at + 1)
    return Update(relation, old, kind == _OLD, new)


def _read_delete(payload: bytes) -> Delete:
    (relation,) = _length(payload, 1)
    old, _ = _read_row(payload, 6)
    return Delete(relation, old, payload[5] == _OLD)


def _read_truncate(payload: bytes) -> Truncate:
    (count,) = _length(payload, 1)
    return Truncate(struct.unpack_from(f">{count}I", payload, 6))


def _read_said(payload: bytes) -> Said:
    flags, place = _said(payload, 1)
    prefix, at = _read_name(payload, 10)
    (size,) = _length(payload, at)
    return Said(bool(flags & 1), place, prefix, payload[at + 4 : at + 4 + size])


def _read_stream_commit(payload: bytes) -> StreamCommit:
    xid, _, commit_at, end, moment = _stream_commit(payload, 1)
    return StreamCommit(xid, commit_at, end, EPOCH + moment / 1e6)


def _read_row(payload: bytes, at: int) -> tuple[list[Value], int]:
    """The values of a row and the place after it. The hottest loop of the capture."""
    (count,) = _short(payload, at)
    at += 2
    values: list[Value] = []
    add = values.append
    for _ in range(count):
        kind = payload[at]
        if kind == _TEXT:
            start = at + 5
            at = start + _length(payload, at + 1)[0]
            add(payload[start:at])
        elif kind == _NULL:
            add(None)
            at += 1
        elif kind == _SAME:
            add(SAME)
            at += 1
        else:
            raise ValueError(f"the stream holds a value of unknown form {chr(kind)!r}")
    return values, at


def _read_name(payload: bytes, at: int) -> tuple[str, int]:
    end = payload.index(b"\0", at)
    return payload[at:end].decode(), end + 1


_READERS: dict[int, Callable[[bytes], Message]] = {
    ord("B"): _read_begin,
    ord("C"): _read_commit,
    ord("R"): _read_relation,
    ord("I"): _read_insert,
    ord("U"): _read_update,
    ord("D"): _read_delete,
    ord("T"): _read_truncate,
    ord("M"): _read_said,
    ord("S"): lambda payload: StreamStart(*_length(payload, 1)),
    STREAM_STOP: lambda _: StreamStop(),
    ord("c"): _read_stream_commit,
    # Behind these a server that streams in parallel says where and when.
    ord("A"): lambda payload: StreamAbort(*_stream_abort(payload, 1)),
}
