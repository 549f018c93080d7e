"""The columns of a sink table against what a lake can hold and what its table has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headwater.errors import SinkError
from headwater.nearest import nearest
from headwater.schema import Column, arrow_type
from headwater.sinks.base import SinkTable

UNKNOWN = re.compile(
    r"(?:^|[:<,])(void|variant|interval[a-z ]*|time\(\d\)|geography[^,>]*|geometry[^,>]*)(?=[,>]|$)"
)
"""Types without a counterpart, also inside others; a field may be called like one."""


def check_types(table: SinkTable, lake: str) -> None:
    """Refuse columns that no table of the lake can hold, and keys that cannot be compared."""
    for column in table.schema:
        if UNKNOWN.search(column.type) or not _has_arrow_type(column.type):
            raise SinkError(
                f"column '{column.name}' of sink table '{table.name}' has a type that {lake} does not know",
                detail=f"It is {column.type}.",
                hint="Declare it as another type, and CAST it in the query: a text holds anything.",
                place=table.place,
            )
        if column.name in table.schema.key and "map<" in column.type:
            raise SinkError(
                f"column '{column.name}' of sink table '{table.name}' cannot be in its key",
                detail=f"It is {column.type}, and maps cannot be compared.",
                hint="Choose other columns for the key.",
                place=table.place,
            )


def check_columns(
    table: SinkTable, there: str, found: Sequence[tuple[Column, bool]], *, widened: bool
) -> None:
    """Refuse a table that is there and does not fit; it may have more columns if they may be NULL.

    With `widened` small integers are INT there.
    """
    for declared in table.schema:
        match = [c for c, _ in found if c.name.lower() == declared.name.lower()]
        if not match:
            names = [c.name for c, _ in found]
            near = nearest(declared.name, names)
            raise SinkError(
                f"column '{declared.name}' of sink table '{table.name}' is not in {there}",
                detail=f"Its columns are {', '.join(names)}.",
                hint=f"Did you mean '{near}'?" if near else "Add it there, or remove it here.",
                place=table.place,
            )
        wanted = widened_type(declared.type) if widened else declared.type
        if _comparable(match[0].type) != _comparable(wanted):
            raise SinkError(
                f"column '{declared.name}' of sink table '{table.name}' does not fit {there}",
                detail=f"It is {declared.type} here and {match[0].type} there.",
                hint="Declare it as the table has it, and CAST in the query.",
                place=table.place,
            )
    for column, required in found:
        if required and table.schema.find(column.name) is None:
            raise SinkError(
                f"column '{column.name}' of {there} must have a value and gets none",
                detail=f"It is NOT NULL, and sink table '{table.name}' has no such column.",
                hint="Declare it in the sink table, or make it nullable.",
                place=table.place,
            )


def widened_type(kind: str) -> str:
    """A type in which small integers are INT: `array<int>` for `array<tinyint>`."""
    return re.sub(r"(?<![\w`])(tinyint|smallint)(?![\w`:])", "int", kind)


def _comparable(kind: str) -> str:
    return re.sub(r"\s+", "", kind).lower()


def _has_arrow_type(kind: str) -> bool:
    try:
        arrow_type(kind)
    except ValueError:
        return False
    return True
