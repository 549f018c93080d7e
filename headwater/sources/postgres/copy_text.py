"""Rows as COPY writes them in its text form: taken in pieces of whole rows, and read into typed columns.

Arrow reads what is certain to be the same value either way (integers, floats, dates, ...) as its type at once. Everything
else is read as text and typed as the stream's texts are; so is a piece in which a value does not fit.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from headwater.errors import Place
from headwater.log.beside import Beside, own_columns
from headwater.log.letters import Read
from headwater.log.text_values import fitting, typed_column
from headwater.schema import Column, Schema, arrow_type
from headwater.sources.dead_letters import OTHERWISE
from headwater.sources.postgres.types import ServerType, family, spark_type

PIECE_BYTES = 4_000_000

NULL = "\\N"

_MARK = b"\xef\xbb\xbf"
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_INTEGERS = {"int2", "int4", "int8", "oid"}
_FLOATS = {"float4", "float8"}
_WHOLE = {"tinyint", "smallint", "int", "bigint"}


@dataclass(frozen=True)
class CopiedTable:
    """A declared table whose first rows are read, and where its columns come from."""

    name: str
    schema: Schema
    columns: tuple[str, ...]
    """What the declared columns are called at the server."""
    types: tuple[ServerType, ...]
    place: Place | None = None
    beside: tuple[Beside, ...] = ()
    """Declared columns that the table at the server does not have."""
    parks: bool = False
    """True if a row with a value that does not fit is put aside; else that is an error."""

    @cached_property
    def own(self) -> tuple[Column, ...]:
        """The declared columns that it has."""
        return own_columns(self.schema, self.beside)

    @cached_property
    def parsed(self) -> tuple[pa.DataType, ...]:
        """What each column is read as: its own type where that is certain, else text."""
        return tuple(
            _certain(column, kind) or pa.string() for column, kind in zip(self.own, self.types, strict=True)
        )


def columns_of(piece: bytes, table: CopiedTable) -> list[pa.Array]:
    """The typed columns of some whole rows; a value that does not fit is an error that names it."""
    try:
        return _typed(_split(piece, table.parsed), table, table.parsed)
    except pa.ArrowInvalid:
        # Some value is not of its type: the way of the stream says which, or knows how to read it.
        texts = (pa.string(),) * len(table.columns)
        return _typed(_split(piece, texts), table, texts)


def fitting_columns(piece: bytes, table: CopiedTable) -> tuple[list[pa.Array], Read]:
    """The same with NULL where a value does not fit, and the rows as text with the reasons."""
    texts = tuple(map(plain, _split(piece, (pa.string(),) * len(table.columns))))
    found = [
        fitting(one, column.type, family(kind))
        for one, column, kind in zip(texts, table.own, table.types, strict=True)
    ]
    read = Read(table.name, table.own, texts, tuple(reasons for _, reasons in found))
    return [values for values, _ in found], read


def _certain(column: Column, kind: ServerType) -> pa.DataType | None:
    """The type as which Arrow reads a column exactly as `text_values` would, None if that is not certain.

    >>> _certain(Column("id", "int"), ServerType("int4"))
    DataType(int32)
    """
    if kind.is_array:
        return None
    is_certain = (
        (kind.name in _INTEGERS and column.type in _WHOLE)
        or (kind.name in _INTEGERS | _FLOATS and column.type == "double")
        or (kind.name, column.type)
        in (
            # A double that is read as a float may be too large for it, which Arrow does not say.
            ("float4", "float"),
            ("bool", "boolean"),
            ("date", "date"),
            ("timestamp", "timestamp_ntz"),
            ("timestamptz", "timestamp"),
        )
        # The server itself keeps such a number within its digits.
        or (kind.name == "numeric" and kind.modifier >= 0 and column.type == spark_type(kind))
    )
    return arrow_type(column.type) if is_certain else None


def _split(piece: bytes, types: tuple[pa.DataType, ...]) -> list[pa.Array]:
    convert = csv.ConvertOptions(
        column_types={f"f{i}": kind for i, kind in enumerate(types)},
        null_values=[NULL],
        strings_can_be_null=True,
        true_values=["t"],
        false_values=["f"],
        # The server sends what the client's encoding asks for, and that is UTF-8.
        check_utf8=False,
    )
    # Arrow takes a mark of byte order off the beginning, also if it is the first value's own.
    piece = _MARK + piece if piece.startswith(_MARK) else piece
    # One block, whatever the size: a value may be longer than any block one would choose.
    read = csv.ReadOptions(autogenerate_column_names=True, block_size=len(piece) + 1, use_threads=False)
    parse = csv.ParseOptions(delimiter="\t", quote_char=False, ignore_empty_lines=False)
    found = csv.read_csv(
        pa.BufferReader(piece), read_options=read, parse_options=parse, convert_options=convert
    )
    return [
        column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in found.columns
    ]


def _typed(values: list[pa.Array], table: CopiedTable, parsed: tuple[pa.DataType, ...]) -> list[pa.Array]:
    return [
        array
        if kind != pa.string()
        else typed_column(
            plain(array),
            column,
            family=family(server),
            table=table.name,
            place=table.place,
            otherwise=OTHERWISE,
        )
        for array, kind, column, server in zip(values, parsed, table.own, table.types, strict=True)
    ]


def plain(texts: pa.Array) -> pa.Array:
    r"""Texts without COPY's escapes: `a\tb\\c` is an a, a tab, b\c.

    No text of Postgres holds a NUL, so that it can stand for a backslash while the others are looked for.
    """
    if not pc.any(pc.match_substring(texts, "\\")).as_py():
        return texts
    texts = pc.replace_substring(texts, "\\\\", "\0")
    if pc.any(pc.match_substring(texts, "\\")).as_py():
        for letter, meant in _ESCAPES.items():
            texts = pc.replace_substring(texts, f"\\{letter}", meant)
    return pc.replace_substring(texts, "\0", "\\")


class _Pieces(io.RawIOBase):
    """Cuts a stream of bytes behind the last row in it; in the text form a line is a row."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self.take = take
        self._rest: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        given = bytes(data)
        end = given.rfind(b"\n") + 1
        if end:
            self.take(b"".join([*self._rest, given[:end]]))
            self._rest = []
        if end < len(given):
            self._rest.append(given[end:])
        return len(given)


@contextmanager
def pieces(take: Callable[[bytes], None]) -> Iterator[io.BufferedIOBase]:
    """A file for COPY to write to, row by row; `take` gets pieces of whole rows.

    The rows are gathered without a step of Python's own for each of them.
    """
    cutter = _Pieces(take)
    with io.BufferedWriter(cutter, PIECE_BYTES) as file:
        try:
            yield file
            file.flush()
        except BaseException:
            # What is left in the file is nobody's business any more.
            cutter.take = lambda _: None
            raise
