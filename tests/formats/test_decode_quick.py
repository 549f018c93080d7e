"""The short query tells what the long one tells, or says that it does not know.

Oracle: the long query over the same messages.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from headwater.formats.decode import UNREAD, Reading, decoding, quick_decoding
from tests.formats.decoded import MYSQL, PLACEHOLDER, POSTGRES, messages, reading, rows_of, unscaled

COLUMNS = {
    "id": "int",
    "Name": "string",
    "x": "double",
    "ok": "boolean",
    "amount": "decimal(10,2)",
    "at": "timestamp_ntz",
    "moment": "timestamp",
    "day": "date",
    "photo": "binary",
    "tags": "array<string>",
    "counts": "array<bigint>",
    "prices": "array<decimal(9,3)>",
}
GOOD: dict[str, list[Any]] = {
    "id": [1, 2, 3],
    "Name": ["a", None, "ü"],
    "x": [0.25, -1e300, "NaN", None],
    "ok": [True, False, 1, None],
    "amount": [unscaled(12345), unscaled(-1), unscaled(0), None],
    "at": [1577836800123456, -1, 0, None],
    "moment": ["2020-01-01T00:00:00.123456Z", "2020-01-01T00:00:00+02:00", None],
    "day": [18262, -5, None],
    "photo": ["YWJj", "", None],
    "tags": [[], ["a", None], None],
    "counts": [[1, 2], [], None],
    "prices": [[unscaled(1500)], None],
}
ODD: list[Any] = [None, 0, -7, 2**40, 1.5, "5", "text", 'q"\\ü☃', True, [1], {"a": 1}, PLACEHOLDER, ""]
ODD += ["12.50", "9999-12-31", {"scale": 1, "value": "AQ=="}, [PLACEHOLDER], list(PLACEHOLDER.encode())]


def event(dice: random.Random, number: int) -> bytes:
    """An event of some kind, most probably a good one."""
    row = {name: dice.choice(values) for name, values in GOOD.items()}
    if dice.random() < 0.3:
        row[dice.choice(list(COLUMNS))] = dice.choice(ODD)
    if dice.random() < 0.1:
        row.pop("x", None)
    op = dice.choice("crudtmx" if dice.random() < 0.3 else "crud")
    old = dict(row) | {"id": dice.randint(1, 3)} if dice.random() < 0.7 else None
    said: dict[str, Any] = {"before": old if op in "ud" else None, "after": None if op in "dtm" else row}
    sequence = f'[null,"{number}"]' if number % 2 else f'["{number - 1}","{number}"]'
    source = dice.choice([POSTGRES | {"sequence": sequence}] * 8 + [MYSQL, {"connector": "db2"}, None])
    said |= {"op": op, "source": source}
    return json.dumps({"schema": None, "payload": said} if dice.random() < 0.05 else said).encode()


def everything() -> list[bytes | None]:
    """Events of every kind, some with values nobody expects, and what is no event at all."""
    dice = random.Random(7)
    values: list[bytes | None] = [None, b"", b"null", b"{}", b"[]", b"oh", b'{"op": "c"}', b'{"op": "c"} x']
    return values + [event(dice, number) for number in range(1500)]


def debezium(columns: dict[str, str], key: tuple[str, ...] = ()) -> Reading:
    """A table of Debezium's events."""
    return reading(columns, key=key, kind="changelog", options={"format": "debezium-json"})


@pytest.mark.jvm
@pytest.mark.parametrize("key", [(), ("id",)])
def test_what_the_short_query_tells_the_long_one_tells_too(key: tuple[str, ...]) -> None:
    table = messages([(b'{"id": 1}', value) for value in everything()])
    quick = quick_decoding(debezium(COLUMNS, key))
    assert quick is not None
    short, long = rows_of(quick, table), rows_of(decoding(debezium(COLUMNS, key)), table)
    unread = {row["__hw_offset"] for row in short if row["__hw_error"] == UNREAD}
    seen = [[repr(row) for row in rows if row["__hw_offset"] not in unread] for rows in (short, long)]
    assert seen[0] == seen[1]
    assert len(seen[0]) > 300 and len(unread) > 300


def test_a_table_with_maps_or_rows_needs_the_long_query() -> None:
    for kind in ("map<string,string>", "struct<a:int>"):
        assert quick_decoding(debezium({"id": "int", "a": kind}, ("id",))) is None
