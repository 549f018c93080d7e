"""Typed text falls into statements. Oracle: the pieces, written by hand."""

from __future__ import annotations

import pytest

from headwater.sql.pieces import is_finished, pieces
from headwater.sql.script import parse_script


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" -- nothing\n ; ;", []),
        ("SELECT 1;", [("SELECT 1", True)]),
        ("SELECT 1", [("SELECT 1", False)]),
        ("USE a;\nSELECT ';' -- ; \n;", [("USE a", True), ("SELECT ';'", True)]),
        ("SELECT 'it''s;", [("SELECT 'it''s;", False)]),
        ("SELECT `a;b` /* ; */ FROM t;", [("SELECT `a;b` /* ; */ FROM t", True)]),
        (
            "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END; USE c;",
            [
                ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END", True),
                ("USE c", True),
            ],
        ),
        (
            "BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END;",
            [("BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END", True)],
        ),
        (
            "STATEMENT SET BEGIN INSERT INTO a SELECT 1;",
            [("STATEMENT SET BEGIN INSERT INTO a SELECT 1", False)],
        ),
        ("SELECT CASE WHEN a THEN 1 END;", [("SELECT CASE WHEN a THEN 1 END", True)]),
    ],
)
def test_a_semicolon_ends_a_statement_unless_it_stands_inside_of_something(
    text: str, found: list[tuple[str, bool]]
) -> None:
    assert [(piece.text, piece.is_whole) for piece in pieces(text)] == found


def test_a_text_is_finished_when_its_last_statement_is() -> None:
    assert is_finished("USE a; USE b; -- done")
    assert not is_finished("USE a; USE b")
    assert not is_finished("-- nothing")


def test_a_piece_stands_where_it_stood_in_the_whole() -> None:
    text = "USE a;\n USE b;   USE c;"
    places = [parse_script(piece.in_place(text))[0].place for piece in pieces(text)]
    assert [(place.line, place.column) for place in places] == [(1, 1), (2, 2), (2, 11)]
