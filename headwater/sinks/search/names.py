"""Which index a row goes to and what its document is called.

index 'claims-{day|yyyy.MM}', key (member, day)     ->  claims-2024.03, 17_2024-03-09
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import OptionError
from headwater.formats.encode_json import decimals, times
from headwater.sinks.base import SinkTable

_PART = re.compile(r"\{([^{}|]*)(?:\|([^{}]*))?\}")
_STRFTIME = {
    "yyyy": "%Y",
    "uuuu": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "DDD": "%j",
}


@dataclass(frozen=True)
class Part:
    """A piece of an index name: the same for all rows, or a column, or a column's date by a pattern."""

    text: str = ""
    column: str | None = None
    pattern: str | None = None


IndexName = tuple[Part, ...]


def index_name(table: SinkTable) -> IndexName:
    """The pieces of the option `index`."""
    text: str = table.options.index
    parts: list[Part] = []
    at = 0
    for found in _PART.finditer(text):
        parts += [Part(text[at : found.start()]), _column_part(table, found[1].strip(), found[2])]
        at = found.end()
    rest = text[at:]
    if "{" in rest or "}" in rest or not text.strip():
        raise OptionError(
            f"option 'index' does not take the value '{text}'",
            detail="It is a name, in which {column} and {column|yyyy-MM-dd} stand for a value of each row.",
            place=table.place,
        )
    return tuple(part for part in (*parts, Part(rest)) if part.text or part.column)


def fixed_name(name: IndexName) -> str | None:
    """The name of an index that is the same for all rows, None if it is not."""
    return "".join(part.text for part in name) if all(part.column is None for part in name) else None


def indices(name: IndexName, rows: pa.RecordBatch) -> pa.Array:
    """The index of each row; a NULL in the name gives NULL."""
    texts = [
        _constant(part.text, rows) if part.column is None else _part_text(part, rows.column(part.column))
        for part in name
    ]
    return pc.binary_join_element_wise(*texts, "")


def ids(table: SinkTable, rows: pa.RecordBatch) -> pa.Array:
    """The id of each row's document, from the values of its key."""
    texts = [plain_text(rows.column(name)).fill_null("null") for name in table.schema.key]
    return pc.binary_join_element_wise(*texts, table.options.delimiter)


def plain_text(array: pa.Array) -> pa.Array:
    """Values as they stand in a name or an id."""
    if pa.types.is_decimal(array.type):
        return decimals(array)
    if pa.types.is_timestamp(array.type):
        return times(array, "ISO-8601")
    return array.cast(pa.string())


def check_key(table: SinkTable) -> None:
    """Refuse a key that cannot be part of an id."""
    for column in table.schema:
        nested = column.type.startswith(("array", "map", "struct", "binary"))
        if column.name in table.schema.key and nested:
            raise OptionError(
                f"column '{column.name}' of type {column.type} cannot be part of a document's id",
                detail=f"The id is made of the values of the key of sink table '{table.name}'.",
                hint="Choose a key of plain values.",
                place=table.place,
            )


def _column_part(table: SinkTable, name: str, pattern: str | None) -> Part:
    if name.lower() in ("now()", "now", "current_timestamp"):
        raise OptionError(
            f"option 'index' cannot hold {{{name}}}",
            detail="A batch that is repeated after a crash would go to another index if the day has changed.",
            hint="Use a column of the row, as {created|yyyy-MM-dd}.",
            place=table.place,
        )
    column = table.schema.find(name)
    if column is None:
        raise OptionError(
            f"option 'index' names column '{name}', which the table does not have",
            detail=f"The columns are {', '.join(table.schema.names)}.",
            place=table.place,
        )
    if pattern is None:
        return Part(column=column.name)
    if not column.type.startswith(("date", "timestamp")):
        raise OptionError(
            f"column '{column.name}' of type {column.type} has no date for option 'index'",
            detail=f"The pattern '{pattern}' is for columns of type DATE or TIMESTAMP.",
            hint=f"Write {{{column.name}}} to have its value in the name.",
            place=table.place,
        )
    return Part(column=column.name, pattern=_strftime(pattern.strip(), table))


def _strftime(pattern: str, table: SinkTable) -> str:
    def one(found: re.Match[str]) -> str:
        letters = found[0]
        if letters not in _STRFTIME:
            raise OptionError(
                f"'{letters}' in the date pattern of option 'index' is not known",
                detail=f"The pattern is '{pattern}'; it can hold {', '.join(_STRFTIME)}.",
                place=table.place,
            )
        return _STRFTIME[letters]

    return re.sub(r"([A-Za-z])\1*", one, pattern.replace("%", "%%"))


def _part_text(part: Part, array: pa.Array) -> pa.Array:
    return plain_text(array) if part.pattern is None else pc.strftime(array, format=part.pattern)


def _constant(text: str, rows: pa.RecordBatch) -> pa.Array:
    return pa.repeat(pa.scalar(text), rows.num_rows)
