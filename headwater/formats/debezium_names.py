"""Values whose meaning a message's own schema tells: each field has a type, and often the name of what it means.

Such images are brought into one manner before they are typed: decimals as numbers, times in microseconds, and in
columns that are declared as text the value as a person writes it. It is done by one short piece of code over the names
of the fields, not by one for each column, so that it costs little where no message carries a schema.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.debezium_values import LAST_MICROS, moment, unscaled
from headwater.formats.json_messages import ANYTHING, Fields
from headwater.formats.kinds import DebeziumJson
from headwater.formats.shapes import ArrayOf, Atom, MapOf, RowOf, Shape
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    cast,
    concat,
    each,
    each_entry,
    either,
    equals,
    first_of,
    given,
    in_list,
    let,
    number,
    part,
    row,
    text,
    try_cast,
)

_TEXT = Atom("string")
_PLAIN = (("type", _TEXT), ("name", _TEXT), ("parameters", MapOf(_TEXT, _TEXT)))
_FIELD = RowOf((("field", _TEXT), *_PLAIN, ("items", RowOf(_PLAIN))))
SCHEMA = RowOf((("fields", ArrayOf(RowOf((("field", _TEXT), ("fields", ArrayOf(_FIELD)))))),))
"""What is read of a message's schema."""

_CONNECT, _TIME = "org.apache.kafka.connect.data.", "io.debezium.time."
_DECIMAL, _VARIABLE = f"{_CONNECT}Decimal", "io.debezium.data.VariableScaleDecimal"
_DAY, _HOUR = 86_400_000_000, 3_600_000_000
_STAMPS = {
    f"{_TIME}Date": _DAY,
    f"{_CONNECT}Date": _DAY,
    f"{_TIME}Timestamp": 1000,
    f"{_CONNECT}Timestamp": 1000,
    f"{_TIME}MicroTimestamp": 1,
    f"{_TIME}NanoTimestamp": -1000,
}
_CLOCKS = {f"{_TIME}Time": 1000, f"{_CONNECT}Time": 1000, f"{_TIME}MicroTime": 1, f"{_TIME}NanoTime": -1000}
"""How many microseconds one of a unit has; less than zero: how many of it a microsecond has."""

PAIR = '{"scale"'
"""How a decimal with a scale of its own begins."""


def meanings(schema: Tree) -> Tree:
    """A map of the columns' names to what the schema says of them; NULL without a schema."""
    images = each("filter", part(schema, "fields"), lambda x: equals(part(x, "field"), text("after")))
    fields = part(call("try_element_at", images, number(1)), "fields")
    named = let(
        fields, lambda x: call("map_from_arrays", each("transform", x, lambda f: part(f, "field")), x)
    )
    return case((given(schema), named))


def mended(image: Tree, fields: Fields, known: Tree, *, options: DebeziumJson) -> Tree:
    """The JSON text of an image whose fields are all written in the same way, whatever the connector's modes are.

    `image` is JSON text too, and `known` what `meanings` gave.
    """
    families = {name: family for name, shape in fields if (family := _family(shape)) is not None}
    if not families:
        return image
    kinds = call("map", *[word for pair in families.items() for word in pair])

    def mend(name: Tree, value: Tree) -> Tree:
        return let(call("try_element_at", known, name), lambda meaning: _mend_field(name, value, meaning))

    def _mend_field(name: Tree, value: Tree, meaning: Tree) -> Tree:
        is_array = equals(part(meaning, "type"), text("array"))
        items = part(meaning, "items")
        values = case((is_array, call("try_variant_get", value, "$", "array<variant>")), default=call("array", value))

        def one(x: Tree) -> Tree:
            said = call("try_variant_get", x, "$", "string")
            parameters = first_of(part(items, "parameters"), part(meaning, "parameters"))
            facts = row(
                [
                    ("said", said),
                    ("count", try_cast(said, "bigint")),
                    ("name", first_of(part(items, "name"), part(meaning, "name"), text(""))),
                    ("kind", part(meaning, "type")),
                    ("scale", call("try_element_at", parameters, "scale")),
                    ("family", call("try_element_at", kinds, name)),
                ]
            )
            return first_of(cast(let(facts, lambda f: _mend(f, options)), "variant"), x)

        new = each("transform", values, one)
        return case((is_array, cast(new, "variant")), default=call("element_at", new, number(1)))

    entries = call("from_json", image, ANYTHING)
    return call("to_json", each_entry("transform_values", entries, mend))


def _family(shape: Shape) -> str | None:
    """How a column's values are brought into one manner; None where they are in it."""
    if isinstance(shape, ArrayOf):
        return _family(shape.element)
    if not isinstance(shape, Atom):
        return None
    if shape.is_decimal:
        return "number"
    return {
        "float": "number",
        "double": "number",
        "date": "date",
        "timestamp": "timestamp",
        "timestamp_ntz": "timestamp",
        "string": "text",
        "binary": "bytes",
    }.get(shape.name)


