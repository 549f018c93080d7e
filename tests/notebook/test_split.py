"""Texts of plain SQL, split as the server's own SQL separates statements.

Oracle: the statements written here.
"""

from __future__ import annotations

import pytest

from headwater.errors import SqlError
from headwater.runtime.catalog_sql import split
from headwater.sql.places import SourceText


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("/*!40101 SET NAMES utf8 */;\nSELECT 1;", ["/*!40101 SET NAMES utf8 */", "SELECT 1"]),
        ("/*M!100100 SET x = 1 */", ["/*M!100100 SET x = 1 */"]),
        ("CREATE TABLE t (a int) /*!50100 PARTITION BY KEY (a) */;", None),
        ("/*!50003 CREATE */ /*!50017 DEFINER=a */ VIEW v AS SELECT 1", None),
        ("SELECT 1 /* one; /*! no */ ; -- /*! no */\n# /*! no */\n", ["SELECT 1"]),
        ("-- /*!1 a */\n/*!2 b; */ -- x\n;; SELECT '/*! no */'", ["/*!2 b; */", "SELECT '/*! no */'"]),
    ],
)
def test_what_mysql_runs_although_it_looks_like_a_comment_is_sent(
    text: str, pieces: list[str] | None
) -> None:
    found = split(SourceText("a", text), "mysql")
    assert [piece.text for piece in found] == (pieces if pieces is not None else [text.rstrip(";")])
    assert all(text[piece.start :].startswith(piece.text) for piece in found)


def test_for_postgres_a_comment_is_a_comment() -> None:
    assert [p.text for p in split(SourceText("a", "/*! x */; SELECT 1"), "postgres")] == ["SELECT 1"]


@pytest.mark.parametrize(
    ("text", "dialect", "line", "column", "said"),
    [
        ("SELECT 1;\nSELECT 'a; SELECT 2", "mysql", 2, 8, "'"),
        ("SELECT 1;\n\nSELECT `a", "mysql", 3, 8, "`"),
        ("SELECT $$a", "postgres", 1, 8, "$$"),
        ('SELECT 1, "a', "postgres", 1, 11, '"'),
        ("SELECT 1;\nSELECT /* x", "mysql", 2, 8, "/*"),
    ],
)
def test_what_is_not_closed_is_told_with_its_place(
    text: str, dialect: str, line: int, column: int, said: str
) -> None:
    with pytest.raises(SqlError, match="is not closed") as wrong:
        split(SourceText("In [1]", text), dialect)
    place = wrong.value.place
    assert place is not None and (place.line, place.column) == (line, column)
    assert said in wrong.value.message and wrong.value.hint
