"""The events of a binary log of MySQL or MariaDB, one by one.

Only what tells of rows and transactions is taken apart; what a row's bytes mean is in `binlog_rows`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow as pa

HEADER = 19
ARTIFICIAL = 0x20
"""The flag of an event that was made for the reader and stands in no file."""


class Header(NamedTuple):
    """What every event begins with."""

    time: int
    kind: int
    server_id: int
    size: int
    end: int
    """Where the event ends in its file, without what is above 4 GB."""
    flags: int


class Rotate(NamedTuple):
    """The events that follow stand in another file."""

    file: str
    position: int


class Format(NamedTuple):
    """How the events that follow are written."""

    version: str


class Gtid(NamedTuple):
    """A transaction begins, and has this name."""

    source: str
    """The server that committed it first: a UUID, or the domain and the server of MariaDB as `0-1`."""
    number: int
    micros: int | None = None
    """When it was committed, in microseconds since 1970, if the server says so."""
    is_alone: bool | None = None
    """True if it is one statement without an end of its own; None if the server does not say."""


class Query(NamedTuple):
    """A statement, such as BEGIN or one that changes a table's definition."""

    schema: str
    text: str


class TableMap(NamedTuple):
    """A table as the rows that follow are written: the types of its columns, and what is known beyond."""

    id: int
    schema: str
    name: str
    types: bytes
    metadata: bytes
    extras: dict[int, bytes]


class Rows(NamedTuple):
    """Rows that came (`write`), changed (`update`) or went (`delete`); `data` holds them one after the other."""

    kind: str
    table: int
    width: int
    data: bytes
    is_whole: bool
    """False if some columns were left out."""


class Xid(NamedTuple):
    """A transaction was committed."""


class Prepared(NamedTuple):
    """A transaction of two phases was prepared; whether it will be committed is not known."""


class Partial(NamedTuple):
    """Rows of which only parts of JSON values were written."""

    table: int


class Incident(NamedTuple):
    """The server says that it lost events."""

    text: str


class Packed(NamedTuple):
    """The events of a transaction, compressed."""

    events: bytes


class Other(NamedTuple):
    """Something that changes no row."""

    kind: int


Event = (
    Rotate | Format | Gtid | Query | TableMap | Rows | Xid | Prepared | Partial | Incident | Packed | Other
)

_header = struct.Struct("<IBIIIH").unpack_from
_rotate = struct.Struct("<Q").unpack_from
_query = struct.Struct("<IIBHH").unpack_from
_gtid_maria = struct.Struct("<QIB").unpack_from
_short = struct.Struct("<H").unpack_from

_COMMIT_STAMPS = 2
_STANDALONE = 1


def header_of(data: bytes) -> Header:
    """The header of an event."""
    return Header._make(_header(data))


def read_event(data: bytes, header: Header) -> Event:
    """Take one event apart; `data` holds it whole, without a checksum."""
    reader = _READERS.get(header.kind)
    return Other(header.kind) if reader is None else reader(data, header)


def unpacked(events: bytes) -> Iterator[tuple[Header, bytes]]:
    """The events within a packed one."""
    at = 0
    while at < len(events):
        header = header_of(events[at : at + HEADER])
        yield header, events[at : at + header.size]
        at += header.size


def packed_integer(data: bytes, at: int) -> tuple[int, int]:
    """An integer whose length its first byte tells, and where it ends."""
    first = data[at]
    if first < 0xFB:
        return first, at + 1
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1 : at + 1 + size], "little"), at + 1 + size


def _rotated(data: bytes, _: Header) -> Rotate:
    (position,) = _rotate(data, HEADER)
    return Rotate(data[HEADER + 8 :].decode(), position)


def _format(data: bytes, _: Header) -> Format:
    return Format(data[HEADER + 2 : HEADER + 52].rstrip(b"\0").decode())


def _gtid(data: bytes, _: Header) -> Gtid:
    raw = data[HEADER + 1 : HEADER + 17].hex()
    source = "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
    number = int.from_bytes(data[HEADER + 17 : HEADER + 25], "little")
    micros = None
    stamps = HEADER + 25
    if len(data) >= stamps + 17 + 7 and data[stamps] == _COMMIT_STAMPS:
        # The highest bit says whether another time follows: that of the server that committed it first.
        micros = int.from_bytes(data[stamps + 17 : stamps + 24], "little") & (1 << 55) - 1
    return Gtid(source, number, micros)