def _mend(facts: Tree, options: DebeziumJson) -> Tree:
    """One value in one manner, as text; NULL where it is in it."""
    said, name, family = (part(facts, word) for word in ("said", "name", "family"))
    is_text = equals(family, text("text"))
    is_pair = both(equals(family, text("number")), call("startswith", said, PAIR))
    is_decimal = either(in_list(name, [text(_DECIMAL), text(_VARIABLE)]), is_pair)
    branches = [
        (
            both(is_decimal, in_list(family, [text("text"), text("number")])),
            let(_power(said, part(facts, "scale")), lambda x: case((is_text, _written_out(x)), default=x)),
        ),
        (both(is_text, in_list(name, list(map(text, _CLOCKS)))), let(_micros(facts, _CLOCKS), _clock)),
        (
            in_list(name, list(map(text, _STAMPS))),
            let(_micros(facts, _STAMPS), lambda x: _stamp(x, name, family)),
        ),
    ]
    if options.binary_mode in ("hex", "base64-url-safe"):
        is_bytes = both(equals(family, text("bytes")), equals(part(facts, "kind"), text("bytes")))
        branches.append((is_bytes, _recoded(said, options)))
    return case(*branches)


def _recoded(said: Tree, options: DebeziumJson) -> Tree:
    """Base64, as bytes are written whatever the mode, in the form of the mode."""
    if options.binary_mode == "hex":
        return call("hex", call("try_to_binary", said, "base64"))
    return call("translate", said, "+/", "-_")


def _power(said: Tree, scale: Tree) -> Tree:
    """A decimal as `12345.E-2`; the point says that it is no base64."""
    is_pair = call("startswith", said, "{")
    value = case((is_pair, call("get_json_object", said, "$.value")), default=said)
    places = case((is_pair, call("get_json_object", said, "$.scale")), default=scale)
    power = cast(exp.Neg(this=try_cast(places, "int")), "string")
    digits = call("hex", call("try_to_binary", value, "base64"))
    return let(digits, lambda x: concat(unscaled(x), ".E", power))


def _written_out(power: Tree) -> Tree:
    """`12345.E-2` as `123.45`."""
    last = call("substring_index", power, "E", exp.Neg(this=number(1)))
    facts = row(
        [
            ("digits", call("substring_index", power, ".", number(1))),
            ("scale", exp.Neg(this=cast(last, "int"))),
        ]
    )

    def written(f: Tree) -> Tree:
        digits, scale = part(f, "digits"), part(f, "scale")
        bare = call("ltrim", "-", digits)
        # At least one digit stands before the point.
        size = call("greatest", call("length", bare), exp.Add(this=scale, expression=number(1)))
        behind = concat("(.{", cast(scale, "string"), "})$")
        pointed = call("regexp_replace", call("lpad", bare, size, "0"), behind, ".$1")
        sign = call("left", digits, exp.Sub(this=call("length", digits), expression=call("length", bare)))
        is_whole = exp.LTE(this=scale.copy(), expression=number(0))
        # A negative scale stands for zeros behind the digits.
        zeros = call("repeat", "0", exp.Neg(this=scale.copy()))
        return case((is_whole, concat(digits, zeros)), default=concat(sign, pointed))

    return let(facts, written)


def _micros(facts: Tree, units: dict[str, int]) -> Tree:
    """Microseconds; NULL for what stands for infinity."""
    count = part(facts, "count")
    factors = call("map", *[word for n, f in units.items() for word in (text(n), number(f))])
    factor = call("try_element_at", factors, part(facts, "name"))
    most = exp.LTE(this=call("abs", count), expression=number(LAST_MICROS))
    rest = exp.Paren(this=exp.Sub(this=count.copy(), expression=call("pmod", count, number(1000))))
    is_part = exp.LT(this=factor, expression=number(0))
    made = case((is_part, exp.IntDiv(this=rest, expression=number(1000))), default=call("try_multiply", count, factor))
    return case((most, made))


def _stamp(count: Tree, name: Tree, family: Tree) -> Tree:
    """Microseconds since 1970 as they are wanted: days, microseconds or text."""
    whole = exp.Paren(this=exp.Sub(this=count.copy(), expression=call("pmod", count, number(_DAY))))
    days = exp.IntDiv(this=whole, expression=number(_DAY))
    written = cast(moment(count, is_local=True), "string")
    is_day = in_list(name, [text(n) for n, factor in _STAMPS.items() if factor == _DAY])
    return case(
        (equals(family, text("timestamp")), cast(count, "string")),
        (equals(family, text("date")), cast(days, "string")),
        (equals(family, text("text")), case((is_day, call("left", written, number(10))), default=written)),
    )


def _clock(count: Tree) -> Tree:
    """A time of day, or a length of time, as `12:34:56.789`."""
    size = call("abs", count)
    hours = cast(exp.IntDiv(this=size, expression=number(_HOUR)), "string")
    rest = moment(exp.Mod(this=size.copy(), expression=number(_HOUR)), is_local=True)
    two = call("lpad", hours, call("greatest", call("length", hours), number(2)), "0")
    sign = case((exp.LT(this=count.copy(), expression=number(0)), text("-")), default=text(""))
    return concat(sign, two, call("substr", cast(rest, "string"), number(14)))
