"""What a message of a topic says: an event of Debezium, JSON, text, bytes, or that a key is gone.

read_value(b'{"before": null, "after": {"id": 1}, "op": "c", "source": {"table": "t"}}')
# Event(op="c", subject="t", before=None, after={"id": 1})
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

OPS = ("c", "u", "d", "r", "t", "m")

DECIMAL = "org.apache.kafka.connect.data.Decimal"
VARIABLE_DECIMAL = "io.debezium.data.VariableScaleDecimal"


@dataclass(frozen=True)
class Event:
    """A change that Debezium tells of; `subject` is the table, or the prefix of a message."""

    op: str
    subject: str
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    content: str = ""


@dataclass(frozen=True)
class Json:
    """Any other JSON."""

    value: Any


@dataclass(frozen=True)
class Text:
    """Text that is no JSON."""

    text: str


@dataclass(frozen=True)
class Bytes:
    """What is no text."""

    data: bytes


@dataclass(frozen=True)
class Tombstone:
    """A key without a value: whatever it stood for is gone."""


Seen = Event | Json | Text | Bytes | Tombstone


def read_value(data: bytes | None) -> Seen:
    """What a message says."""
    if data is None:
        return Tombstone()
    text = _text(data)
    if text is None:
        return Bytes(data)
    try:
        # Digits stay as they are written: a float would lose some.
        said = json.loads(text, parse_float=Decimal)
    except ValueError:
        return Text(text)
    plain = _without_schema(said)
    return _event(plain) or Json(plain)


def _text(data: bytes) -> str | None:
    """Bytes as text, unless they are something else."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if all(letter.isprintable() or letter in "\r\n\t" for letter in text) else None


def _event(said: Any) -> Event | None:
    if not isinstance(said, dict) or said.get("op") not in OPS or not isinstance(said.get("source"), dict):
        return None
    source, message = said["source"], said.get("message")
    if isinstance(message, dict):
        content = _message_content(message.get("content"))
        return Event(said["op"], str(message.get("prefix", "")), content=content)
    parts = [source.get(name) for name in ("schema", "table")]
    subject = ".".join(str(part) for part in parts if part) or str(source.get("collection") or "")
    return Event(said["op"], subject, _row(said.get("before")), _row(said.get("after")))


def _row(said: Any) -> dict[str, Any] | None:
    return said if isinstance(said, dict) else None


def _message_content(content: Any) -> str:
    """What an application sent; the connector wraps it in base64."""
    try:
        data = base64.b64decode(str(content or ""), validate=True)
    except binascii.Error:
        return str(content)
    text = _text(data)
    return f"0x{data.hex()}" if text is None else text


def _without_schema(said: Any) -> Any:
    """The payload of a message with its schema, in which decimals are numbers; anything else as it is."""
    if not isinstance(said, dict) or set(said) != {"schema", "payload"}:
        return said
    return _decoded(said["payload"], said["schema"])


def _decoded(value: Any, schema: Any) -> Any:
    if value is None or not isinstance(schema, dict):
        return value
    if schema.get("name") == DECIMAL:
        return _decimal(value, int((schema.get("parameters") or {}).get("scale", 0)))
    if schema.get("name") == VARIABLE_DECIMAL and isinstance(value, dict):
        return _decimal(value.get("value"), int(value.get("scale", 0)))
    if schema.get("type") == "struct" and isinstance(value, dict):
        kinds = {field.get("field"): field for field in schema.get("fields", [])}
        return {name: _decoded(item, kinds.get(name)) for name, item in value.items()}
    if schema.get("type") == "array" and isinstance(value, list):
        return [_decoded(item, schema.get("items")) for item in value]
    return value


def _decimal(value: Any, scale: int) -> Any:
    """A number written as the base64 of its unscaled digits, big end first."""
    if not isinstance(value, str):
        return value
    try:
        unscaled = int.from_bytes(base64.b64decode(value, validate=True), signed=True)
    except binascii.Error:
        return value
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))
