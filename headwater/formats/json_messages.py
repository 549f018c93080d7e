"""Bytes that hold one JSON object, parsed in one pass."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.formats.json_values import careful, careful_complaint, careful_misfits, loose_shape
from headwater.formats.layers import Layers
from headwater.formats.shapes import Atom, RowOf, Shape, type_text
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    cast,
    concat,
    either,
    given,
    is_null,
    let,
    negated,
    null,
    number,
    part,
    row,
    text,
)
from headwater.formats.values import SHOWN, Language, read_shape

WRONG = "__hw_wrong"
"""Where the parser puts a message it cannot read."""

Fields = tuple[tuple[str, Shape], ...]

_OPTIONS = {
    "columnNameOfCorruptRecord": WRONG,
    "allowSingleQuotes": "false",
    "allowUnquotedControlChars": "true",
    # In most places "1,5" would be read as the number 15.
    "locale": "de-CH",
}
_SPACE = " \n\r\t"


@dataclass(frozen=True)
class Parsed:
    """What bytes hold: a struct of the fields as they were read, and what is wrong, NULL if nothing is."""

    row: Tree
    broken: Tree
    """What makes the whole message unreadable."""
    misfit: Tree
    """Which field is of another type than the parser wants; that field is NULL in `row`."""


def parse_json(layers: Layers, source: Tree, fields: Fields, *, language: Language, what: str) -> Parsed:
    """Parse a column of bytes; `what` names it in errors."""
    said = layers.put(cast(source, "string"))
    fast = layers.put(_from_json(said, tuple((name, read_shape(f, language)) for name, f in fields)))
    fine = layers.put(
        both(
            given(fast),
            is_null(part(fast, WRONG)),
            call("is_valid_utf8", said),
            either(call("endswith", said, "}"), call("endswith", said, "}\n")),
        )
    )
    loose = tuple((name, loose_shape(shape, language)) for name, shape in fields)
    unread = both(given(said), negated(fine))
    again = layers.put(case((unread, _from_json(said, loose))))
    made = layers.put(case((fine, fast), (unread, let(again, lambda x: _careful_row(x, fields, language)))))
    broken = layers.put(case((unread, _broken(said, again, what=what))))
    second = both(given(again), is_null(broken))
    misfit = layers.put(case((second, let(again, lambda x: _careful_told(x, made, fields, language)))))
    return Parsed(made, broken, misfit)


def _careful_row(again: Tree, fields: Fields, language: Language) -> Tree:
    values = []
    for name, shape in fields:
        loose = loose_shape(shape, language)
        values.append((name, careful(part(again, name), shape, language, loose=loose)))
    return row([*values, (WRONG, null("string"))])


def _careful_told(again: Tree, made: Tree, fields: Fields, language: Language) -> Tree:
    branches = []
    for name, shape in fields:
        value, loose = part(again, name), loose_shape(shape, language)
        wrong = careful_misfits(value, shape, language, loose=loose, made=part(made, name))
        if wrong is not None:
            branches.append((wrong, careful_complaint(value, shape, language, loose=loose, path=name)))
    return case(*branches) if branches else null("string")


def _from_json(said: Tree, fields: Fields) -> Tree:
    schema = type_text(RowOf((*fields, (WRONG, Atom("string")))))
    options: list[Tree | str] = [word for pair in _OPTIONS.items() for word in pair]
    return call("from_json", said, schema, call("map", *options))


def _broken(said: Tree, again: Tree, *, what: str) -> Tree:
    """Why bytes are not a JSON object, NULL if they are one."""
    shown = call("left", said, number(SHOWN))
    end = exp.Trim(this=said.copy(), expression=text(_SPACE), position="TRAILING")
    wrong = given(part(again, WRONG))
    return case(
        (negated(call("is_valid_utf8", said)), text(f"the {what} is not UTF-8")),
        (is_null(again), text(f"the {what} is empty")),
        (both(wrong, is_null(call("try_parse_json", said))), concat(f"the {what} is not JSON: ", shown)),
        (wrong, concat(f"the {what} is not a JSON object: ", shown)),
        (
            negated(call("endswith", end, "}")),
            concat(f"something follows the JSON object of the {what}: ", shown),
        ),
    )
