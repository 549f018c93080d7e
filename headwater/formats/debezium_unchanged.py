"""Large values that an update left alone: the connector sends a placeholder for each."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid

from sqlglot import exp

from headwater.formats.debezium_values import array_element
from headwater.formats.json_messages import Fields
from headwater.formats.kinds import DebeziumJson
from headwater.formats.shapes import ArrayOf, Atom, Shape
from headwater.formats.trees import (
    Tree,
    both,
    call,
    equals,
    in_list,
    number,
    part,
    text,
)


def placeholders(image: Tree, fields: Fields, options: DebeziumJson) -> list[tuple[str, Tree]]:
    """The columns that can hold a placeholder, and the condition that they do."""
    found = [(name, _is_placeholder(part(image, name), shape, options)) for name, shape in fields]
    return [(name, condition) for name, condition in found if condition is not None]


def _can_be_left_out(shape: Shape) -> bool:
    """Postgres leaves out what it stores outside the row: text, bytes, arrays, hstores."""
    return isinstance(shape, ArrayOf) or (
        isinstance(shape, Atom) and (shape.name in ("string", "binary") or shape.name.startswith("map<"))
    )


def _is_placeholder(value: Tree, shape: Shape, options: DebeziumJson) -> Tree | None:
    if not _can_be_left_out(shape):
        return None
    word = options.unavailable
    in_map = json.dumps({word: word}, separators=(",", ":"))
    if isinstance(shape, ArrayOf):
        return _is_array(value, shape, options)
    assert isinstance(shape, Atom)
    if shape.name == "binary":
        return in_list(value, [text(form) for form in _coded(word)])
    return in_list(value, [text(word), text(in_map)])


def _coded(word: str) -> list[str]:
    plain = word.encode()
    forms = [base64.b64encode(plain), base64.urlsafe_b64encode(plain), plain.hex().encode()]
    return list(dict.fromkeys(form.decode() for form in forms))


def _is_array(value: Tree, shape: ArrayOf, options: DebeziumJson) -> Tree | None:
    """Arrays of text have the word itself, arrays of numbers the codes of its letters, arrays of UUIDs one made of it."""
    element, word = array_element(shape), options.unavailable
    if element is None:
        return None
    match element.name:
        case "string":
            as_uuid = uuid.UUID(bytes=hashlib.md5(word.encode()).digest(), version=3)
            words = [word, str(as_uuid)]
        case "binary":
            words = _coded(word)
        case "int" | "bigint" | "smallint" | "tinyint":
            codes = exp.cast(
                call("array", *[number(code) for code in word.encode()]), f"array<{_read(element)}>"
            )
            return equals(value, codes)
        case "date":
            return equals(value, call("array", *[str(code) for code in word.encode()]))
        case _:
            return None
    only = call("try_element_at", value, number(1))
    return both(equals(call("size", value), number(1)), in_list(only, [text(w) for w in words]))


def _read(element: Atom) -> str:
    return "int" if element.name == "tinyint" else element.name
