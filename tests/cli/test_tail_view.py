"""Messages of topics as lines. Oracle: written by hand, in the forms that Debezium documents."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from typing import Any

import pytest

from headwater.cli.envelope import Bytes, Event, Json, Text, Tombstone, read_value
from headwater.cli.parser import build_parser
from headwater.cli.tail_view import CHANGED, line_of
from tests.pipeline.world import command

SOURCE = {"schema": "claims", "table": "accident_claims"}


def change(op: str, before: Any, after: Any) -> bytes:
    return json.dumps({"before": before, "after": after, "op": op, "source": SOURCE, "ts_ms": 1}).encode()


def shown(data: bytes | None, key: bytes | None = None) -> str:
    return line_of(read_value(data), None if key is None else read_value(key)).plain


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (change("c", None, {"id": 1, "name": "é"}), 'c claims.accident_claims  id=1, name="é"'),
        (change("r", None, {"id": 1, "n": None}), "r claims.accident_claims  id=1, n=null"),
        (change("d", {"id": 1, "n": 2}, None), "d claims.accident_claims  id=1, n=2"),
        (change("u", {"id": 1, "n": 2}, {"id": 1, "n": 3}), "u claims.accident_claims  id=1, n=2 → 3"),
        (change("u", None, {"id": 1, "n": 3}), "u claims.accident_claims  id=1, n=3"),
        (change("t", None, None), "t claims.accident_claims"),
        (None, "tombstone"),
        (b'{"a": [1, {"b": true}],\n "x": 0.10}', '{"a": [1, {"b": true}], "x": 0.10}'),
        (b"7", "7"),
        (b"not json", "not json"),
        (b"two\nlines", r"two\nlines"),
        (b"\x00\xff\x01", "0x00ff01"),
        (b"\xff" * 100, "0x" + "ff" * 64 + "... (100 bytes)"),
        (b'{"a": "\\u001b[2J\\u009b"}', r'{"a": "\u001b[2J\u009b"}'),
        (b'{"op": "c", "after": {"id": 1}}', '{"op": "c", "after": {"id": 1}}'),
    ],
)
def test_a_message_is_one_line(data: bytes | None, line: str) -> None:
    assert shown(data) == line


def test_a_message_without_a_key_is_no_tombstone() -> None:
    assert line_of(read_value(b"7"), read_value(None)).plain == "(no key)  7"
    assert line_of(read_value(None), read_value(b"1")).plain == "1  tombstone"


def test_only_what_changed_is_marked() -> None:
    line = line_of(read_value(change("u", {"id": 1, "n": 2}, {"id": 1, "n": 3})))
    marked = [line.plain[span.start : span.end] for span in line.spans if span.style == CHANGED]
    assert marked == ["2 → 3"]


@pytest.mark.parametrize(
    ("op", "style"), [("c", "green"), ("u", "yellow"), ("d", "red"), ("r", "dim"), ("m", "cyan")]
)
def test_every_op_has_its_colour(op: str, style: str) -> None:
    line = line_of(Event(op, "t"))
    assert [span.style for span in line.spans if line.plain[span.start : span.end] == op] == [f"bold {style}"]


@pytest.mark.parametrize(
    ("content", "text"), [(b'{"order_id": 1}', '{"order_id": 1}'), (b"", ""), (b"\xff\x00", "0xff00")]
)
def test_the_content_of_a_message_is_decoded(content: bytes, text: str) -> None:
    said = {
        "op": "m",
        "source": {},
        "message": {"prefix": "p", "content": base64.b64encode(content).decode()},
    }
    assert shown(json.dumps(said).encode()) == f"m p  {text}"


def number(unscaled: int) -> str:
    size = unscaled.bit_length() // 8 + 1
    return base64.b64encode(unscaled.to_bytes(size, signed=True)).decode()


def test_a_schema_is_taken_off_and_its_decimals_are_numbers() -> None:
    decimal = {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": "2"}}
    variable = {"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}
    fields = [
        {"field": "total", **decimal},
        {"field": "free", **variable},
        {"field": "list", "type": "array", "items": decimal},
        {"field": "none", **decimal},
    ]
    row = {"type": "struct", "fields": fields, "field": "after"}
    payload = {
        "before": None,
        "after": {
            "total": number(-1234567),
            "free": {"scale": 3, "value": number(5)},
            "list": [number(0), number(10**30)],
            "none": None,
        },
        "op": "c",
        "source": SOURCE,
    }
    seen = read_value(
        json.dumps({"schema": {"type": "struct", "fields": [row]}, "payload": payload}).encode()
    )
    assert isinstance(seen, Event) and seen.after == {
        "total": Decimal("-12345.67"),
        "free": Decimal("0.005"),
        "list": [Decimal("0.00"), Decimal(10**30) / 100],
        "none": None,
    }
    assert line_of(seen).plain.startswith(
        "c claims.accident_claims  total=-12345.67, free=0.005, list=[0.00, 1"
    )


def test_keys_come_first() -> None:
    key = json.dumps({"schema": {"type": "struct"}, "payload": {"id": 1}}).encode()
    assert shown(None, key) == '{"id": 1}  tombstone'
    assert shown(b"{}", b"k") == "k  {}"


def test_each_kind_of_message_is_told_apart() -> None:
    assert read_value(None) == Tombstone()
    assert read_value(b"{}") == Json({})
    assert read_value(b"{") == Text("{")
    assert read_value(b"\x00") == Bytes(b"\x00")


def test_a_broker_that_is_down_is_told_in_words_of_the_command_line() -> None:
    words = ["--bootstrap", "127.0.0.1:9", "--property", "socket.connection.setup.timeout.ms=1000"]
    ran = command("topics", *words)
    assert ran.code == 1
    assert ran.err.startswith("error: kafka at 127.0.0.1:9 does not answer")
    assert "--bootstrap" in ran.err and "properties." not in ran.err


@pytest.mark.parametrize(
    "words", [["tail", "t", "--max", "0"], ["tail", "t", "--property", "x"], ["tail"], ["connect", "fly"]]
)
def test_a_wrong_command_line_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(words)
    assert ended.value.code == 2


def test_two_places_of_the_brokers_are_refused() -> None:
    ran = command("topics", "--bootstrap", "a:1", "--property", "bootstrap.servers=b:1")
    assert ran.code == 2 and "Leave one of them out" in ran.err
