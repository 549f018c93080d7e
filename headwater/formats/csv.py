"""Lines of separated values: everything is text, and columns stand in their order."""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.formats.json_messages import WRONG, Fields, Parsed
from headwater.formats.json_values import narrow_float, patterned, truth
from headwater.formats.kinds import CsvFormat
from headwater.formats.layers import Layers
from headwater.formats.shapes import ArrayOf, Atom, RowOf, Shape, type_text
from headwater.formats.trees import (
    Tree,
    call,
    case,
    cast,
    concat,
    each,
    equals,
    first_of,
    given,
    let,
    negated,
    null,
    number,
    part,
    row,
    text,
    try_cast,
)
from headwater.formats.values import SHOWN, Leaf

_STAMP = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{0,9})?"


def csv_leaf(atom: Atom) -> Leaf:
    """How a value of each type is written between two delimiters."""
    match atom.name:
        case "string":
            return Leaf("string")
        case "boolean":
            return Leaf("string", lambda raw, _: truth(raw))
        case "binary":
            return Leaf("string", lambda raw, _: call("try_to_binary", raw, "base64"), expects="base64")
        case "float":
            return Leaf("string", lambda raw, bind: bind(try_cast(raw, "double"), narrow_float))
        case "date":
            return patterned(atom, r"^\d{4}-\d\d?-\d\d?$", expects="2020-12-30")
        case "timestamp_ntz":
            return patterned(atom, _STAMP + "$", expects="2020-12-30 12:13:14.123")
        case "timestamp":
            return patterned(atom, _STAMP + r"(Z|[+-]\d\d:\d\d)$", expects="2020-12-30 12:13:14.123Z")
    return Leaf("string", lambda raw, _: try_cast(raw, atom.name))


def parse_csv(layers: Layers, source: Tree, fields: Fields, *, options: CsvFormat, what: str) -> Parsed:
    """Parse a column of bytes that hold one line each."""
    line = exp.Trim(this=cast(source, "string"), expression=text("\r\n"), position="TRAILING")
    said = layers.put(line)
    fast = layers.put(_from_csv(said, fields, options))
    delimiter = options.field_delimiter.replace("\\t", "\t")
    shorter = call("left", said, exp.Sub(this=call("length", said), expression=number(1)))
    made = layers.put(
        case(
            # One delimiter behind the last value is none too many.
            (
                exp.and_(given(part(fast, WRONG)), call("endswith", said, delimiter)),
                _from_csv(shorter, fields, options),
            ),
            default=fast,
        )
    )
    shown = call("left", said, number(SHOWN))
    broken = layers.put(
        case(
            (negated(call("is_valid_utf8", said)), text(f"the {what} is not UTF-8")),
            (given(part(made, WRONG)), concat(f"the {what} has not {len(fields)} values: ", shown)),
        )
    )
    values = [layers.put(_value(part(made, name), options)) for name, _ in fields]
    raws = [_split(value, shape, options) for value, (_, shape) in zip(values, fields, strict=True)]
    return Parsed(tuple(raws), broken, null("string"))


def _from_csv(said: Tree, fields: Fields, options: CsvFormat) -> Tree:
    quote = "" if options.disable_quote_character else options.quote_character
    given_options = {
        "columnNameOfCorruptRecord": WRONG,
        "sep": options.field_delimiter.replace("\\t", "\t"),
        "quote": quote,
        # A quote inside quotes is written twice unless there is a character for it.
        "escape": options.escape_character or options.quote_character,
    }
    texts = tuple((name, Atom("string")) for name, _ in fields)
    schema = type_text(RowOf((*texts, (WRONG, Atom("string")))))
    words: list[Tree | str] = [word for pair in given_options.items() for word in pair]
    return call("from_csv", said, schema, call("map", *words))


def _value(raw: Tree, options: CsvFormat) -> Tree:
    """An empty value is empty text, not NULL, unless the options say so."""
    whole = first_of(raw, text(""))
    return whole if options.null_literal is None else call("nullif", whole, options.null_literal)


def _split(value: Tree, shape: Shape, options: CsvFormat) -> Tree:
    pieces = call("split", value, re.escape(options.array_element_delimiter), exp.Neg(this=number(1)))
    if (literal := options.null_literal) is not None:
        pieces = each("transform", pieces, lambda piece: call("nullif", piece, literal))
    match shape:
        case ArrayOf():
            return case((equals(value, text("")), cast(call("array"), "array<string>")), default=pieces)
        case RowOf(inner):
            return let(
                pieces,
                lambda x: case(
                    (
                        given(x),
                        row(
                            [
                                (name, call("try_element_at", x, number(place)))
                                for place, (name, _) in enumerate(inner, start=1)
                            ]
                        ),
                    )
                ),
            )
    return value
