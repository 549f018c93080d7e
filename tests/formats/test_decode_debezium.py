"""Events as Debezium writes them in each of its modes, with the schema in the message and without."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from headwater.formats.decode import Reading
from tests.formats.decoded import (
    MYSQL,
    PLACEHOLDER,
    POSTGRES,
    complaints,
    decoded,
    own,
    reading,
    told,
    unscaled,
)

pytestmark = pytest.mark.jvm

MICROS = 1_577_881_815_123_456
LOCAL = datetime(2020, 1, 1, 12, 30, 15, 123456)
MILLIS = LOCAL.replace(microsecond=123000)
MOMENT = LOCAL.replace(tzinfo=UTC)
PRICE = Decimal("123.45")
DECIMAL = "org.apache.kafka.connect.data.Decimal"
VARIABLE = "io.debezium.data.VariableScaleDecimal"
TIME = "io.debezium.time."

Case = tuple[str, dict[str, str], dict[str, Any], str, Any, Any]
"""A column's type, the options, the source, the name the schema has for it, what is written, what is read."""

CASES: list[Case] = [
    ("decimal(10,2)", {"decimal": "precise"}, POSTGRES, DECIMAL, unscaled(12345), PRICE),
    ("decimal(10,2)", {}, POSTGRES, DECIMAL, unscaled(-12345), -PRICE),
    ("decimal(38,2)", {}, MYSQL, DECIMAL, unscaled(10**37 - 1), Decimal("9" * 35 + ".99")),
    ("decimal(10,2)", {"decimal": "string"}, POSTGRES, "", "123.45", PRICE),
    ("decimal(10,2)", {"decimal": "double"}, POSTGRES, "", 123.45, PRICE),
    ("decimal(10,2)", {}, POSTGRES, VARIABLE, {"scale": 3, "value": unscaled(123450)}, PRICE),
    ("decimal(10,2)", {}, POSTGRES, VARIABLE, {"scale": -1, "value": unscaled(12)}, Decimal(120)),
    ("double", {"decimal": "double"}, POSTGRES, "", 0.1, 0.1),
    ("timestamp_ntz", {}, POSTGRES, f"{TIME}MicroTimestamp", MICROS, LOCAL),
    ("timestamp_ntz", {}, MYSQL, f"{TIME}Timestamp", MICROS // 1000, MILLIS),
    ("timestamp_ntz", {"time": "connect"}, POSTGRES, f"{TIME}Timestamp", MICROS // 1000, MILLIS),
    ("timestamp_ntz", {"time": "microseconds"}, MYSQL, f"{TIME}MicroTimestamp", MICROS, LOCAL),
    ("timestamp_ntz", {"time": "nanoseconds"}, MYSQL, f"{TIME}NanoTimestamp", MICROS * 1000 + 9, LOCAL),
    (
        "timestamp_ntz",
        {"time": "isostring"},
        POSTGRES,
        f"{TIME}IsoTimestamp",
        "2020-01-01T12:30:15.123456Z",
        LOCAL,
    ),
    ("timestamp_ntz", {}, POSTGRES, f"{TIME}MicroTimestamp", -1, datetime(1969, 12, 31, 23, 59, 59, 999999)),
    ("timestamp", {}, POSTGRES, f"{TIME}ZonedTimestamp", "2020-01-01T14:30:15.123456+02:00", MOMENT),
    ("timestamp", {}, MYSQL, f"{TIME}ZonedTimestamp", "2020-01-01T12:30:15.123456Z", MOMENT),
    ("date", {}, POSTGRES, f"{TIME}Date", 18262, date(2020, 1, 1)),
    ("date", {"time": "connect"}, MYSQL, "org.apache.kafka.connect.data.Date", -1, date(1969, 12, 31)),
    ("date", {"time": "isostring"}, POSTGRES, f"{TIME}IsoDate", "2020-01-01Z", date(2020, 1, 1)),
    ("binary", {"binary": "bytes"}, POSTGRES, "", "AP8-".replace("-", "+"), b"\x00\xff>"),
    ("binary", {"binary": "base64"}, POSTGRES, "", "AP8+", b"\x00\xff>"),
    ("binary", {"binary": "base64-url-safe"}, POSTGRES, "", "AP8-", b"\x00\xff>"),
    ("binary", {"binary": "hex"}, POSTGRES, "", "00ff3e", b"\x00\xff>"),
    ("bigint", {"interval": "numeric"}, POSTGRES, f"{TIME}MicroDuration", 86_400_000_000, 86_400_000_000),
    ("string", {"interval": "string"}, POSTGRES, f"{TIME}Interval", "P1Y2M3DT4H5M6.78S", "P1Y2M3DT4H5M6.78S"),
    ("boolean", {}, MYSQL, "", 1, True),
    ("boolean", {}, POSTGRES, "", False, False),
    ("map<string,string>", {"hstore": "map"}, POSTGRES, "", {"a": "b", "c": None}, {"a": "b", "c": None}),
    ("map<string,string>", {"hstore": "json"}, POSTGRES, "io.debezium.data.Json", '{"a":"b"}', {"a": "b"}),
    ("string", {}, POSTGRES, "io.debezium.data.Json", '{"a": [1, "ü"]}', '{"a": [1, "ü"]}'),
    ("array<string>", {}, POSTGRES, "", ["a", None, 'q"'], ["a", None, 'q"']),
    ("array<decimal(10,2)>", {}, POSTGRES, DECIMAL, [unscaled(12345), None], [PRICE, None]),
    ("array<timestamp_ntz>", {}, POSTGRES, f"{TIME}MicroTimestamp", [MICROS], [LOCAL]),
]
MODES = {
    "decimal": "decimal.handling.mode",
    "time": "time.precision.mode",
    "binary": "binary.handling.mode",
    "interval": "interval.handling.mode",
    "hstore": "hstore.handling.mode",
}


def table_of(kind: str, modes: dict[str, str], *, key: tuple[str, ...] = ()) -> Reading:
    """A table of an id and one more column."""
    return table_with({"v": kind}, modes, key=key)


def table_with(columns: dict[str, str], modes: dict[str, str], *, key: tuple[str, ...] = ()) -> Reading:
    """A table of an id and more columns, of a connector with some modes."""
    options = {"format": "debezium-json"}
    options |= {f"debezium-json.{MODES[mode]}": how for mode, how in modes.items()}
    return reading({"id": "int", **columns}, key=key, kind="changelog", options=options)


def event(
    op: str, *, before: Any = None, after: Any = None, source: dict[str, Any] = POSTGRES
) -> dict[str, Any]:
    """An event without its schema."""
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1700000000999}


def with_schema(payload: dict[str, Any], columns: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """An event with its schema, in which columns have a type and a name for what they mean."""
    fields: list[dict[str, Any]] = [{"type": "int32", "optional": False, "field": "id"}]
    for column, (kind, name) in columns.items():
        meaning: dict[str, Any] = {"name": name} if name else {}
        if name == DECIMAL:
            meaning["parameters"] = {"scale": "2", "connect.decimal.precision": "10"}
        field = {"type": "string", "optional": True, "field": column}
        is_array = kind.startswith("array")
        fields.append(
            field | ({"type": "array", "items": {"type": "string"} | meaning} if is_array else meaning)
        )
    images = [{"type": "struct", "fields": fields, "field": image} for image in ("before", "after")]
    schema = {"type": "struct", "fields": [*images, {"type": "string", "field": "op"}]}
    return {"schema": schema, "payload": payload}


def together(case: Case) -> str:
    """What cases of one table have in common."""
    return f"{case[2]['connector']} {' '.join(f'{mode}={how}' for mode, how in case[1].items())}"


@pytest.mark.parametrize("which", sorted({together(case) for case in CASES}))
def test_values_are_read_in_every_mode(which: str) -> None:
    cases = {f"v{number}": case for number, case in enumerate(CASES) if together(case) == which}
    _, modes, source, *_ = next(iter(cases.values()))
    written: dict[str, Any] = {"id": 0} | {name: case[4] for name, case in cases.items()}
    values: dict[str, Any] = {"id": 0} | {name: case[5] for name, case in cases.items()}
    plain = [event("c", after=written, source=source), event("c", after={"id": 1, "v0": None}, source=source)]
    plain.append(event("d", before=written, source=source))
    meanings = {name: (case[0], case[3]) for name, case in cases.items()}
    said = [json.dumps(e) for e in plain] + [json.dumps(with_schema(e, meanings)) for e in plain]
    found = decoded(table_with({name: case[0] for name, case in cases.items()}, modes), said)
    assert complaints(found) == {}
    expected = [("insert", values), ("insert", {"id": 1}), ("delete", values)]
    assert [(how, row) for _, how, row in told(found)] == expected * 2


def test_times_of_day_become_text_where_the_schema_tells_of_them() -> None:
    table = table_of("string", {})
    units = {"Time": 1000, "MicroTime": 1, "NanoTime": 0.001}
    count = 45_015_123_000
    for name, unit in units.items():
        said = json.dumps(
            with_schema(event("c", after={"id": 1, "v": int(count / unit)}), {"v": ("string", TIME + name)})
        )
        assert told(decoded(table, [said])) == [(0, "insert", {"id": 1, "v": "12:30:15.123"})], name


@pytest.mark.parametrize("key", [(), ("id",)], ids=["keyless", "keyed"])
def test_every_kind_of_event(key: tuple[str, ...]) -> None:
    old, new = {"id": 1, "v": "a"}, {"id": 1, "v": "b"}
    events = [
        event("r", after=old),
        event("c", after=old),
        event("u", before=old, after=new),
        event("d", before=new),
        event("m") | {"message": {"prefix": "p", "content": "eA=="}},
        event("t"),
    ]
    said: list[str | None] = [json.dumps(e) for e in events]
    said += [json.dumps(with_schema(e, {"v": ("string", "")})) for e in events]
    found = decoded(table_of("string", {}, key=key), [*said, None, "null"])
    assert complaints(found) == {}
    if key:
        expected = [(0, "upsert", old), (1, "upsert", old), (2, "upsert", new), (3, "delete_key", {"id": 1})]
    else:
        expected = [(0, "insert", old), (1, "insert", old), (2, "delete", old), (2, "insert", new)]
        expected.append((3, "delete", new))
    expected.append((5, "truncate", {}))
    assert told(found) == expected + [(number + len(events), how, row) for number, how, row in expected]


def test_a_key_that_changes_takes_the_old_row_away() -> None:
    """The connector writes a delete of the old key and a create of the new one."""
    events = [event("d", before={"id": 1, "v": None}), event("c", after={"id": 2, "v": "a"})]
    found = decoded(table_of("string", {}, key=("id",)), [json.dumps(e) for e in events])
    assert told(found) == [(0, "delete_key", {"id": 1}), (1, "upsert", {"id": 2, "v": "a"})]


LEFT_OUT: list[tuple[str, Any]] = [
    ("string", PLACEHOLDER),
    ("binary", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="),
    ("array<string>", [PLACEHOLDER]),
    ("array<int>", list(PLACEHOLDER.encode())),
    ("map<string,string>", {PLACEHOLDER: PLACEHOLDER}),
]


def test_large_values_that_did_not_change_are_not_in_the_event() -> None:
    kinds = {f"v{number}": kind for number, (kind, _) in enumerate(LEFT_OUT)}
    row = {f"v{number}": written for number, (_, written) in enumerate(LEFT_OUT)}
    said = json.dumps(event("u", after={"id": 1} | row))
    (found,) = decoded(table_with(kinds, {}, key=("id",)), [said])
    assert found["__hw_kind"] == "upsert" and sorted(found["__hw_unchanged"]) == sorted(kinds)
    assert own(found) == {"id": 1}


def test_a_full_old_image_has_the_value_that_did_not_change() -> None:
    said = json.dumps(event("u", before={"id": 1, "v": "long"}, after={"id": 2, "v": PLACEHOLDER}))
    found = decoded(table_of("string", {}), [said])
    assert told(found) == [(0, "delete", {"id": 1, "v": "long"}), (0, "insert", {"id": 2, "v": "long"})]


BAD: list[tuple[str, str, dict[str, Any] | str, str]] = [
    ("int", "keyless", event("u", after={"id": 1, "v": 2}), "before"),
    ("int", "keyless", event("d", before=None), "before"),
    ("int", "keyed", event("u", before=None, after=None), "after"),
    ("int", "keyed", event("c", after={"v": 2}), '"id"'),
    ("int", "keyed", event("x", after={"id": 1, "v": 2}), "op"),
    ("int", "keyed", {"id": 1, "v": 2}, "is not an event of Debezium"),
    (
        "int",
        "keyed",
        event("c", after={"id": 1, "v": "much"}),
        'field "v" is of another type than the column: much',
    ),
    ("decimal(4,2)", "keyed", event("c", after={"id": 1, "v": unscaled(12345)}), 'field "v" cannot be read'),
    (
        "timestamp",
        "keyed",
        event("c", after={"id": 1, "v": "2020-01-01T00:00:00"}),
        'field "v" cannot be read',
    ),
    ("int", "keyed", '{"op":"c","after":{"id":1', "the value is not JSON"),
    ("int", "keyed", "[1]", "the value is not a JSON object"),
]


@pytest.mark.parametrize("which", sorted({f"{how} {kind}" for kind, how, _, _ in BAD}))
def test_what_is_no_event_is_named(which: str) -> None:
    how, kind = which.split()
    bad = [(said, told) for k, h, said, told in BAD if (h, k) == (how, kind)]
    good = json.dumps(event("c", after={"id": 7, "v": None}))
    messages = [good, *(said if isinstance(said, str) else json.dumps(said) for said, _ in bad), good]
    found = decoded(table_of(kind, {}, key=("id",) if how == "keyed" else ()), messages)
    errors = complaints(found)
    assert list(errors) == list(range(1, len(bad) + 1))
    for error, (_, complaint) in zip(errors.values(), bad, strict=True):
        assert complaint in error
    assert [row["__hw_offset"] for row in found if row["__hw_error"] is None] == [0, len(bad) + 1]