def _gtid_of_maria(data: bytes, header: Header) -> Gtid:
    number, domain, flags = _gtid_maria(data, HEADER)
    return Gtid(f"{domain}-{header.server_id}", number, is_alone=bool(flags & _STANDALONE))


def _queried(data: bytes, _: Header) -> Query:
    _, _, schema_size, _, status_size = _query(data, HEADER)
    at = HEADER + 13 + status_size
    schema = data[at : at + schema_size].decode()
    return Query(schema, data[at + schema_size + 1 :].decode(errors="replace"))


def _queried_packed(data: bytes, header: Header) -> Query:
    _, _, schema_size, _, status_size = _query(data, HEADER)
    at = HEADER + 13 + status_size + schema_size + 1
    return _queried(data[:at] + _inflated(data[at:]), header)


def _mapped(data: bytes, _: Header) -> TableMap:
    at = HEADER + 8
    schema, at = _name(data, at)
    table, at = _name(data, at)
    width, at = packed_integer(data, at)
    types = data[at : at + width]
    size, at = packed_integer(data, at + width)
    metadata = data[at : at + size]
    at += size + (width + 7) // 8
    extras = {}
    while at < len(data):
        kind = data[at]
        size, at = packed_integer(data, at + 1)
        extras[kind] = data[at : at + size]
        at += size
    return TableMap(_table_id(data), schema, table, types, metadata, extras)


def _name(data: bytes, at: int) -> tuple[str, int]:
    size = data[at]
    # A zero byte stands behind it.
    return data[at + 1 : at + 1 + size].decode(), at + size + 2


def _table_id(data: bytes) -> int:
    return int.from_bytes(data[HEADER : HEADER + 6], "little")


def _rows(kind: str, version: int, *, packed: bool = False) -> Callable[[bytes, Header], Rows]:
    def read(data: bytes, _: Header) -> Rows:
        at = HEADER + 8
        if version == 2:  # the number of the format
            at += _short(data, at)[0]
        width, at = packed_integer(data, at)
        size = (width + 7) // 8
        images = 2 if kind == "update" else 1
        present = data[at : at + size * images]
        body = data[at + size * images :]
        # Bits behind the last column are set or not.
        whole = (1 << width) - 1
        bitmaps = [
            int.from_bytes(present[i : i + size], "little") & whole for i in range(0, len(present), size)
        ]
        rows = _inflated(body) if packed else body
        return Rows(kind, _table_id(data), width, rows, all(bits == whole for bits in bitmaps))

    return read


def _inflated(data: bytes) -> bytes:
    """What MariaDB compressed: a byte that tells how long the length is, the length, and the rest."""
    return zlib.decompress(data[1 + (data[0] & 7) :])


_END, _COMPRESSION, _SIZE = 0, 2, 3
"""What is told of packed events: that this was all, how they were packed, and how long they were."""
_ZSTD = 0


def _packed(data: bytes, _: Header) -> Packed:
    at, fields = HEADER, {}
    while data[at] != _END:
        kind, at = packed_integer(data, at)
        size, at = packed_integer(data, at)
        fields[kind] = data[at : at + size]
        at += size
    payload = data[at + 1 :]
    if packed_integer(fields[_COMPRESSION], 0)[0] != _ZSTD:
        return Packed(payload)
    size, _at = packed_integer(fields[_SIZE], 0)
    return Packed(pa.decompress(payload, size, codec="zstd", asbytes=True))


_READERS: dict[int, Callable[[bytes, Header], Event]] = {
    2: _queried,
    4: _rotated,
    15: _format,
    16: lambda data, header: Xid(),
    19: _mapped,
    23: _rows("write", 1),
    24: _rows("update", 1),
    25: _rows("delete", 1),
    26: lambda data, header: Incident(data[HEADER + 3 :].decode(errors="replace")),
    30: _rows("write", 2),
    31: _rows("update", 2),
    32: _rows("delete", 2),
    33: _gtid,
    34: _gtid,
    # The first byte says that the transaction was prepared and committed at once.
    38: lambda data, header: Xid() if data[HEADER] else Prepared(),
    39: lambda data, header: Partial(_table_id(data)),
    40: _packed,
    162: _gtid_of_maria,
    165: _queried_packed,
    166: _rows("write", 1, packed=True),
    167: _rows("update", 1, packed=True),
    168: _rows("delete", 1, packed=True),
    169: _rows("write", 2, packed=True),
    170: _rows("update", 2, packed=True),
    171: _rows("delete", 2, packed=True),
}
