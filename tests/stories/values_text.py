"""Values as stories write them, and values as they can be counted."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import pyarrow as pa

from headwater.schema import Schema, arrow_schema
from headwater.sources.values_events import typed


def parsed(text: str, schema: Schema, column: str) -> Any:
    """The value that a cell of a story stands for."""
    if text == "NULL":
        return None
    found = schema.find(column)
    assert found is not None, f"no column {column}"
    kind = arrow_schema(schema).field(found.name).type
    # Rows and arrays are written as JSON: {"prefix": "p", "content": "c"}
    return json.loads(text) if pa.types.is_nested(kind) else typed([text], kind)[0].as_py()


def plain(value: Any) -> Any:
    """A value that can be counted: NaN is made one object, so that it equals itself."""
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    if isinstance(value, dict):
        return tuple((name, plain(inner)) for name, inner in value.items())
    return tuple(value) if isinstance(value, list) else value


def unpacked(value: Any, kind: pa.DataType) -> Any:
    """The row or array that `plain` made countable, as Arrow takes it."""
    if value is None or not pa.types.is_struct(kind):
        return value
    return {name: unpacked(inner, kind.field(name).type) for name, inner in value}


def texts(rows: pa.Table) -> list[tuple[str, ...]]:
    """Rows as stories write them."""
    return [tuple(text_of(value) for value in row.values()) for row in rows.to_pylist()]


def _is_map(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(entry, tuple) for entry in value)


def counted(rows: pa.Table, schema: Schema) -> Counter[tuple[str, ...]]:
    """Rows of the given columns as a bag of what stories write."""
    return Counter(texts(rows.cast(arrow_schema(schema))))


def text_of(value: Any) -> str:
    """A value as stories write it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case float() if math.isfinite(value):
            return f"{value:.9g}"
        case list() if _is_map(value):
            return "{" + ", ".join(sorted(f"{k}: {text_of(v)}" for k, v in value)) + "}"
        case list():
            return "[" + ", ".join(text_of(v) for v in value) + "]"
        case dict():
            return "{" + ", ".join(f"{k}: {text_of(v)}" for k, v in value.items()) + "}"
    return str(value)
