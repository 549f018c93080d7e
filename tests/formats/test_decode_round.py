"""What a sink writes, a source reads: values of every type, at the ends of their ranges too."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from headwater.formats import encode
from headwater.formats.decode import decoding
from headwater.schema import arrow_schema
from tests.formats.decoded import complaints, messages, reading, rows_of

pytestmark = pytest.mark.jvm

ROUND = {
    "a": "boolean",
    "b": "tinyint",
    "c": "bigint",
    "d": "float",
    "e": "double",
    "f": "decimal(38,10)",
    "g": "string",
    "h": "binary",
    "i": "date",
    "j": "timestamp_ntz",
    "k": "timestamp",
    "L": "array<int>",
    "m": "struct<x:string,Y:decimal(20,2)>",
}
NESTED = {"n": "map<string,timestamp_ntz>", "o": "array<struct<p:binary,q:array<double>>>"}


def some_value(dice: random.Random, kind: str) -> Any:
    """A value of a type, sometimes at the end of its range."""
    moment = datetime(1, 1, 1) + timedelta(microseconds=dice.randrange(3_155_378_975_999_999_99))
    makers: dict[str, Callable[[], Any]] = {
        "boolean": lambda: dice.random() < 0.5,
        "tinyint": lambda: dice.choice([-128, 127, 0]),
        "bigint": lambda: dice.choice([-(2**63), 2**63 - 1, dice.randint(-9, 9)]),
        "float": lambda: dice.choice([0.5, -(2.0**100), 1.0 / 1024]),
        "double": lambda: dice.choice([dice.random(), 1e308, 5e-324, -0.1]),
        "string": lambda: dice.choice(["", "a", 'q"\\\n;,\t', "ü☃😀", "null", "5", " x "]),
        "binary": lambda: dice.randbytes(dice.randrange(9)),
        "date": lambda: moment.date(),
        "timestamp_ntz": lambda: moment,
        "timestamp": lambda: moment.replace(tzinfo=UTC),
    }
    return makers[kind]()


def some_column(dice: random.Random, kind: pa.DataType, count: int) -> list[Any]:
    """Values of a column, every eighth NULL."""
    return [None if dice.random() < 0.12 else some_of(dice, kind) for _ in range(count)]


def some_of(dice: random.Random, kind: pa.DataType) -> Any:
    """A value of an Arrow type."""
    if pa.types.is_struct(kind):
        return {f.name: some_column(dice, f.type, 1)[0] for f in kind}
    if pa.types.is_list(kind):
        # A lone NULL is a NULL list in CSV.
        return [some_of(dice, kind.value_type), *some_column(dice, kind.value_type, dice.randrange(3))]
    if pa.types.is_map(kind):
        return {some_value(dice, "string"): some_of(dice, kind.item_type) for _ in range(2)}
    if pa.types.is_decimal(kind):
        return Decimal(dice.randrange(-(10**kind.precision) + 1, 10**kind.precision)).scaleb(-kind.scale)
    names = {"bool": "boolean", "int8": "tinyint", "int32": "tinyint", "int64": "bigint", "float": "float"}
    names |= {"double": "double", "string": "string", "binary": "binary", "date32[day]": "date"}
    names |= {"timestamp[us]": "timestamp_ntz", "timestamp[us, tz=UTC]": "timestamp"}
    return some_value(dice, names[str(kind)])


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (ROUND | NESTED, {"format": "json"}),
        (ROUND | NESTED, {"format": "json", "json.timestamp-format.standard": "ISO-8601"}),
        (
            {name: kind for name, kind in ROUND.items() if name != "m"},
            {"format": "csv", "csv.null-literal": "\\N"},
        ),
        (ROUND | NESTED, {"format": "debezium-json"}),
    ],
)
def test_what_was_encoded_is_decoded(columns: dict[str, str], options: dict[str, str]) -> None:
    is_changelog = options["format"] == "debezium-json"
    table = reading(columns, options=options, kind="changelog" if is_changelog else "append")
    dice, count = random.Random(3), 200
    schema = arrow_schema(table.schema)
    arrays = [pa.array(some_column(dice, f.type, count), f.type) for f in schema]
    fields = list(zip(schema.names, arrays, strict=True))
    if is_changelog:
        said = encode.envelopes(table.formats.value, fields, come=True)  # type: ignore[arg-type]  # it is debezium-json
    else:
        said = encode.messages(table.formats.value, fields)
    rows = rows_of(decoding(table), messages(said.to_pylist()))
    assert complaints(rows) == {}
    made = pa.Table.from_pylist([{n: row[n] for n in schema.names} for row in rows], schema=schema)
    for name, array in fields:
        assert _values(made[name].combine_chunks()) == _values(array), name


def _values(array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist(maps_as_pydicts="strict")
    return values
