"""Values as JSON text, and plain values as the text that databases read."""

from __future__ import annotations

import base64
import json
import math
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa


def scalar_text(value: object) -> str:
    """A plain value as text."""
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return f"\\x{value.hex()}"
        case datetime():
            return value.isoformat(" ")
        case _:
            return str(value)


def json_text(value: object, kind: pa.DataType) -> str:
    """A value as JSON; numbers JSON has no word for become strings, bytes base64."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value) if math.isfinite(value) else f'"{_NOT_FINITE[str(value)]}"'
        case int() | Decimal():
            return format(value, "f" if isinstance(value, Decimal) else "d")
        case bytes():
            return f'"{base64.b64encode(value).decode()}"'
        case date():
            return f'"{value.isoformat()}"'
        case dict():
            parts = (f"{_name(field.name)}:{json_text(value[field.name], field.type)}" for field in kind)
            return "{" + ",".join(parts) + "}"
        case list() if pa.types.is_map(kind):
            parts = (f"{_name(scalar_text(k))}:{json_text(v, kind.item_type)}" for k, v in value)
            return "{" + ",".join(parts) + "}"
        case list():
            return "[" + ",".join(json_text(part, kind.value_type) for part in value) + "]"
        case _:
            return _name(str(value))


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _name(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
