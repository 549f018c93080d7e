"""Values as text: for tables, lines, CSV and JSON."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from typing import Any

NULL = "NULL"


def cell_text(value: Any) -> str:
    """A value for people: `NULL`, `true`, `1234.5`, `2024-01-31 10:00:00`."""
    match value:
        case None:
            return NULL
        case bool():
            return "true" if value else "false"
        case float():
            # A double surely holds fifteen digits; what follows is noise such as 0.30000000000000004.
            return f"{value:.15g}"
        case Decimal():
            return f"{value:f}"
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case bytes():
            return value.hex()
        case str():
            return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in value)
        case list() | tuple() | dict():
            return json.dumps(json_value(value), ensure_ascii=False)
        case _:
            return str(value)


def json_value(value: Any) -> Any:
    """A value as JSON has it; decimals and what JSON lacks become text, so that no digit is lost."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case list() | tuple():
            return [json_value(item) for item in value]
        case dict():
            return {str(key): json_value(item) for key, item in value.items()}
        case _:
            return cell_text(value)


def csv_line(values: list[Any]) -> str:
    """One line of CSV, in which NULL is nothing and empty text is two quotes."""
    return ",".join(_csv_field(value) for value in values)


def _csv_field(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else _exact(value)
    if text == "" or any(letter in text for letter in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _exact(value: Any) -> str:
    return repr(value) if isinstance(value, float) else cell_text(value)
