"""Values as text. Oracle: written by hand."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from headwater.cli.cells import cell_text, csv_line, json_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "true"),
        (12, "12"),
        (1200.0, "1200"),
        (0.1 + 0.2, "0.3"),
        (float("nan"), "nan"),
        (Decimal("1.50"), "1.50"),
        (Decimal("1E+3"), "1000"),
        (datetime.datetime(2024, 1, 31, 10), "2024-01-31 10:00:00"),
        (datetime.date(2024, 1, 31), "2024-01-31"),
        (b"\x00\xff", "00ff"),
        ("two\nlines \x1b[31m", "two\\nlines \\x1b[31m"),
        ("Žižkov", "Žižkov"),
        ([1, None, "a"], '[1, null, "a"]'),
        ({"a": Decimal("1.5")}, '{"a": "1.5"}'),
    ],
)
def test_a_value_is_shown_as(value: Any, text: str) -> None:
    assert cell_text(value) == text


def test_csv_tells_null_from_empty_text_and_keeps_every_digit() -> None:
    assert csv_line([None, "", "a,b", 'say "x"', 0.1 + 0.2, 3]) == (
        ',"","a,b","say ""x""",0.30000000000000004,3'
    )


def test_json_keeps_numbers_and_writes_as_text_what_json_lacks() -> None:
    assert json_value([1, 1.5, float("inf"), Decimal("2.50"), None]) == [1, 1.5, "inf", "2.50", None]
