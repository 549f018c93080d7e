"""Images that are not written as most are, rewritten as JSON before they are typed.

Placeholders are left out, decimals with a scale of their own become numbers, and times in columns of text become
text. It is done by one short piece of code over the names of the fields, not by one for each column, so that it costs
little where no message needs it.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.debezium_names import NANOS
from headwater.formats.debezium_values import moment, unscaled
from headwater.formats.json_messages import ANYTHING
from headwater.formats.trees import (
    Tree,
    call,
    case,
    cast,
    concat,
    each_entry,
    equals,
    first_of,
    given,
    let,
    negated,
    number,
    text,
    try_cast,
)

PAIR = '{"scale"'
"""How a decimal with a scale of its own begins."""

_HOUR = 3_600_000_000


def mended(image: Tree, clocks: Tree, decimals: list[str]) -> Tree:
    """The JSON text of an image, given as a map, with decimals and times rewritten."""
    numbers = call("array", *decimals)

    def mend(name: Tree, value: Tree) -> Tree:
        said = call("try_variant_get", value, "$", "string")
        factor = call("try_element_at", clocks, name)
        return case(
            (call("startswith", said, PAIR), cast(_number(said), "variant")),
            # As a number it would pass through one of 15 digits.
            (call("array_contains", numbers, name), cast(said, "variant")),
            (given(factor), cast(let(_micros(try_cast(said, "bigint"), factor), _clock), "variant")),
            default=value,
        )

    return call("to_json", each_entry("transform_values", image, mend))


def left_out(image: Tree, unchanged: Tree, *, instead: Tree | None) -> Tree:
    """An image without the columns that did not change, or with what `instead` has for them; all are maps."""
    sent = each_entry("map_filter", image, lambda k, x: negated(call("array_contains", unchanged, k)))
    if instead is None:
        return sent
    old = each_entry("map_filter", instead, lambda k, x: call("array_contains", unchanged, k))
    return call("map_concat", sent, first_of(old, call("from_json", "{}", ANYTHING)))


def _number(pair: Tree) -> Tree:
    """A decimal as `12345.E-2`; the point says that it is no base64."""
    digits = call("hex", call("try_to_binary", call("get_json_object", pair, "$.value"), "base64"))
    power = cast(exp.Neg(this=try_cast(call("get_json_object", pair, "$.scale"), "int")), "string")
    return let(digits, lambda x: concat(unscaled(x), ".E", power))


def _micros(count: Tree, factor: Tree) -> Tree:
    thousands = exp.IntDiv(this=count.copy(), expression=number(1000))
    return case((equals(factor, number(NANOS)), thousands), default=call("try_multiply", count, factor))


def _clock(count: Tree) -> Tree:
    """A time of day, or a length of time, as `12:34:56.789`."""
    size = call("abs", count)
    hours = cast(exp.IntDiv(this=size, expression=number(_HOUR)), "string")
    rest = moment(exp.Mod(this=size.copy(), expression=number(_HOUR)), is_local=True)
    two = call("lpad", hours, call("greatest", call("length", hours), number(2)), "0")
    sign = case((exp.LT(this=count.copy(), expression=number(0)), text("-")), default=text(""))
    return concat(sign, two, call("substr", cast(rest, "string"), number(14)))
