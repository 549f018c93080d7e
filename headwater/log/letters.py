"""Rows with a value that does not fit its declared type, put aside by choice: rows of `headwater.dead_letters`.

    orders (7, NaN), total DECIMAL(10,2)   ->   orders | total | {"id": "7", "total": "NaN"} | 0/16B3748

In a log the letters of a table are segments of it, known by the names of their files: they come to light, and go, with
the table's own. Whoever reads the log gets those of all tables as events of the table of dead letters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from headwater.log.events import INSERT, KIND, POSITION, UNCHANGED, WEIGHTS, told_schema
from headwater.log.positions import Position
from headwater.log.shards import declared_name
from headwater.log.text_values import SHOWN, misfit
from headwater.schema import WEIGHT, Column, Schema

DEAD_LETTERS = "headwater.dead_letters"

LETTER_SCHEMA = Schema(
    (
        Column("table_name", "string"),
        Column("topic", "string"),
        Column("partition", "int"),
        Column("offset", "bigint"),
        Column("key", "binary"),
        Column("value", "binary"),
        Column("error", "string"),
        Column("column_name", "string"),
        Column("position", "string"),
    )
)
"""The first columns tell of a message where it stood and what it was; a row of a database has the last two instead."""

_MARK = "\x1e"
"""No table of a log has this in its name."""

_IN_FILE = ".letters"
_ENDING = ".parquet"

_ESCAPES = {chr(code): f"\\u{code:04x}" for code in range(32)}
_ESCAPES |= {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f", '"': '\\"'}


def letters_name(table: str) -> str:
    """The name under which letters of a table are handed to a log."""
    return table + _MARK


def table_of(name: str) -> str:
    """The table of which something is handed to a log."""
    return name.removesuffix(_MARK)


def letters_file(file: str) -> str:
    """What a file is called that has letters: `7.parquet` is `7.letters.parquet` then."""
    return f"{file.removesuffix(_ENDING)}{_IN_FILE}{_ENDING}"


def letters_stem(stem: str) -> str:
    """The same for files that are numbered."""
    return stem + _IN_FILE


def is_letters(file: str) -> bool:
    """True if a file of a log has letters."""
    return _IN_FILE in file


@dataclass(frozen=True)
class Read:
    """Rows of a table as text, and of each column why a value does not fit; None where all of them do."""

    table: str
    columns: tuple[Column, ...]
    texts: tuple[pa.Array, ...]
    reasons: tuple[pa.Array | None, ...]

    def unfit(self, columns: Sequence[str] | None = None) -> pa.Array:
        """True where a value of one of some columns does not fit; of all if none are named."""
        found = pa.repeat(False, len(self.texts[0]))
        for column, reasons in zip(self.columns, self.reasons, strict=True):
            if reasons is not None and (columns is None or column.name in columns):
                found = pc.or_(found, pc.is_valid(reasons))
        return found

    def filter(self, mask: pa.Array) -> Read:
        """Some of the rows."""
        texts = tuple(one.filter(mask) for one in self.texts)
        reasons = tuple(None if one is None else one.filter(mask) for one in self.reasons)
        return Read(self.table, self.columns, texts, reasons)


def letters(read: Read, beside: Mapping[str, pa.Array], places: pa.Array) -> pa.Table:
    """Rows of which each has a value that does not fit, as events of the table of dead letters.

    `beside` is what is told of the rows beside their values; `places` are their positions in the log of the server.
    """
    count = len(places)
    names, errors = pa.nulls(count, pa.string()), pa.nulls(count, pa.string())
    for column, texts, reasons in zip(read.columns, read.texts, read.reasons, strict=True):
        if reasons is not None:
            is_first = pc.and_(pc.is_null(names), pc.is_valid(reasons))
            names = pc.if_else(is_first, column.name, names)
            errors = pc.if_else(is_first, _error(read.table, column, texts, reasons), errors)
    told = places.dictionary_encode()
    shown = pa.array([str(Position(one, "lsn")) for one in told.dictionary.to_pylist()], pa.string())
    known = {
        "table_name": pa.repeat(declared_name(read.table), count),
        "value": _row_texts(read, beside.get(UNCHANGED)).cast(pa.binary()),
        "error": errors,
        "column_name": names,
        "position": shown.take(told.indices),
        **beside,
        KIND: pa.repeat(INSERT, count),
        WEIGHT: pa.repeat(pa.scalar(WEIGHTS[INSERT], pa.int8()), count),
        UNCHANGED: pa.nulls(count, pa.list_(pa.string())),
    }
    schema = told_schema(LETTER_SCHEMA)
    columns = [known.get(field.name, pa.nulls(count, field.type)) for field in schema]
    assert POSITION in beside
    return pa.Table.from_arrays(columns, schema=schema)


def _error(table: str, column: Column, texts: pa.Array, reasons: pa.Array) -> pa.Array:
    said = misfit(column, table)
    shown = pc.utf8_slice_codeunits(texts, 0, SHOWN)
    cut = pc.if_else(pc.greater(pc.utf8_length(texts), SHOWN), "...", "")
    return pc.binary_join_element_wise(f"{said}: the value is '", shown, cut, "' (", reasons, ")", "")


def _row_texts(read: Read, unchanged: pa.Array | None) -> pa.Array:
    """Rows as JSON: of each value its text as the server sent it, null for NULL; what it did not send is left out."""
    gaps = None
    if unchanged is not None and unchanged.null_count < len(unchanged):
        # Large values that did not change, in rows that do not fit: few of few.
        gaps = [frozenset(names or ()) for names in unchanged.to_pylist()]
    parts = []
    for column, texts in zip(read.columns, read.texts, strict=True):
        name = json.dumps(column.name, ensure_ascii=False) + ": "
        part = pc.fill_null(pc.binary_join_element_wise(name, _quoted(texts), ""), name + "null")
        if gaps is not None:
            is_gap = pa.array([column.name in names for names in gaps], pa.bool_())
            part = pc.if_else(is_gap, pa.scalar(None, pa.string()), part)
        parts.append(part)
    whole = pc.binary_join_element_wise(*parts, ", ", null_handling="skip")
    return pc.binary_join_element_wise("{", whole, "}", "")


def _quoted(texts: pa.Array) -> pa.Array:
    r"""Texts as JSON writes them: `a"b` is `"a\"b"`."""
    if pc.any(pc.match_substring(texts, "\\")).as_py():
        texts = pc.replace_substring(texts, "\\", "\\\\")
    if pc.any(pc.match_substring_regex(texts, r'[\x00-\x1f"]')).as_py():
        for sign, written in _ESCAPES.items():
            texts = pc.replace_substring(texts, sign, written)
    return pc.binary_join_element_wise('"', texts, '"', "")
