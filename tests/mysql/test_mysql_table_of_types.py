"""The table of types in the docs is the one the code goes by.

Oracle: the code, and the types whose values another test reads both ways.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwater.log.text_values import can_read
from headwater.sources.mysql.catalog import ServerColumn
from headwater.sources.mysql.types import _BLOBS, _CODES, family, spark_type
from tests.mysql.kinds import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "sources" / "mysql.md"
ROWS = re.findall(r"^\| `([^`]+)` \|([^|]+)\|([^|]*)\|", PAGE.read_text(), re.MULTILINE)

NUMBERS = ("tinyint", "smallint", "int", "bigint", "double", "decimal(20,0)")
OTHERS = ("boolean", "binary", "date", "timestamp", "timestamp_ntz")


def column(shown: str) -> ServerColumn:
    """A column as the catalog would have it."""
    kind = re.match(r"\w+", shown)
    assert kind is not None
    size = re.fullmatch(r"decimal\((\d+),(\d+)\)", shown)
    precision, scale = map(int, size.groups()) if size else (0, 0)
    return ServerColumn("c", kind[0], shown, precision, scale, "utf8mb4")


@pytest.mark.parametrize(("shown", "here", "also"), ROWS)
def test_a_row_of_the_table_is_true(shown: str, here: str, also: str) -> None:
    found = column(shown)
    assert spark_type(found) == here.strip().lower()
    how = family(found, "UTC")
    if how == "text":
        assert not also.strip()
        return
    listed = [word.lower() for word in re.findall(r"[A-Z_]+(?:\([\d,]+\))?", also)] + [here.strip().lower()]
    assert can_read(how, "string")
    for kind in OTHERS:
        assert can_read(how, kind) == (kind in listed), kind
    for kind in NUMBERS:
        assert can_read(how, kind) == ("any number" in also or kind in listed), kind


def test_every_type_has_a_row() -> None:
    named = {column(shown).kind for shown, _, _ in ROWS}
    blobs = {size + word for size in _BLOBS for word in ("text", "blob")}
    shapes = set(
        re.findall(r"\w+", next(line for line in PAGE.read_text().splitlines() if "`geometry`" in line))
    )
    assert {*_CODES, *blobs} - named - shapes == {"geomcollection"}
    tested = {re.sub(r"\(.*|character set.*| null", "", kind).strip() for kind, _, _ in KINDS.values()}
    assert {re.sub(r"\(.*", "", shown) for shown, _, _ in ROWS} - tested == {"vector"}, (
        "only MySQL 9 and MariaDB 11.7 have vectors"
    )
