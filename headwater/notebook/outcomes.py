"""What a database said of plain SQL, as a cell shows it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from headwater.notebook.page import note_html, table_html
from headwater.notebook.plain import table_text
from headwater.sources.base import Outcome


def outcome_html(outcome: Outcome) -> str:
    """The rows, if there are any, and what was done."""
    table = table_html(outcome.columns, outcome.rows, _right(outcome)) if outcome.columns else ""
    return table + note_html(_words(outcome))


def outcome_text(outcome: Outcome) -> str:
    """The same in letters."""
    table = [table_text(outcome.columns, outcome.rows, _right(outcome))] if outcome.columns else []
    return "\n".join([*table, _words(outcome)])


def _right(outcome: Outcome) -> list[bool]:
    """Columns of numbers and nothing else stand on the right."""
    columns = [[row[at] for row in outcome.rows] for at in range(len(outcome.columns))]
    return [
        any(value is not None for value in column)
        and all(value is None or _is_number(value) for value in column)
        for column in columns
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _words(outcome: Outcome) -> str:
    if not outcome.columns:
        return outcome.said
    there = f"{outcome.count:,} row{'' if outcome.count == 1 else 's'}"
    return there if outcome.count <= len(outcome.rows) else f"{len(outcome.rows):,} of {there}"
