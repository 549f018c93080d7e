"""Errors as people read them. Oracle: the text, written by hand."""

from __future__ import annotations

from headwater.cli.complain import error_text
from headwater.errors import HeadwaterError, Place, SqlError


def test_the_place_is_underlined() -> None:
    error = SqlError(
        'column "nope" does not exist',
        detail="It is looked for in t.",
        hint="The columns are a, b.",
        place=Place("claims.sql", 3, 8, "SELECT nope FROM t", 4),
    )
    assert error_text(error).splitlines() == [
        'error: column "nope" does not exist',
        "   --> claims.sql:3:8",
        "    |",
        "  3 | SELECT nope FROM t",
        "    |        ^^^^",
        "detail: It is looked for in t.",
        "hint: The columns are a, b.",
    ]


def test_the_line_ends_no_later_than_the_sql() -> None:
    error = HeadwaterError("wrong", place=Place("a.sql", 120, 3, "a b", 50))
    assert error_text(error).splitlines()[-2:] == [" 120 | a b", "     |   ^"]


def test_a_place_without_text_is_named() -> None:
    assert error_text(HeadwaterError("wrong", place=Place("a.sql", 2, 1))) == "error: wrong\n  --> a.sql:2:1"


def test_a_message_may_stand_alone() -> None:
    assert error_text(HeadwaterError("wrong")) == "error: wrong"
