"""Images that are not written as most are, rewritten before they are typed.

Placeholders are left out, decimals with a scale of their own become numbers, and times in columns of text become
text. It is done by one short piece of code over the names of the fields, not by one for each column, so that it costs
little where no message needs it.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.debezium_event import Event, Table
from headwater.formats.debezium_names import NANOS, Names
from headwater.formats.debezium_unchanged import placeholders
from headwater.formats.debezium_values import moment, unscaled
from headwater.formats.json_messages import ANYTHING
from headwater.formats.shapes import Atom, RowOf, type_text
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
    is_null,
    let,
    negated,
    null,
    number,
    part,
    row,
    text,
    try_cast,
)
from headwater.formats.values import read_shape

_PAIR = '{"scale"'
"""How a decimal with a scale of its own begins."""

_HOUR = 3_600_000_000


def images_of(event: Event, table: Table, names: Names) -> Tree:
    """A struct of the images `before` and `after` as they are to be typed, and of the columns that are `unchanged`.

    Events of no connector have decimals as numbers, which are read again to be exact.
    """
    decimals = [name for name, shape in table.after if isinstance(shape, Atom) and shape.is_decimal]
    values = [part(event.after, name) for name in decimals]
    values += [part(event.before, name) for name, _ in table.before if name in decimals]
    foreign = both(is_null(event.connector), either(*[given(value) for value in values]))
    gaps = placeholders(event.after, table.after, table.options)
    has_gaps = both(equals(event.op, text("u")), either(*[condition for _, condition in gaps]))
    has_clocks = exp.GT(this=call("size", names.clocks), expression=number(0))
    asked = either(has_gaps, has_clocks, foreign, *[call("startswith", value, _PAIR) for value in values])
    unchanged = call("array_compact", call("array", *[case((gap, text(name))) for name, gap in gaps]))
    as_they_stand = row(
        [("before", event.before), ("after", event.after), ("unchanged", null("array<string>"))]
    )

    def again(unchanged: Tree) -> Tree:
        old, new = (_entries(event, name, exact=foreign) for name in ("before", "after"))
        sent = case(
            (given(unchanged), _sent(new, unchanged, instead=None if table.key else old)), default=new
        )
        texts = each("transform", call("array", old, sent), lambda x: _mended(x, names.clocks, decimals))
        return let(texts, lambda x: _read_again(x, unchanged, table))

    return case((asked, let(case((has_gaps, unchanged)), again)), default=as_they_stand)


def _entries(event: Event, name: str, *, exact: Tree) -> Tree:
    """An image as a map of names to whatever stands there."""
    read = event.before if name == "before" else event.after
    exactly = call("try_variant_get", call("try_parse_json", event.said), f"$.{name}", ANYTHING)
    return case((exact, exactly), default=call("from_json", call("to_json", read), ANYTHING))


def _sent(image: Tree, unchanged: Tree, *, instead: Tree | None) -> Tree:
    """An image without the columns that did not change, or with what `instead` has for them."""
    sent = each_entry("map_filter", image, lambda k, x: negated(call("array_contains", unchanged, k)))
    if instead is None:
        return sent
    old = each_entry("map_filter", instead, lambda k, x: call("array_contains", unchanged, k))
    return call("map_concat", sent, first_of(old, call("from_json", "{}", ANYTHING)))


def _read_again(texts: Tree, unchanged: Tree, table: Table) -> Tree:
    images = []
    for place, fields in enumerate((table.before, table.after), start=1):
        schema = type_text(read_shape(RowOf(fields), table.reads))
        images.append(call("from_json", call("element_at", texts, number(place)), schema))
    return row([("before", images[0]), ("after", images[1]), ("unchanged", unchanged)])


def _mended(image: Tree, clocks: Tree, decimals: list[str]) -> Tree:
    """The JSON text of an image with decimals and times rewritten."""
    exact = call("array", *decimals)

    def mend(name: Tree, value: Tree) -> Tree:
        said = call("try_variant_get", value, "$", "string")
        factor = call("try_element_at", clocks, name)
        return case(
            (call("startswith", said, _PAIR), cast(_number(said), "variant")),
            # As a number it would pass through one of 15 digits.
            (call("array_contains", exact, name), cast(said, "variant")),
            (given(factor), cast(let(_micros(try_cast(said, "bigint"), factor), _clock), "variant")),
            default=value,
        )

    return call("to_json", each_entry("transform_values", image, mend))


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
