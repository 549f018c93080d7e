"""The short query tells what the long one tells, or says that it does not know.

Oracle: the long query over the same messages.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest

from headwater.formats.decode import UNREAD, Reading, decoding, quick_decoding
from headwater.formats.options import FormatOptions, formats_of
from headwater.log.events import message_schema
from headwater.schema import Column, Schema
from headwater.services.java import java_home
from headwater.spark.session import open_session
from headwater.spark.text import to_text

pytestmark = pytest.mark.jvm

COLUMNS = (Column("id", "int"), Column("Name", "string"), Column("x", "double"), Column("ok", "boolean"))
ODD = [
    None,
    0,
    -7,
    2**40,
    1.5,
    "5",
    "text",
    'q"\\ü☃',
    True,
    [1],
    {"a": 1},
    "__debezium_unavailable_value",
    "",
]


def event(dice: random.Random, number: int) -> bytes:
    """An event of some kind, most probably a good one."""
    row: dict[str, Any] = {
        "id": dice.randint(1, 5),
        "Name": dice.choice(["a", None, "ü"]),
        "x": dice.random(),
    }
    row["ok"] = True
    if dice.random() < 0.3:
        row[dice.choice(["id", "Name", "x", "ok"])] = dice.choice(ODD)
    if dice.random() < 0.1:
        row.pop("x", None)
    op = dice.choice("crudtmx")
    old = dict(row) | {"id": dice.randint(1, 5)} if dice.random() < 0.7 else None
    said: dict[str, Any] = {"before": old if op in "ud" else None, "after": None if op in "dtm" else row}
    source = {"connector": "postgresql", "ts_ms": number, "sequence": f'[null,"{number}"]', "table": "t"}
    said |= {"op": op, "source": source}
    return json.dumps({"schema": None, "payload": said} if dice.random() < 0.1 else said).encode()


def messages() -> pa.Table:
    """Events of every kind, some with values nobody expects, and what is no event at all."""
    dice = random.Random(7)
    values: list[bytes | None] = [None, b"", b"null", b"{}", b"[]", b"oh", b'{"op": "c"}', b'{"op": "c"} x']
    values += [event(dice, number) for number in range(600)]
    count = len(values)
    columns: dict[str, list[Any]] = {
        "topic": ["t"] * count,
        "partition": [0] * count,
        "offset": list(range(count)),
        "timestamp": [0] * count,
        "timestampType": [0] * count,
        "key": [b'{"id": 1}'] * count,
        "value": values,
        "headers": [None] * count,
    }
    return pa.table([pa.array(columns[f.name], f.type) for f in message_schema()], schema=message_schema())


@pytest.mark.parametrize("key", [(), ("id",)])
def test_what_the_short_query_tells_the_long_one_tells_too(key: tuple[str, ...]) -> None:
    schema = Schema(COLUMNS, key)
    reading = Reading(
        schema, formats_of(FormatOptions(format="debezium-json"), schema, place=None), {}, "changelog"
    )
    quick = quick_decoding(reading)
    assert quick is not None
    spark = open_session(java_home(), name="formats")
    spark.createDataFrame(messages()).createOrReplaceTempView("messages")
    told = {True: spark.sql(to_text(quick)).toArrow(), False: spark.sql(to_text(decoding(reading))).toArrow()}
    unread = {row["__hw_offset"] for row in told[True].to_pylist() if row["__hw_error"] == UNREAD}
    seen = [
        sorted(repr(row) for row in table.to_pylist() if row["__hw_offset"] not in unread)
        for table in told.values()
    ]
    assert seen[0] == seen[1]
    assert len(seen[0]) > 100 and len(unread) > 100


def test_a_table_with_times_or_decimals_needs_the_long_query() -> None:
    schema = Schema((Column("id", "int"), Column("at", "timestamp_ntz")), ("id",))
    formats = formats_of(FormatOptions(format="debezium-json"), schema, place=None)
    assert quick_decoding(Reading(schema, formats, {}, "changelog")) is None
