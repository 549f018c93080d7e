"""Rows in the forms in which they leave: JSON, CSV, and Arrow as a stream."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import UsageError
from headwater.formats.encode_json import JsonText, column, decimals, objects, times
from headwater.nearest import nearest_hint
from headwater.schema import Schema, arrow_schema

MEDIA = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "arrow": "application/vnd.apache.arrow.stream",
}
"""The forms, and what they are called on the wire; the first is what is sent to who does not say."""

Batches = Iterator[pa.RecordBatch]


def chosen_form(said: str | None, accept: str) -> str:
    """The form that was asked for by name, else the first of those that are accepted."""
    if said is not None:
        if said not in MEDIA:
            raise UsageError(f"'{said[:100]}' is no form of rows", hint=nearest_hint(said, [*MEDIA], "forms"))
        return said
    for one in accept.split(","):
        media = one.split(";")[0].strip().lower()
        for form, known in MEDIA.items():
            if media == known.split(";")[0]:
                return form
    return "json"


def written(form: str, schema: Schema, batches: Batches, *, head: Mapping[str, Any]) -> Iterator[bytes]:
    """All rows, piece by piece; in JSON `head` goes before them."""
    match form:
        case "csv":
            return _csv(schema, batches)
        case "arrow":
            return _arrow(schema, batches)
        case _:
            return _json(schema, batches, head)


def row_objects(schema: Schema, batch: pa.RecordBatch) -> list[str]:
    """Each row as a JSON object."""
    return [str(one) for one in objects(_fields(schema, batch), _JSON).to_pylist()]


_JSON = JsonText(timestamps="ISO-8601")


def _fields(schema: Schema, batch: pa.RecordBatch) -> list[tuple[str, pa.Array]]:
    return [(name, batch.column(place)) for place, name in enumerate(schema.names)]


def _json(schema: Schema, batches: Batches, head: Mapping[str, Any]) -> Iterator[bytes]:
    opened = json.dumps(dict(head), ensure_ascii=False)
    yield f'{opened[:-1]}, "rows": ['.encode()
    before = "\n"
    for batch in batches:
        rows = row_objects(schema, batch)
        if rows:
            yield (before + ",\n".join(rows)).encode()
            before = ",\n"
    yield b"\n]}\n"


def _csv(schema: Schema, batches: Batches) -> Iterator[bytes]:
    """NULL is nothing, and empty text two quotes; values within values are JSON."""
    yield (",".join(_quoted(pa.array(schema.names)).to_pylist()) + "\n").encode()
    for batch in batches:
        cells = [_cells(array) for _, array in _fields(schema, batch)]
        found = pc.binary_join_element_wise(*cells, ",").to_pylist()
        yield "".join(f"{line}\n" for line in found).encode()


def _cells(array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_string(kind):
        text = _quoted(array)
    elif pa.types.is_decimal(kind):
        text = decimals(array)
    elif pa.types.is_timestamp(kind):
        text = times(array, _JSON.timestamps)
    elif pa.types.is_binary(kind):
        text = _quoted(pc.replace_substring(column(array, _JSON), '"', ""))
    elif pa.types.is_nested(kind):
        text = _quoted(column(array, _JSON))
    else:
        text = array.cast(pa.string())
    return text.fill_null("")


def _quoted(text: pa.Array) -> pa.Array:
    needed = pc.match_substring_regex(text, r'^$|[",\r\n]')
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise('"', doubled, '"', ""), text)


class _Pieces(io.RawIOBase):
    """A file that hands on what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def writable(self) -> bool:
        """It is for writing."""
        return True

    def write(self, given: Any) -> int:
        """Keep it until it is taken."""
        self._held += given
        return len(given)

    def taken(self) -> bytes:
        """What was written since it was last asked."""
        found = bytes(self._held)
        self._held.clear()
        return found


def _arrow(schema: Schema, batches: Batches) -> Iterator[bytes]:
    pieces = _Pieces()
    with pa.PythonFile(pieces, mode="w") as file:
        with pa.ipc.new_stream(file, arrow_schema(schema)) as writer:
            for batch in batches:
                writer.write_batch(batch)
                yield pieces.taken()
        yield pieces.taken()
